"""What APPLY CHANGES must remember besides the target's rows: a log of events.

Rows are only ever added to the log; what is superseded goes when the log is compacted, each time it has doubled, so
that a batch costs by its own size. A delete is forgotten when the retention of tombstones has passed since it was
written here, whatever the time in the event.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from dlt_local.auto_cdc import latest
from dlt_local.auto_cdc.args import ChangeArgs
from dlt_local.auto_cdc.log import Log, Part
from dlt_local.auto_cdc.names import DELETE, KEY, OP, SEQ, WRITTEN_AT
from dlt_local.auto_cdc.newest import Place
from dlt_local.delta.storage import read_json, write_json

_SMALL = 10_000
"""Rows below which compaction is not worth its own cost."""
_MANY_PARTS = 30
"""Parts after which the log is compacted even if it has not doubled; to find the files of more, Spark runs a job."""


@dataclass(frozen=True)
class State:
    """The state beside one target."""

    folder: Path
    retention_seconds: int

    @property
    def log(self) -> Log:
        """Events, appended batch by batch."""
        return Log(self.folder / "log")

    @property
    def truncates(self) -> Log:
        """Truncates: SEQ and WRITTEN_AT."""
        return Log(self.folder / "truncates")

    def read(self, session: SparkSession) -> DataFrame | None:
        """The log, None where nothing was ever written."""
        return self.log.read(session)

    def read_truncates(self, session: SparkSession) -> DataFrame | None:
        """The truncates, None where there never was one."""
        return self.truncates.read(session)

    def begin(self, batch: tuple[str, int], newest: Place | None) -> bool:
        """Note a batch before anything of it is written; True where a batch was begun and cut off, this one or another
        flow's, so that the target may have rows that the log does not know.

        Args:
            batch: the flow's name at Delta, and the number.
            newest: the greatest sequence with this batch. Noted first it can only be too great, never too small.
        """
        app, number = batch
        noted = self._noted()
        write_json(self._begun, {**noted, "batches": {**noted["batches"], app: number}, "newest": newest})
        return any(noted["ended"].get(other) != begun for other, begun in noted["batches"].items())

    def end(self, batch: tuple[str, int]) -> None:
        """Note that all of a batch that was begun is written."""
        app, number = batch
        noted = self._noted()
        if noted["batches"].get(app) == number:
            write_json(self._begun, {**noted, "ended": {**noted["ended"], app: number}})

    def newest(self) -> Place | None:
        """The greatest sequence of all batches begun, None where it is not known."""
        return cast(Place | None, self._noted().get("newest"))

    def _noted(self) -> dict[str, Any]:
        return {"batches": {}, "ended": {}, **(read_json(self._begun) or {})}

    @property
    def _begun(self) -> Path:
        return self.folder / "begun.json"

    def expired(self) -> Column:
        """True for an entry older than the retention of tombstones."""
        kept_since = F.current_timestamp() - F.make_dt_interval(secs=F.lit(self.retention_seconds))
        return F.col(WRITTEN_AT) < kept_since

    def append(self, entries: DataFrame, to: Log, batch: tuple[str, int]) -> None:
        """Add entries, once for each batch however often it is tried."""
        to.add(self.write(entries, to, batch))

    def write(self, entries: DataFrame, to: Log, batch: tuple[str, int]) -> Part | None:
        """Write entries down that do not count before ``to`` has the part added."""
        return to.write(entries.withColumn(WRITTEN_AT, F.current_timestamp()), batch)

    def without_expired(self, log: DataFrame, with_past: bool) -> DataFrame:
        """The log's facts without forgotten deletes.

        Args:
            log: facts.
            with_past: forget what such a delete had ended too. Partial rows need it, or the older values would show
                through again.
        """
        is_forgotten = (F.col(OP) == DELETE) & self.expired()
        if not with_past:
            return log.where(~is_forgotten)
        gone = log.groupBy(KEY).agg(F.max(F.when(is_forgotten, F.col(SEQ))).alias("gone"))
        return log.join(gone, KEY).where(F.col("gone").isNull() | (F.col(SEQ) > F.col("gone"))).drop("gone")

    def compact_if_due(self, session: SparkSession, args: ChangeArgs) -> None:
        """Rewrite the log without what is superseded or forgotten, if it has grown enough."""
        growth = self.log.growth()
        if not growth.parts or (growth.rows < max(growth.before, _SMALL) and growth.parts < _MANY_PARTS):
            return
        log = self.read(session)
        assert log is not None
        self.log.replace(self._latest(log) if args.is_latest else self.without_expired(log, args.is_partial))

    def _latest(self, log: DataFrame) -> DataFrame:
        entries = latest.latest_entries(log, self.expired())
        return entries.select(
            KEY,
            F.col("known.seq").alias(SEQ),
            F.col("known.op").alias(OP),
            F.col("known.hash").alias(latest.HASH),
            F.col("known.written_at").alias(WRITTEN_AT),
        )
