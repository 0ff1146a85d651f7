"""Runs one dataset: checks its checkpoints, skips it if idle, else runs each flow and records what it has read."""

from collections.abc import Mapping

from dlt_local import failpoints
from dlt_local.declarations.elements import AutoCdcFlow, QueryFlow, Sink, SnapshotCdcFlow, Table
from dlt_local.declarations.registry import registration
from dlt_local.delta import delta_log, tables
from dlt_local.errors import FlowError
from dlt_local.flows import append, auto_cdc, idleness, materialized_view, sink, snapshots
from dlt_local.flows.checkpoint import Checkpoint, checkpoints
from dlt_local.flows.context import FlowRun, UpdateContext
from dlt_local.flows.failures import flow_failed
from dlt_local.flows.idleness import InputStates
from dlt_local.flows.input_files import InputFiles
from dlt_local.flows.kafka import check as kafka
from dlt_local.flows.last_update import LastUpdate
from dlt_local.flows.outcomes import FlowMetrics, RunResult, UpdateStopped
from dlt_local.graph.graph import Node, ResolvedFlow
from dlt_local.spark.isolation import active


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
        own = checkpoints(node, self._update.storage)
        last = LastUpdate.read(self._update.storage.progress(node.name))
        # Before any flow runs: what arrives while they do is then new to the next update.
        inputs = idleness.input_states(self._update, node)
        for flow, checkpoint in own.items():
            if flow in last.checkpoints:
                checkpoint.check(last.checkpoints[flow])
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
        self._record(node, inputs, own)
        return RunResult(not any(metrics.batches for metrics in ran.values()), ran)

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
            metrics = _write(run)
        except (FlowError, UpdateStopped):
            raise
        except Exception as error:
            raise flow_failed(run.node, run.flow, error) from error
        for notice in files.passed_over():
            self._update.on_notice(notice)
        return metrics

    def _record(self, node: Node, inputs: InputStates, own: Mapping[str, Checkpoint]) -> None:
        reached = {flow: checkpoint.position() for flow, checkpoint in own.items() if checkpoint.folder.exists()}
        queries = {flow.flow.name: flow.query for flow in node.flows}
        failpoints.reach("progress.before")
        completed = LastUpdate(inputs, idleness.fingerprint(node), queries, reached)
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
