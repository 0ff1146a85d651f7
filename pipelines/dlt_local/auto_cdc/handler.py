"""The one place of AUTO CDC with effects: a batch of events goes in, target and state are written.

Killed between any two writes and given the same batch again, both come out as if nothing had happened:

- *latest* (SCD type 1, whole rows): target first, then state, of which a part is written meanwhile that does not count
  before. As long as the state does not know a batch, the batch
  is worked out anew from the same state, and sets the same rows again. Rows are added without a look at the target
  only by a batch that is tried for the first time, and by Delta only once.
- *fold* (SCD type 2, and partial rows): state first, then target. The state only ever gains facts, and a fact told
  twice is one fact; so the target is worked out from at least what it was worked out from before.
"""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from pyspark.sql import DataFrame

from dlt_local.auto_cdc.args import ChangeArgs
from dlt_local.auto_cdc.cache import Cache
from dlt_local.auto_cdc.fold_batch import FoldBatch
from dlt_local.auto_cdc.latest_batch import LatestBatch
from dlt_local.auto_cdc.metrics import CdcMetrics
from dlt_local.auto_cdc.state import State
from dlt_local.auto_cdc.target import Target


class AutoCdcHandler:
    """Applies batches of one flow to its target."""

    def __init__(self, args: ChangeArgs, target: Path, state: State, app: str) -> None:
        """Take what every batch needs.

        Args:
            args: the flow, resolved against source and target.
            target: the target's Delta table; it exists and has all columns.
            state: what is remembered beside the target.
            app: the name under which Delta keeps this flow's batch numbers; a new one after each full refresh.
        """
        self._args = args
        self._target = Target(target, args.keys)
        self._state = state
        self._app = app

    def apply(self, flat: DataFrame, batch_id: int) -> CdcMetrics:
        """Apply one batch; the same batch again changes nothing.

        Args:
            flat: from `to_flat_events`.
            batch_id: the batch's number.

        Raises:
            FlowError: a key or a sequence is null somewhere; nothing is written then.
        """
        number = (self._app, batch_id)
        with Cache() as cache, ThreadPoolExecutor() as beside:
            run = LatestBatch if self._args.is_latest else FoldBatch
            metrics = run(self._args, self._target, self._state, number, cache, beside).apply(flat)
        self._state.end(number)
        self._state.compact_if_due(flat.sparkSession, self._args)
        return metrics
