"""AUTO CDC: applies a flow's change events to its target."""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from dlt_local.auto_cdc import drift
from dlt_local.auto_cdc.args import ChangeArgs, for_target, in_stored_order
from dlt_local.auto_cdc.events import to_flat_events
from dlt_local.auto_cdc.handler import AutoCdcHandler
from dlt_local.auto_cdc.names import KEY
from dlt_local.auto_cdc.seal import Seal
from dlt_local.auto_cdc.state import State
from dlt_local.declarations.elements import AutoCdcFlow, Table
from dlt_local.delta import delta_log, tables
from dlt_local.delta.plain_files import PlainFiles
from dlt_local.delta.transaction import TransactionId
from dlt_local.flows import expectations, microbatches
from dlt_local.flows.context import FlowRun
from dlt_local.flows.outcomes import FlowMetrics
from dlt_local.flows.queries import evaluate
from dlt_local.spark.tuning import tuned

_RETENTION = (
    "pipelines.cdc.tombstoneGCThresholdInSeconds",
    "pipelines.applyChanges.tombstoneGCThresholdInSeconds",
)
_TWO_DAYS = 172_800
_FEW_FILES = 1000
"""Files up to which a table's log is read ahead: reading it means listing them all."""


@dataclass(frozen=True)
class ChangeTarget:
    """The target of one flow's changes."""

    run: FlowRun
    table: Table
    args: ChangeArgs

    @classmethod
    def of(cls, run: FlowRun, table: Table) -> "ChangeTarget":
        """The target as its Delta table is now, with the columns that other flows or earlier updates gave it."""
        assert run.flow.changes is not None
        stored = tables.stored_schema(run.update.session, run.update.path(table.name))
        args = for_target(run.flow.changes, stored or run.node.schema)
        state = State(run.update.storage.auto_cdc(table.name), 0)
        return cls(run, table, in_stored_order(args, state.log.fields_of(KEY)))

    @property
    def path(self) -> Path:
        """Its Delta table."""
        return self.run.update.path(self.table.name)

    @property
    def state(self) -> Path:
        """The folder of its auxiliary state."""
        return self.run.update.storage.auto_cdc(self.table.name)

    def apply_rows(self, rows: DataFrame, transaction: TransactionId) -> FlowMetrics:
        """Check the source's rows, then apply them as events."""
        valid, metrics = expectations.check_now(rows, self.table)
        return metrics + self.apply_events(to_flat_events(valid, self.args), transaction)

    def apply_events(self, events: DataFrame, transaction: TransactionId) -> FlowMetrics:
        """Apply events (`to_flat_events`); the same transaction again changes nothing."""
        drift.record(self.args, self.state)
        tables.mark_rows_if_large(self.run.update.session, self.table, self.path)
        seal = Seal(self.run.update.storage.seal(self.table.name), self.path)
        state = State(self.state, retention_seconds(self.table.table_properties), seal)
        return FlowMetrics(cdc=AutoCdcHandler(self.args, self.path, state).apply(events, transaction))


def apply(run: FlowRun, table: Table, declared: AutoCdcFlow) -> FlowMetrics:
    """Apply what is new in the flow's source; a flow declared `once` applies all of it, in its first update only."""
    target = ChangeTarget.of(run, table)
    session = run.update.session
    reader = session.readStream if run.flow.streaming else session.read
    # Expectations may concern columns that events do not have: then each batch is checked before it becomes events.
    write = target.apply_rows if table.expectations else target.apply_events

    def source() -> DataFrame:
        rows = evaluate(run, lambda: reader.table(declared.source))
        return rows if table.expectations else to_flat_events(rows, target.args)

    def stream() -> FlowMetrics:
        with ThreadPoolExecutor(1) as beside:
            beside.submit(_read_log, session, target.path)
            return microbatches.stream(run, source, write)

    if not declared.once:
        return stream()
    if run.flow.streaming:
        return run.checkpoint.once(stream)
    return run.checkpoint.once(lambda: write(tuned(source()), TransactionId(run.checkpoint.app_id(), 0)))


def _read_log(session: SparkSession, table: Path) -> None:
    """Have Delta read the table's log, with which every write begins, while the stream is still starting.

    It is kept in memory, which is all that is wanted: an error here is an error of the write too, and raised there.
    """
    if delta_log.file_count(table) <= _FEW_FILES and PlainFiles.of(session, table) is None:
        session.read.format("delta").load(str(table)).inputFiles()


def retention_seconds(table_properties: Mapping[str, str]) -> int:
    """Seconds for which a tombstone is retained, counted from when the delete was applied."""
    return next((int(table_properties[name]) for name in _RETENTION if name in table_properties), _TWO_DAYS)
