"""Auxiliary state: what AUTO CDC must remember beside the target's rows, and which batches have been written.

Every batch is written in one order: *begin* notes it, then the state, then the target, then *end*. What counts after a
kill depends on what an entry means. A fact is true whatever became of the target, so it counts at once: the retry folds
at least the same facts again. An entry of the latest-row reconciler says that the target reflects the event, so it
counts once its batch has ended: until then the retry, and any other flow, sees the state from before the batch, and the
retry sets the same rows again.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from dlt_local.auto_cdc import tombstones
from dlt_local.auto_cdc.args import ChangeArgs
from dlt_local.auto_cdc.high_watermark import Position
from dlt_local.auto_cdc.latest_row import latest_entries
from dlt_local.auto_cdc.ledger import Ledger
from dlt_local.auto_cdc.log import Log
from dlt_local.auto_cdc.names import HASH, KEY, KNOWN, OP, SEQ, WRITTEN_AT
from dlt_local.auto_cdc.seal import Seal
from dlt_local.auto_cdc.snapshots import AppliedSnapshots
from dlt_local.delta.storage import read_json, write_json
from dlt_local.delta.table_position import TablePosition
from dlt_local.delta.transaction import TransactionId

_SMALL = 10_000
"""Rows below which compaction is not worth its own cost."""
_MANY_PARTS = 30
"""Parts after which the log is compacted even if it has not doubled; listing more takes a Spark job."""


@dataclass(frozen=True)
class State:
    """The state beside one target."""

    folder: Path
    retention_seconds: int
    seal: Seal | None = None
    """None where nothing watches over the state."""

    @property
    def log(self) -> Log:
        """Facts or applied events, one part per batch."""
        return Log(self.folder / "log")

    @property
    def truncates(self) -> Log:
        """Truncates: SEQ and WRITTEN_AT."""
        return Log(self.folder / "truncates")

    @property
    def expired(self) -> Column:
        """True for an entry older than the retention of tombstones."""
        return tombstones.expired(self.retention_seconds)

    @property
    def logs(self) -> Mapping[str, Log]:
        """All logs by name."""
        return {"log": self.log, "truncates": self.truncates}

    @property
    def snapshots(self) -> AppliedSnapshots:
        """Which snapshots were applied to the target."""
        return AppliedSnapshots(self.folder)

    def ledger(self) -> Ledger:
        """The batches noted so far."""
        return self.stored_ledger() or Ledger()

    def stored_ledger(self) -> Ledger | None:
        """The ledger as stored, None where there is none."""
        content = read_json(self._ledger_file)
        return None if content is None else Ledger.from_json(content)

    def begin(self, batch: TransactionId, high_watermark: Position | None) -> None:
        """Note a batch before anything of it is written.

        Args:
            batch: the batch.
            high_watermark: with this batch. Noted first it can be too high after a kill, never too low.
        """
        ledger = self.ledger()
        begun = replace(
            ledger,
            begun={**ledger.begun, batch.app_id: batch.version},
            high_watermark=high_watermark,
            count=ledger.count + 1,
            target=ledger.target or self._target(),
        )
        if self.seal is not None:
            self.seal.write(begun, is_open=True)
        self.write_ledger(begun)

    def end(self, batch: TransactionId) -> None:
        """Note that a batch is written in full, and what there is now."""
        ledger = self.ledger()
        ended = replace(
            ledger,
            ended={**ledger.ended, batch.app_id: batch.version},
            count=ledger.count + 1,
            target=self._target(),
            lists={name: log.times_listed for name, log in self.logs.items()},
            snapshots=self.snapshots.count,
        )
        self.write_ledger(ended)
        if self.seal is not None:
            self.seal.write(ended, is_open=False)

    def write_ledger(self, ledger: Ledger) -> None:
        """Replace the stored ledger."""
        write_json(self._ledger_file, ledger.to_json())

    def _target(self) -> TablePosition | None:
        return None if self.seal is None else TablePosition.of(self.seal.table)

    @property
    def _ledger_file(self) -> Path:
        return self.folder / "begun.json"

    def remember(self, entries: DataFrame, batch: TransactionId, supersede: bool) -> None:
        """Add a batch's entries to the log, in place of those of earlier attempts at it if ``supersede``."""
        self.log.append(entries.withColumn(WRITTEN_AT, F.current_timestamp()), batch, supersede)

    def remember_truncates(self, sequences: DataFrame, batch: TransactionId) -> None:
        """Add the sequences (SEQ) of a batch's truncates."""
        self.truncates.append(sequences.withColumn(WRITTEN_AT, F.current_timestamp()), batch)

    def compact_if_due(self, session: SparkSession, args: ChangeArgs) -> None:
        """Rewrite the log without superseded entries and expired tombstones if it has grown enough."""
        growth = self.log.growth()
        if not growth.parts or (growth.rows < max(growth.before, _SMALL) and growth.parts < _MANY_PARTS):
            return
        interrupted = self.ledger().interrupted
        entries = self.log.read(session, without=interrupted)
        if entries is None:
            return
        if args.is_latest:
            compacted = _latest(entries, self.expired)
        else:
            compacted = tombstones.without_expired(entries, self.expired, args.is_partial)
        self.log.compact(compacted, keep=interrupted)


def _latest(entries: DataFrame, expired: Column) -> DataFrame:
    fields = {SEQ: "seq", OP: "op", HASH: "hash", WRITTEN_AT: "written_at"}
    known = latest_entries(entries, expired)
    return known.select(KEY, *[F.col(f"{KNOWN}.{field}").alias(name) for name, field in fields.items()])
