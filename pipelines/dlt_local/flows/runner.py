"""Running one dataset: its flows evaluated over the real tables, their rows written. All effects on tables are here
and in the AUTO CDC handler."""

import hashlib
import json
import threading
import uuid
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from pyspark.sql import DataFrame, Observation, SparkSession

from dlt_local import failpoints
from dlt_local.auto_cdc import drift
from dlt_local.auto_cdc.args import ChangeArgs, for_target
from dlt_local.auto_cdc.events import to_flat_events
from dlt_local.auto_cdc.handler import AutoCdcHandler
from dlt_local.auto_cdc.snapshots import AppliedSnapshots, differences
from dlt_local.auto_cdc.state import State
from dlt_local.declarations.elements import (
    AutoCdcFlow,
    Expectation,
    QueryFlow,
    Sink,
    SnapshotCdcFlow,
    SnapshotSource,
    Table,
    View,
)
from dlt_local.declarations.registry import Registry, registration
from dlt_local.delta import delta_log, tables
from dlt_local.delta.storage import Storage, read_json, write_json
from dlt_local.errors import ExpectationFailed, FlowError
from dlt_local.flows import expectations, incremental_refresh
from dlt_local.flows.incremental_refresh import Followed
from dlt_local.flows.listing import listing
from dlt_local.flows.outcomes import FlowMetrics, RunResult, UpdateStopped
from dlt_local.graph.graph import Graph, Node, ResolvedFlow
from dlt_local.graph.key_lineage import passed_through_columns
from dlt_local.names import TableName, quote
from dlt_local.spark import root_cause
from dlt_local.spark.catalog import Catalog
from dlt_local.spark.conf_overrides import overridden
from dlt_local.spark.isolation import active
from dlt_local.spark.observations import observed_metrics
from dlt_local.spark.tuning import settings_for, tuned

_RETENTION = (
    "pipelines.cdc.tombstoneGCThresholdInSeconds",
    "pipelines.applyChanges.tombstoneGCThresholdInSeconds",
)
_TWO_DAYS = 172_800
_FEW_FILES = 1000
"""Files up to which a table's log is read ahead: to read it means to name them all."""


class DatasetRunner:
    """Brings datasets up to date, one call each; calls for independent datasets may overlap."""

    def __init__(
        self,
        session: SparkSession,
        registry: Registry,
        graph: Graph,
        catalog: Catalog,
        storage: Storage,
        on_batch: Callable[[str, str, FlowMetrics], None],
        should_stop: Callable[[], bool] = lambda: False,
    ) -> None:
        self._session = session
        self._registry = registry
        self._graph = graph
        self._catalog = catalog
        self._storage = storage
        self._on_batch = on_batch
        self._should_stop = should_stop
        self._settings = threading.RLock()

    def run(self, node: Node) -> RunResult:
        """Bring one dataset up to date with its inputs.

        Raises:
            FlowError: a flow failed; what it had committed before stays, the rest comes with the next update.
        """
        with active(self._session), registration(self._registry):
            if isinstance(node.dataset, Table) and delta_log.exists(self._path(node.dataset.name)):
                tables.describe(self._session, node.dataset, self._path(node.dataset.name))
            seen = self._seen(node)
            last = read_json(self._storage.progress(node.name)) or {}
            self._check_checkpoints(node, last)
            if self._is_idle(node, last, seen):
                return RunResult(True, {})
            ran: dict[str, FlowMetrics] = {}
            if isinstance(node.dataset, Table) and not self._is_replaced_anyway(node.dataset, node.kind):
                tables.materialize(self._session, node.dataset, node.schema, self._path(node.dataset.name))
            for flow in sorted(node.flows, key=lambda f: not _is_once(f)):
                metrics = FlowMetrics()
                ran[flow.flow.name] = metrics
                try:
                    self._run_flow(node, flow, metrics)
                except UpdateStopped:
                    return RunResult(False, ran, stopped=True)
            failpoints.reach("progress.before")
            write_json(self._storage.progress(node.name), self._progress(node, seen))
            failpoints.reach("progress.after")
            return RunResult(not any(metrics.batches for metrics in ran.values()), ran)

    def _seen(self, node: Node) -> Mapping[str, str | None]:
        """What there is to read: of each table and each folder, what is another when something has come."""
        folders = {folder for flow in node.flows for folder in flow.folders}
        tables = {str(name): delta_log.state(self._path(name)) for name in node.inputs}
        return tables | {folder: listing(Path(folder)) for folder in sorted(folders)}

    def _is_replaced_anyway(self, table: Table, kind: str) -> bool:
        # A view's rows, and its schema with them, are written anew: nothing need be merged, nothing can conflict.
        return kind == "materialized view" and delta_log.exists(self._path(table.name))

    def _path(self, name: TableName) -> Path:
        table = self._registry.tables.get(name)
        return self._storage.table(name, private=table is not None and table.private)

    def _progress(self, node: Node, seen: Mapping[str, str | None]) -> dict[str, object]:
        return {
            "inputs": dict(seen),
            "fingerprint": _fingerprint(node) if isinstance(node.dataset, Table) else None,
            "queries": {flow.flow.name: flow.query for flow in node.flows},
            "checkpoints": {
                f.flow.name: _reached(checkpoint)
                for f in node.flows
                if (checkpoint := self._storage.checkpoint(node.name, f.flow.name)).exists()
            },
        }

    def _is_idle(self, node: Node, last: Mapping[str, object], seen: Mapping[str, str | None]) -> bool:
        if not isinstance(node.dataset, Table) or last.get("inputs") != dict(seen) or None in seen.values():
            return False
        if not delta_log.exists(self._path(node.dataset.name)):
            return False
        # Rows of a streaming table are not worked out again when its query changes; a new flow has to run though.
        own = _fingerprint(node)
        return own is not None and last.get("fingerprint") == own

    def _check_checkpoints(self, node: Node, last: Mapping[str, object]) -> None:
        had = last.get("checkpoints")
        for flow in node.flows:
            name = flow.flow.name
            checkpoint = self._storage.checkpoint(node.name, name)
            if not isinstance(had, Mapping | list) or name not in had:
                continue
            fix = f"put it back, or rebuild the table with --full-refresh {node.name}"
            lost = f"flow `{name}` had its checkpoint at {checkpoint}, "
            if not checkpoint.exists():
                message = f"{lost}which is gone: where to go on is not known"
                raise FlowError("CHECKPOINT_MISSING", node.name, message, fix)
            if isinstance(had, Mapping) and not _has_reached(checkpoint, had[name]):
                message = f"{lost}of which a part is gone, or which is an older one: batches would be lost or repeated"
                raise FlowError("CHECKPOINT_DAMAGED", node.name, message, fix)

    def _run_flow(self, node: Node, flow: ResolvedFlow, metrics: FlowMetrics) -> None:
        declared = flow.flow
        try:
            match declared:
                case QueryFlow() if isinstance(node.dataset, Sink):
                    self._stream_to_sink(node, node.dataset, flow, metrics)
                case QueryFlow() if node.kind == "materialized view":
                    self._refresh(node, flow, metrics)
                case QueryFlow() if declared.once and not flow.streaming:
                    self._once(
                        node,
                        flow,
                        metrics,
                        lambda: self._append(node, tuned(self._frame(flow)), metrics, (self._app(node, flow), 0)),
                    )
                case QueryFlow():
                    self._stream(node, flow, lambda b, i, app: self._append(node, b, metrics, (app, i)), metrics)
                case AutoCdcFlow():
                    self._auto_cdc(node, flow, declared, metrics)
                case SnapshotCdcFlow():
                    self._snapshots(node, flow, declared, metrics)
        except (FlowError, UpdateStopped):
            raise
        except Exception as error:
            raise self._told(node, flow, error) from error

    def _frame(self, flow: ResolvedFlow) -> DataFrame:
        """The flow's query over the real tables."""
        self._register_inputs(flow)
        declared = flow.flow
        match declared:
            case QueryFlow():
                return declared.query()
            case AutoCdcFlow() if not flow.streaming:
                return self._session.read.table(declared.source)
            case AutoCdcFlow():
                return self._session.readStream.table(declared.source)
            case SnapshotCdcFlow():
                return self._session.read.table(str(declared.source))

    def _register_inputs(self, flow: ResolvedFlow) -> None:
        with self._settings:
            for name in flow.inputs:
                self._catalog.register_table(name, self._path(name))
            for node in self._graph.nodes:
                view = node.dataset
                if isinstance(view, View) and view.name in flow.views and not self._catalog.has_view(view.name):
                    frame = expectations.enforce(view.query(), view.name, view.expectations)
                    self._catalog.register_view(view.name, frame)

    @contextmanager
    def _spark_conf(self, settings: Mapping[str, str]) -> Iterator[None]:
        if not settings:
            yield
            return
        with self._settings, overridden(self._session, settings):
            yield

    def _refresh(self, node: Node, flow: ResolvedFlow, metrics: FlowMetrics) -> None:
        assert isinstance(node.dataset, Table)
        path = self._path(node.dataset.name)
        with self._spark_conf(_settings(node, flow)):
            frame = tuned(self._frame(flow))
            source = self._followed(flow, frame)
            failpoints.reach("view.before")
            if source is None or not self._refresh_changed(node, source, frame, metrics):
                self._refresh_whole(node, frame, metrics)
        failpoints.reach("view.after")
        if source is not None:
            # Views of one source are refreshed side by side, and Delta refuses the second of two such commits.
            with self._settings:
                incremental_refresh.turn_on_feed(self._session, source.path)
        # Clustering goes with the schema when that is replaced.
        tables.describe(self._session, node.dataset, path)
        self._on_batch(node.name, flow.flow.name, metrics)

    def _refresh_whole(self, node: Node, frame: DataFrame, metrics: FlowMetrics) -> None:
        assert isinstance(node.dataset, Table)
        path = self._path(node.dataset.name)
        frame, observed = _observed(frame, node)
        stored = tables.stored_schema(self._session, path)
        if stored is not None and tables.takes(node.dataset, stored, frame.schema, path):
            writer = tables.replacing(frame, node.dataset)
        else:
            writer = tables.reshaping(frame, node.dataset, node.schema)
        writer.save(str(path))
        self._count(node, path, metrics, observed)
        metrics.batches += 1

    def _followed(self, flow: ResolvedFlow, frame: DataFrame) -> Followed | None:
        """The large source of a view that can follow its changes, key by key; None for any other view."""
        if len(flow.inputs) != 1 or not incremental_refresh.is_large(self._path(flow.inputs[0])):
            return None
        above = next(each for each in self._graph.nodes if each.dataset.name == flow.inputs[0])
        keys = {each.changes.keys for each in above.flows if each.changes is not None}
        if len(keys) != 1 or len(above.flows) != sum(each.changes is not None for each in above.flows):
            return None
        of_view = incremental_refresh.keys_of(passed_through_columns(frame), keys.pop())
        return None if of_view is None else Followed(self._path(flow.inputs[0]), of_view)

    def _refresh_changed(self, node: Node, source: Followed, frame: DataFrame, metrics: FlowMetrics) -> bool:
        """Work the view out anew for the keys that changed since the last time; False where all of it must be."""
        assert isinstance(node.dataset, Table)
        path = self._path(node.dataset.name)
        last = read_json(self._storage.progress(node.name)) or {}
        own, since = _fingerprint(node), list((last.get("inputs") or {}).values())
        stored = tables.stored_schema(self._session, path)
        if stored is None or not tables.takes(node.dataset, stored, frame.schema, path):
            return False
        if own is None or last.get("fingerprint") != own or len(since) != 1 or since[0] is None:
            return False
        changed = incremental_refresh.changed_keys(self._session, source, since[0])
        if changed is None:
            return False
        keys = changed.localCheckpoint()
        count = keys.count()
        if incremental_refresh.is_large_part(path, count):
            return False
        if count:
            part, observed = _observed(frame.join(keys, keys.columns, "left_semi").select(frame.columns), node)
            metrics.num_output_rows += incremental_refresh.replace(path, part, keys)
            if observed is not None:
                _add_expectations(metrics, node.dataset.expectations, observed_metrics(observed))
            metrics.batches += 1
        return True

    def _append(self, node: Node, batch: DataFrame, metrics: FlowMetrics, number: tuple[str, int]) -> None:
        assert isinstance(node.dataset, Table)
        path = self._path(node.dataset.name)
        before = delta_log.version(path)
        frame, observed = _observed(batch, node)
        failpoints.reach("append.before")
        app, version = number
        (
            frame.write.format("delta")
            .mode("append")
            .option("mergeSchema", "true")
            .option("txnAppId", app)
            .option("txnVersion", version)
            .save(str(path))
        )
        failpoints.reach("append.after")
        # A batch that a killed update had committed is not written again, so nothing was observed either.
        if delta_log.version(path) != before:
            self._count(node, path, metrics, observed)

    def _count(self, node: Node, path: Path, metrics: FlowMetrics, observed: Observation | None) -> None:
        version = delta_log.version(path)
        assert version is not None
        metrics.num_output_rows += delta_log.operation_metrics(path, version).get("numOutputRows", 0)
        if observed is not None and isinstance(node.dataset, Table):
            _add_expectations(metrics, node.dataset.expectations, observed_metrics(observed))

    def _stream(
        self,
        node: Node,
        flow: ResolvedFlow,
        handle: Callable[[DataFrame, int, str], None],
        metrics: FlowMetrics,
        source: Callable[[], DataFrame] | None = None,
    ) -> None:
        checkpoint = self._storage.checkpoint(node.name, flow.flow.name)
        _clear_half_begun(checkpoint)
        failure: list[Exception] = []

        def on_batch(batch: DataFrame, batch_id: int) -> None:
            try:
                if self._should_stop():
                    raise UpdateStopped
                looked_up = 0 if flow.changes is None else delta_log.size_in_bytes(self._path(flow.changes.target))
                for key, value in settings_for(batch, looked_up).items():
                    # The stream's session is its own, and ends with it.
                    batch.sparkSession.conf.set(key, value)
                with registration(self._registry):
                    handle(batch, batch_id, _query_id(checkpoint))
                metrics.batches += 1
                self._on_batch(node.name, flow.flow.name, metrics)
            except Exception as error:
                failure.append(error)
                raise

        with self._spark_conf(_settings(node, flow)):
            frame = self._frame(flow) if source is None else source()
            query = (
                frame.writeStream.foreachBatch(on_batch)
                .option("checkpointLocation", str(checkpoint))
                .trigger(availableNow=True)
                .start()
            )
        try:
            query.awaitTermination()
        except Exception:
            # Spark wraps what the handler raised into its own words; the handler's own are the user's.
            if failure:
                raise failure[0] from None
            raise

    def _stream_to_sink(self, node: Node, sink: Sink, flow: ResolvedFlow, metrics: FlowMetrics) -> None:
        checkpoint = self._storage.checkpoint(node.name, flow.flow.name)
        _clear_half_begun(checkpoint)
        with self._spark_conf(_settings(node, flow)):
            writer = self._frame(flow).writeStream
            if sink.handler is None:
                writer = writer.format(sink.format).options(**self._sink_options(sink))
            else:
                writer = writer.foreachBatch(sink.handler.function)
            query = writer.option("checkpointLocation", str(checkpoint)).trigger(availableNow=True).start()
        query.awaitTermination()
        for progress in query.recentProgress:
            metrics.num_output_rows += max(progress.numInputRows, 0)
            metrics.batches += progress.numInputRows > 0

    def _sink_options(self, sink: Sink) -> dict[str, str]:
        """A Delta table that a sink names stands beside the pipeline's own; here there is no other catalog."""
        options = dict(sink.options)
        name = next((options.pop(key) for key in list(options) if key.lower() == "tablename"), None)
        if name is not None:
            options["path"] = str(self._storage.table(self._registry.name(name)))
        return options

    def _once(self, node: Node, flow: ResolvedFlow, metrics: FlowMetrics, run: Callable[[], None]) -> None:
        done = self._storage.checkpoint(node.name, flow.flow.name) / "once.json"
        if done.exists():
            return
        run()
        metrics.batches += 1
        write_json(done, {"at": datetime.now(UTC).isoformat()})

    def _app(self, node: Node, flow: ResolvedFlow) -> str:
        """The name under which Delta keeps the batch numbers of a flow that has no streaming query."""
        file = self._storage.checkpoint(node.name, flow.flow.name) / "app.json"
        known = read_json(file)
        if known is None:
            known = {"id": str(uuid.uuid4())}
            write_json(file, known)
        return str(known["id"])

    def _args(self, node: Node, flow: ResolvedFlow) -> ChangeArgs:
        assert flow.changes is not None
        assert isinstance(node.dataset, Table)
        stored = tables.stored_schema(self._session, self._path(node.dataset.name))
        return for_target(flow.changes, stored or node.schema)

    def _handler(self, node: Node, args: ChangeArgs, app: str) -> AutoCdcHandler:
        assert isinstance(node.dataset, Table)
        folder = self._storage.auto_cdc(args.target)
        drift.record(args, folder)
        tables.mark_rows_if_large(self._session, node.dataset, self._path(args.target))
        state = State(folder, retention_seconds(node.dataset))
        return AutoCdcHandler(args, self._path(args.target), state, app)

    def _auto_cdc(self, node: Node, flow: ResolvedFlow, declared: AutoCdcFlow, metrics: FlowMetrics) -> None:
        assert isinstance(node.dataset, Table)
        args = self._args(node, flow)
        # An expectation may ask about columns that the events do not have.
        are_events = not node.dataset.expectations

        def handle(batch: DataFrame, batch_id: int, app: str) -> None:
            events = batch if are_events else to_flat_events(self._checked(node, batch, metrics), args)
            self._apply(node, args, events, batch_id, app, metrics)

        def source() -> DataFrame:
            rows = self._frame(flow)
            return to_flat_events(rows, args) if are_events else rows

        def run() -> None:
            with ThreadPoolExecutor(1) as beside:
                beside.submit(self._look_up, self._path(args.target))
                self._stream(node, flow, handle, metrics, source)

        if not declared.once:
            run()
        elif flow.streaming:
            self._once(node, flow, metrics, run)
        else:
            self._once(node, flow, metrics, lambda: handle(tuned(source()), 0, self._app(node, flow)))

    def _look_up(self, path: Path) -> None:
        """Let Delta read the table's log, which every write begins with, while Spark still gets the stream going.

        What goes wrong here goes wrong in the write too, and is told there.
        """
        if delta_log.file_count(path) <= _FEW_FILES:
            self._session.read.format("delta").load(str(path)).inputFiles()

    def _checked(self, node: Node, batch: DataFrame, metrics: FlowMetrics) -> DataFrame:
        assert isinstance(node.dataset, Table)
        rules = node.dataset.expectations
        if not rules:
            return batch
        checked = batch.agg(*expectations.metrics(rules)).head()
        assert checked is not None
        _add_expectations(metrics, rules, checked.asDict())
        return expectations.enforce(batch, node.name, rules)

    def _apply(
        self, node: Node, args: ChangeArgs, events: DataFrame, batch_id: int, app: str, metrics: FlowMetrics
    ) -> None:
        done = self._handler(node, args, app).apply(events, batch_id)
        metrics.cdc = done if metrics.cdc is None else metrics.cdc + done

    def _snapshots(self, node: Node, flow: ResolvedFlow, declared: SnapshotCdcFlow, metrics: FlowMetrics) -> None:
        args = self._args(node, flow)
        applied = AppliedSnapshots(self._storage.auto_cdc(args.target))
        target = self._path(args.target)
        self._register_inputs(flow)
        for snapshot, version in self._new_snapshots(declared.source, applied):
            rows = self._session.read.format("delta").load(str(target))
            _refuse_repeated_keys(snapshot, args, declared)
            # Cut off from the target, which is written while the changes are still being read.
            changes = tuned(differences(snapshot, rows, args, version)).localCheckpoint()
            events = to_flat_events(self._checked(node, changes, metrics), args)
            self._apply(node, args, events, applied.count, self._app(node, flow), metrics)
            applied.add(version)
            metrics.batches += 1

    def _new_snapshots(self, source: SnapshotSource, applied: AppliedSnapshots) -> Iterator[tuple[DataFrame, object]]:
        if isinstance(source, str):
            yield self._session.read.table(source), datetime.now(UTC)
            return
        while (found := source(applied.latest)) is not None:
            yield found

    def _told(self, node: Node, flow: ResolvedFlow, error: Exception) -> FlowError:
        text = str(error)
        if expectations.FAILURE in text:
            start = text.index(expectations.FAILURE) + len(expectations.FAILURE) + 1
            message = text[start:].splitlines()[0]
            fix = "mend the source, or loosen the expectation to expect_or_drop; nothing of the batch was written"
            return ExpectationFailed("EXPECTATION_FAILED", node.name, message, fix)
        return failed(node.name, f"flow `{flow.flow.name}` ({flow.flow.location}): ", error)


def _refuse_repeated_keys(snapshot: DataFrame, args: ChangeArgs, flow: SnapshotCdcFlow) -> None:
    keys = [quote(key) for key in args.keys]
    repeated = snapshot.groupBy(*keys).count().where("count > 1").drop("count").limit(3).collect()
    if repeated:
        shown = ", ".join(str(row.asDict()) for row in repeated)
        message = f"a snapshot of flow `{flow.name}` has more than one row for {shown}; {args.target} is as it was"
        raise FlowError(
            "AUTOCDC_SNAPSHOT_KEY_NOT_UNIQUE", str(args.target), message, "let the source give one row a key"
        )


def failed(dataset: str, where: str, error: Exception) -> FlowError:
    """An error of Spark's or of the machine's as one that its user can act on."""
    if root_cause.is_disk_full(error):
        fix = "make room, then run again: what was committed stays, the rest comes with the next update, nothing twice"
        return FlowError("DISK_FULL", dataset, where + root_cause.sentence(error), fix)
    return FlowError("FLOW_FAILED", dataset, where + root_cause.sentence(error))


def retention_seconds(table: Table) -> int:
    """How long a delete is remembered, in seconds since it was applied."""
    for name in _RETENTION:
        if name in table.table_properties:
            return int(table.table_properties[name])
    return _TWO_DAYS


def _is_once(flow: ResolvedFlow) -> bool:
    return isinstance(flow.flow, QueryFlow | AutoCdcFlow) and flow.flow.once


def _settings(node: Node, flow: ResolvedFlow) -> dict[str, str]:
    own = dict(flow.flow.spark_conf) if isinstance(flow.flow, QueryFlow) else {}
    return (dict(node.dataset.spark_conf) if isinstance(node.dataset, Table) else {}) | own


def _fingerprint(node: Node) -> str | None:
    """All that makes a dataset's rows besides its inputs; None where that cannot be told."""
    assert isinstance(node.dataset, Table)
    prints = [flow.fingerprint for flow in node.flows]
    if any(one is None for one in prints) or any(isinstance(f.flow, SnapshotCdcFlow) for f in node.flows):
        return None
    rules = [[e.name, e.text, e.action] for e in node.dataset.expectations]
    names = [flow.flow.name for flow in node.flows]
    # As a hash: a condition may hold what is to be written nowhere.
    return hashlib.sha256(json.dumps([names, prints, rules, node.schema.simpleString()]).encode()).hexdigest()


def _observed(frame: DataFrame, node: Node) -> tuple[DataFrame, Observation | None]:
    assert isinstance(node.dataset, Table)
    rules = node.dataset.expectations
    if not rules:
        return frame, None
    observation = Observation()
    watched = frame.observe(observation, *expectations.metrics(rules))
    return expectations.enforce(watched, node.name, rules), observation


def _add_expectations(metrics: FlowMetrics, rules: tuple[Expectation, ...], told: Mapping[str, object]) -> None:
    metrics.checked_rows += int(str(told[expectations.ROWS]))
    metrics.dropped_rows += int(str(told[expectations.DROPPED]))
    for number, rule in enumerate(rules):
        metrics.failed[rule.name] = metrics.failed.get(rule.name, 0) + int(str(told[f"failed_{number}"]))


def _query_id(checkpoint: Path) -> str:
    """The streaming query's identity; it is made with the checkpoint and goes with it."""
    return str(json.loads((checkpoint / "metadata").read_text())["id"])


def _clear_half_begun(checkpoint: Path) -> None:
    """Remove what a kill has left of a first batch that had not begun: half a file, over which Spark never starts.

    Where a batch was ever committed nothing is touched: without its offsets such a checkpoint is damaged.
    """
    if any(file.name.isdigit() for part in ("offsets", "commits") for file in (checkpoint / part).glob("*")):
        return
    for file in (checkpoint / "offsets").glob(".*"):
        file.unlink()


def _reached(checkpoint: Path) -> dict[str, object]:
    """Whose a checkpoint is and how far its stream has come; empty for a flow without a stream."""
    if not (checkpoint / "metadata").exists():
        return {}
    return {"id": _query_id(checkpoint), "batch": _last_commit(checkpoint)}


def _last_commit(checkpoint: Path) -> int:
    """The number of the last batch that was committed; -1 before the first."""
    return max((int(file.name) for file in (checkpoint / "commits").glob("*") if file.name.isdigit()), default=-1)


def _has_reached(checkpoint: Path, told: Mapping[str, object]) -> bool:
    """False where a checkpoint is another than it was, or behind where it was."""
    if not told:
        return True
    try:
        return _query_id(checkpoint) == told["id"] and _last_commit(checkpoint) >= int(str(told["batch"]))
    except (FileNotFoundError, ValueError):
        return False
