"""AUTO CDC of one microbatch, from events to rows: the only place of it with effects.

prepare -> validate -> reconcile -> begin -> remember -> write -> end -> measure

The order is load-bearing. Nothing is written before the batch is validated and reconciled. Killed anywhere from `begin`
to `end`, the same batch again leaves target and state as if nothing had happened; `state` says why.
"""

import logging
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from dlt_local import failpoints
from dlt_local.auto_cdc import general_fold, in_order_history, integrity, last_events, latest_row, strategies, writers
from dlt_local.auto_cdc.args import ChangeArgs
from dlt_local.auto_cdc.cache import Cache
from dlt_local.auto_cdc.events import sequence, with_arrival
from dlt_local.auto_cdc.general_fold import KnownFacts
from dlt_local.auto_cdc.high_watermark import Position
from dlt_local.auto_cdc.last_events import LatestBatch
from dlt_local.auto_cdc.latest_row import KnownRows
from dlt_local.auto_cdc.ledger import Ledger
from dlt_local.auto_cdc.metrics import CdcMetrics
from dlt_local.auto_cdc.names import OP, SEQ, TRUNCATE, TRUNCATED_AT
from dlt_local.auto_cdc.reconciled import Reconciled, RowChanges
from dlt_local.auto_cdc.state import State
from dlt_local.auto_cdc.strategies import ChangeStatistics, Reconciler, Situation, Strategies, Writer
from dlt_local.auto_cdc.target import Target
from dlt_local.auto_cdc.validation import Batch, batch_aggregates, statistics_of, validate
from dlt_local.auto_cdc.writers import Written
from dlt_local.delta import delta_log
from dlt_local.delta.transaction import TransactionId

_LOG = logging.getLogger(__name__)


class AutoCdcHandler:
    """Applies batches of one flow to its target."""

    def __init__(self, args: ChangeArgs, target: Path, state: State, choose: Strategies | None = None) -> None:
        """Take what every batch needs.

        Args:
            args: the flow, resolved against source and target.
            target: the target's Delta table; it exists and has all columns.
            state: the auxiliary state beside the target.
            choose: how reconciler and writer are chosen; `strategies.DEFAULT` if None.
        """
        self._args = args
        self._target = Target(target, args)
        self._state = state
        self._choose = choose or strategies.DEFAULT

    def apply(self, flat: DataFrame, transaction: TransactionId) -> CdcMetrics:
        """Apply one batch; the same batch again changes nothing.

        Args:
            flat: from `to_flat_events`.
            transaction: the batch's identity; a new application id after each full refresh.

        Raises:
            FlowError: a key or a sequence is null, or the target was altered since the last batch; nothing is written.
        """
        with Cache() as cache, ThreadPoolExecutor(1) as beside:
            batch = self._prepare(flat, cache)
            validate(batch, self._args)
            if not batch.statistics.events:
                return CdcMetrics()
            ledger = self._state.ledger()
            integrity.check_target(self._args.target, self._target.path, ledger)
            known = self._known(batch, ledger)
            reconciled = self._reconcile(batch, known, cache)
            self._state.begin(transaction, self._high_watermark(batch, known))
            failpoints.reach("cdc.before")
            is_retry = transaction in ledger.interrupted
            remembered = beside.submit(self._remember, batch, reconciled, transaction, is_retry)
            if not self._args.is_latest:
                # A retry must find every fact that the target's new rows rest on. Entries only count after `end`.
                remembered.result()
            failpoints.reach("cdc.between")
            written = self._write(reconciled.changes, transaction)
            remembered.result()
            failpoints.reach("cdc.after")
            self._state.end(transaction)
        self._state.compact_if_due(flat.sparkSession, self._args)
        return replace(reconciled.metrics, num_upserted_rows=written.upserted, num_deleted_rows=written.deleted)

    def _prepare(self, flat: DataFrame, cache: Cache) -> Batch:
        if self._args.is_latest:
            return last_events.prepare(flat, self._args, cache, is_first=self._state.log.is_empty)
        flat, found = cache.measured(with_arrival(flat), *batch_aggregates(self._args))
        return Batch(flat, statistics_of(found))

    def _known(self, batch: Batch, ledger: Ledger) -> "_Known":
        # Entries say what the target reflects, and of an interrupted batch nobody knows; facts are true all the same.
        log = self._state.log.read(batch.flat.sparkSession, without=ledger.interrupted if self._args.is_latest else ())
        return _Known(
            ledger,
            log,
            is_empty=log is None and not delta_log.has_rows(self._target.path),
            truncated_at=self._truncated_at(batch),
        )

    def _truncated_at(self, batch: Batch) -> DataFrame | None:
        """One row, TRUNCATED_AT: the greatest sequence of a truncate, known or in the batch."""
        known = self._state.truncates.read(batch.flat.sparkSession)
        if self._args.apply_as_truncates is None and known is None:
            return None
        found = self._truncates(batch)
        every = found if known is None else found.unionByName(known.select(SEQ))
        return every.agg(F.max(SEQ).alias(TRUNCATED_AT))

    def _truncates(self, batch: Batch) -> DataFrame:
        return batch.flat.where(F.col(OP) == TRUNCATE).select(sequence(self._args).alias(SEQ))

    def _reconcile(self, batch: Batch, known: "_Known", cache: Cache) -> Reconciled:
        args, is_above = self._args, batch.statistics.sequences.is_above(known.ledger.high_watermark)
        situation = Situation(
            args.is_latest, args.tracks_whole_rows, is_above or known.is_empty, known.truncated_at is not None
        )
        chosen = self._choose.reconciler(situation)
        reconciled: Reconciled | None = None
        if chosen is Reconciler.LATEST_ROW:
            assert isinstance(batch, LatestBatch)
            may_have_more = bool(known.ledger.interrupted) or args.is_of_snapshots
            rows = KnownRows(known.log, self._state.expired, known.truncated_at, is_above, may_have_more)
            reconciled = latest_row.reconcile(batch, rows, args, cache)
        elif chosen is Reconciler.IN_ORDER_HISTORY:
            stored = self._target.read(batch.flat.sparkSession)
            stored = stored.where(F.lit(False)) if known.is_empty else stored
            reconciled = in_order_history.reconcile(batch, stored, args, cache)
        if reconciled is None:
            chosen = Reconciler.GENERAL_FOLD
            implies_facts = args.scd_type == 2 and not known.is_empty
            stored_rows = self._target.read(batch.flat.sparkSession) if implies_facts else None
            facts = KnownFacts(stored_rows, known.log, self._state.expired, known.truncated_at)
            reconciled = general_fold.reconcile(batch, facts, args, cache)
        _LOG.debug("%s: reconciled by %s", args.target, chosen.value)
        return reconciled

    def _high_watermark(self, batch: Batch, known: "_Known") -> Position | None:
        """The greatest sequence with this batch; None where it cannot be known."""
        greatest, noted = batch.statistics.sequences.greatest, known.ledger.high_watermark
        if greatest is None:
            return noted
        if noted is None:
            # State without a watermark comes from an early version of the engine: all batches look their keys up.
            return greatest if known.is_empty else None
        return max(greatest, noted)

    def _remember(self, batch: Batch, reconciled: Reconciled, transaction: TransactionId, is_retry: bool) -> None:
        if batch.statistics.truncates:
            self._state.remember_truncates(self._truncates(batch), transaction)
        if reconciled.facts is not None:
            # A fact that an earlier attempt recorded stays true; an entry of it may say what was never written.
            self._state.remember(reconciled.facts, transaction, supersede=is_retry and self._args.is_latest)

    def _write(self, changes: RowChanges, transaction: TransactionId) -> Written:
        statistics = ChangeStatistics(
            changes.inserted, changes.count - changes.inserted, changes.compared, changes.predicate is not None
        )
        chosen = self._choose.writer(statistics, self._target.statistics())
        _LOG.debug("%s: written by %s", self._args.target, chosen.value)
        match chosen:
            case Writer.NONE:
                return Written()
            case Writer.APPEND:
                return writers.append(changes, self._target, transaction)
            case Writer.REWRITE:
                return writers.rewrite(changes, self._target)
            case Writer.KEY_LIST:
                return writers.replace_keys(changes, self._target) or writers.merge(changes, self._target)
            case Writer.MERGE:
                return writers.merge(changes, self._target)


@dataclass(frozen=True)
class _Known:
    """What is known before a batch."""

    ledger: Ledger
    log: DataFrame | None
    is_empty: bool
    """Neither state nor target has anything."""
    truncated_at: DataFrame | None
