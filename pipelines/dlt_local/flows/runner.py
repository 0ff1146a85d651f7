"""Runs one dataset: checks its checkpoints, skips it if idle, else runs each flow and records what it has read."""

from collections.abc import Mapping

from pyspark.sql.types import StructType

from dlt_local import failpoints
from dlt_local.auto_cdc.integrity import StoredTarget
from dlt_local.declarations.elements import AutoCdcFlow, QueryFlow, Sink, SnapshotCdcFlow, Table
from dlt_local.declarations.registry import registration
from dlt_local.delta import delta_log, tables
from dlt_local.errors import FlowError
from dlt_local.flows import append, auto_cdc, continuity, idleness, materialized_view, new_files, sink, snapshots
from dlt_local.flows.checkpoint import Checkpoint, checkpoints
from dlt_local.flows.context import FlowRun, UpdateContext
from dlt_local.flows.continuity import StoredDataset
from dlt_local.flows.failures import flow_failed
from dlt_local.flows.idleness import InputStates
from dlt_local.flows.input_files import InputFiles
from dlt_local.flows.kafka import check as kafka
from dlt_local.flows.last_update import LastUpdate
from dlt_local.flows.outcomes import FlowMetrics, RunResult, UpdateStopped
from dlt_local.graph.graph import Node, ResolvedFlow
from dlt_local.spark.isolation import active

_COLUMN_MISSING = "[UNRESOLVED_COLUMN"


class DatasetRunner:
    """Runs the datasets of one update, one call each; calls for independent datasets may overlap."""

    def __init__(self, update: UpdateContext) -> None:
        self._update = update

    def run(self, node: Node) -> RunResult:
        """Bring one dataset up to date with its inputs.

        Raises:
            FlowError: a flow failed; what it had committed stays, the rest follows with the next update.
        """
        with active(self._update.session), registration(self._update.registry):
            return self._run(node)

    def _run(self, node: Node) -> RunResult:
        continuity.check_sources(node.name, self._unbuilt(node))
        own = checkpoints(node, self._update.storage)
        stored = self._stored(node, own)
        last = self._continued(node, stored)
        # Before any flow runs: what arrives while they do is then new to the next update.
        inputs = idleness.input_states(self._update, node)
        if isinstance(node.dataset, Table):
            path = self._update.path(node.dataset.name)
            if delta_log.exists(path):
                tables.describe(self._update.session, node.dataset, path)
            if idleness.is_idle(node, path, inputs, last):
                return RunResult(True, {})
            self._materialize(node, node.dataset)
        ran: dict[str, FlowMetrics] = {}
        # Flows that run once fill a table with its past, so they come before those that continue it.
        for resolved in sorted(node.flows, key=lambda flow: not _is_once(flow)):
            name = resolved.flow.name
            try:
                ran[name] = self._run_flow(FlowRun(self._update, node, resolved, own[name]))
            except UpdateStopped as stopped:
                return RunResult(False, {**ran, name: stopped.metrics}, stopped=True)
        has_written = any(metrics.batches for metrics in ran.values())
        self._record(node, inputs, stored, None if has_written else last)
        return RunResult(not has_written, ran)

    def _unbuilt(self, node: Node) -> list[str]:
        """The tables that the dataset is made from, directly or not, and that do not exist; in order."""
        missing = {name for name in node.inputs if not delta_log.exists(self._update.path(name))}
        unbuilt: list[str] = []
        for source in reversed(self._update.graph.tables if missing else ()):
            if source.dataset.name in missing:
                unbuilt.append(source.name)
                missing |= {name for name in source.inputs if not delta_log.exists(self._update.path(name))}
        return unbuilt[::-1]

    def _lacking(self, flow: ResolvedFlow) -> Mapping[str, list[str]]:
        """The tables that the flow reads -> columns that they are declared with and the stored table lacks."""
        lacking: dict[str, list[str]] = {}
        for source in self._update.graph.tables:
            if source.dataset.name in flow.inputs:
                stored = delta_log.schema(self._update.path(source.dataset.name)) or StructType()
                lacking[source.name] = [column for column in source.schema.names if column not in stored.names]
        return {name: columns for name, columns in lacking.items() if columns}

    def _stored(self, node: Node, own: Mapping[str, Checkpoint]) -> StoredDataset:
        dataset, update = node.dataset, self._update
        inputs = {str(name): update.path(name) for name in node.inputs}
        if not isinstance(dataset, Table):
            return StoredDataset(node.name, None, None, own, inputs)
        path = update.path(dataset.name)
        is_target = any(flow.changes is not None for flow in node.flows)
        target = StoredTarget.of(dataset.name, path, update.storage) if is_target else None
        return StoredDataset(node.name, path, target, own, inputs)

    def _continued(self, node: Node, stored: StoredDataset) -> LastUpdate:
        """The last update to continue from; an empty one for a view whose rows were altered, so it is computed again.

        Raises:
            FlowError: what the dataset continues from is not what its last update left.
        """
        file = self._update.storage.progress(node.name)
        if node.kind != "materialized view":
            last = LastUpdate.read(file)
            continuity.check(stored, last)
            return last
        if continuity.is_view_as_left(stored, file):
            return LastUpdate.read(file)
        file.unlink()
        return LastUpdate()

    def _materialize(self, node: Node, table: Table) -> None:
        path = self._update.path(table.name)
        # A refresh replaces a view's rows and schema: there is nothing to merge, and nothing can conflict.
        if node.kind != "materialized view" or not delta_log.exists(path):
            tables.materialize(self._update.session, table, node.schema, path)

    def _run_flow(self, run: FlowRun) -> FlowMetrics:
        # What becomes of its source later is nothing to a flow that runs once.
        files = InputFiles.of(run.node.name, () if _is_once(run.flow) else run.flow.files, run.checkpoint.folder)
        files.check_unchanged()
        if not _is_once(run.flow):
            kafka.check(run)
        try:
            metrics = new_files.retried(run, _write)
        except (FlowError, UpdateStopped):
            raise
        except Exception as error:
            if _COLUMN_MISSING in str(error):
                continuity.check_columns(run.node.name, self._lacking(run.flow))
            raise flow_failed(run.node, run.flow, error) from error
        for notice in files.passed_over():
            self._update.on_notice(notice)
        return metrics

    def _record(self, node: Node, inputs: InputStates, stored: StoredDataset, unchanged: LastUpdate | None) -> None:
        own = stored.checkpoints
        reached = {flow: checkpoint.position() for flow, checkpoint in own.items() if checkpoint.folder.exists()}
        queries = {flow.flow.name: flow.hashes.query for flow in node.flows}
        table, count = stored.position() if unchanged is None else (unchanged.table, unchanged.ledger_count)
        failpoints.reach("progress.before")
        completed = LastUpdate(inputs, idleness.fingerprint(node), queries, reached, table, count)
        completed.write(self._update.storage.progress(node.name))
        failpoints.reach("progress.after")


def _write(run: FlowRun) -> FlowMetrics:
    """Run a flow by its kind of write."""
    match run.node.dataset, run.flow.flow:
        case Sink() as to, QueryFlow() as query:
            return sink.stream(run, to, query)
        case Table() as table, QueryFlow() as query if run.node.kind == "materialized view":
            return materialized_view.refresh(run, table, query)
        case Table() as table, QueryFlow(once=True) as query if not run.flow.streaming:
            return append.once(run, table, query)
        case Table() as table, QueryFlow() as query:
            return append.stream(run, table, query)
        case Table() as table, AutoCdcFlow() as changes:
            return auto_cdc.apply(run, table, changes)
        case Table() as table, SnapshotCdcFlow() as changes:
            return snapshots.apply(run, table, changes)
        case dataset, flow:
            message = f"{type(flow).__name__} cannot write to {type(dataset).__name__} {run.node.name}"
            raise TypeError(message)


def _is_once(flow: ResolvedFlow) -> bool:
    return isinstance(flow.flow, QueryFlow | AutoCdcFlow) and flow.flow.once
