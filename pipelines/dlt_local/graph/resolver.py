"""The graph of a pipeline: every query analysed, every dataset's schema and inputs known, before anything runs.

Queries are evaluated over empty tables of the right schema that stand for the pipeline's datasets. A query that
names a dataset not yet known is put off until that dataset is resolved, so the order of declaration is free.
"""

import hashlib
import re
import traceback
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame
from pyspark.sql.types import StructType

from dlt_local.auto_cdc import args as auto_cdc
from dlt_local.auto_cdc.args import ChangeArgs
from dlt_local.auto_cdc.snapshots import as_auto_cdc, with_version
from dlt_local.declarations.ddl import Columns
from dlt_local.declarations.elements import AutoCdcFlow, Flow, QueryFlow, Sink, SnapshotCdcFlow, Table, View
from dlt_local.declarations.registry import Registry, registration
from dlt_local.errors import DeclarationError, SourceLocation, did_you_mean
from dlt_local.graph.graph import Graph, Node, ResolvedFlow
from dlt_local.graph.query_inputs import Plan, read_plan
from dlt_local.graph.schemas import declared_columns, merge_schemas, missing_nested, nullable
from dlt_local.names import END_AT, START_AT, TableName, parts, quote
from dlt_local.spark.catalog import LIVE, Catalog


def resolve(
    registry: Registry,
    catalog: Catalog,
    stored: Mapping[TableName, StructType],
    latest_version: Callable[[TableName], object],
) -> tuple[Graph, list[Exception]]:
    """Analyse every query and put the datasets in order.

    Args:
        registry: what was declared.
        catalog: where the stand-ins go; it is left as it is found.
        stored: the schemas of tables that exist from earlier updates; a streaming table keeps its columns.
        latest_version: the version of the snapshot that a target has seen last, None before the first.

    Returns:
        The graph of what could be resolved, and every fault found.
    """
    resolver = _Resolver(registry, catalog, stored, latest_version)
    with registration(registry):
        declared: list[Table | View | Sink] = [*registry.views.values(), *registry.tables.values()]
        for dataset in [*declared, *registry.sinks.values()]:
            resolver.try_resolve(dataset)
        resolver.check_targets()
    catalog.clear()
    nodes = tuple(resolver.nodes.values())
    return Graph(nodes, tuple(registry.notices)), resolver.faults


class _Unresolved(Exception):
    """What it reads could not be resolved; that fault is told where it lies, not again for everything behind it."""


class _Resolver:
    def __init__(
        self,
        registry: Registry,
        catalog: Catalog,
        stored: Mapping[TableName, StructType],
        latest_version: Callable[[TableName], object],
    ) -> None:
        self.registry = registry
        self.latest_version = latest_version
        self.catalog = catalog
        self.stored = stored
        self.nodes: dict[TableName | str, Node] = {}
        self.faults: list[Exception] = []
        self._failed: set[TableName | str] = set()
        self._under_way: list[TableName | str] = []

    def try_resolve(self, dataset: Table | View | Sink) -> None:
        try:
            self._resolve(dataset)
        except _Unresolved:
            pass
        except DeclarationError as fault:
            self._failed.add(dataset.name)
            self.faults.append(fault)

    def check_targets(self) -> None:
        for flow in self.registry.flows:
            known = {str(name).lower() for name in (*self.registry.tables, *self.registry.sinks)}
            if str(flow.target).lower() not in known:
                near = did_you_mean(str(flow.target), [str(name) for name in self.registry.tables])
                message = f"flow `{flow.name}` writes to {flow.target}, which is not declared{near}"
                fix = "declare it: create_streaming_table(...) before the flow"
                self.faults.append(DeclarationError("TARGET_NOT_FOUND", message, flow.location, fix))

    def _resolve(self, dataset: Table | View | Sink) -> None:
        name = dataset.name
        if name in self.nodes:
            return
        if name in self._failed:
            raise _Unresolved
        if name in self._under_way:
            path = [str(n) for n in self._under_way[self._under_way.index(name) :]] + [str(name)]
            message = f"datasets read each other in a circle: {' <- '.join(path)}"
            raise DeclarationError(
                "CIRCULAR_DEPENDENCY", message, dataset.location, "let one of them read another source"
            )
        self._under_way.append(name)
        try:
            self.nodes[name] = self._node(dataset)
        except (_Unresolved, DeclarationError):
            self._failed.add(name)
            raise
        finally:
            self._under_way.pop()

    def _node(self, dataset: Table | View | Sink) -> Node:
        match dataset:
            case View():
                return self._view(dataset)
            case Table():
                return self._table(dataset)
            case Sink():
                flows = tuple(self._flow(flow) for flow in self.registry.flows_into(dataset.name))
                return Node(dataset, "sink", flows, StructType())

    def _view(self, view: View) -> Node:
        frame, plan = self._evaluate(QueryFlow(view.name, view.name, view.location, view.query))
        self._check_expectations(view, frame)
        self.catalog.register_view(view.name, frame)
        flow = ResolvedFlow(
            QueryFlow(view.name, view.name, view.location, view.query),
            plan.tables,
            plan.views,
            frame.isStreaming,
            frame.schema,
            None,
        )
        return Node(view, "view", (flow,), frame.schema)

    def _table(self, table: Table) -> Node:
        declared = declared_columns(table, self.catalog.session)
        if declared is not None:
            table = self._constrained(table, declared)
        flows = tuple(self._flow(flow) for flow in self.registry.flows_into(table.name))
        if not flows:
            message = f"streaming table {table.name} has no flow"
            fix = "add an append flow or an AUTO CDC flow with this target"
            raise DeclarationError("NO_FLOW", message, table.location, fix)
        kind = table.kind or ("streaming table" if flows[0].streaming else "materialized view")
        self._check_kind(table, kind, flows)
        schema = self._schema(table, kind, flows, declared)
        self._expectations_analyse(table, schema, flows)
        return Node(table, kind, flows, schema)

    def _check_kind(self, table: Table, kind: str, flows: tuple[ResolvedFlow, ...]) -> None:
        of_changes = [f for f in flows if not isinstance(f.flow, QueryFlow)]
        if of_changes and len(of_changes) < len(flows):
            message = f"{table.name} has append flows and AUTO CDC flows; a table takes one kind only"
            raise DeclarationError("MIXED_FLOWS", message, table.location, "give the append flows a table of their own")
        for flow in flows:
            is_once = isinstance(flow.flow, QueryFlow) and flow.flow.once
            if kind == "streaming table" and not flow.streaming and not is_once and isinstance(flow.flow, QueryFlow):
                message = f"flow `{flow.flow.name}` of streaming table {table.name} is a batch query"
                fix = "read its source by spark.readStream (in SQL: STREAM(name)), or say once=True"
                raise DeclarationError("BATCH_QUERY_FOR_STREAMING_TABLE", message, flow.flow.location, fix)
            if kind == "materialized view" and flow.streaming:
                message = f"materialized view {table.name} has a streaming query"
                fix = "read its sources by spark.read, or declare it by @table"
                raise DeclarationError("STREAMING_QUERY_FOR_MATERIALIZED_VIEW", message, flow.flow.location, fix)

    def _constrained(self, table: Table, declared: Columns) -> Table:
        """The table with its declared conditions as the properties by which Delta enforces them."""
        for key in declared.not_enforced:
            self.registry.notice(f"key `{key}` of {table.name} is for readers only: nothing enforces it")
        checks = {f"delta.constraints.{name}": condition for name, condition in declared.checks.items()}
        return replace(table, table_properties=checks | dict(table.table_properties))

    def _schema(self, table: Table, kind: str, flows: tuple[ResolvedFlow, ...], declared: Columns | None) -> StructType:
        schemas = [flow.schema for flow in flows]
        if kind == "streaming table" and table.name in self.stored:
            schemas.insert(0, self.stored[table.name])
        merged = schemas[0]
        for schema in schemas[1:]:
            merged = merge_schemas(table, merged, schema)
        if declared is not None:
            return merge_schemas(table, declared.schema, merged, closed=True)
        # That today's query gives no null is no promise of the table's: only a declaration is.
        return nullable(merged) if all(isinstance(flow.flow, QueryFlow) for flow in flows) else merged

    def _flow(self, flow: Flow) -> ResolvedFlow:
        match flow:
            case QueryFlow():
                frame, plan = self._evaluate(flow)
                self._check_streamed_from(flow, plan)
                inputs, views, query = plan.tables, plan.views, _hash(plan)
                print_ = _fingerprint(plan)
                own = (frame.isStreaming, frame.schema, print_)
                return ResolvedFlow(flow, inputs, views, *own, query=query, folders=plan.folders)
            case AutoCdcFlow():
                return self._auto_cdc(flow)
            case SnapshotCdcFlow():
                return self._snapshots(flow)

    def _auto_cdc(self, flow: AutoCdcFlow) -> ResolvedFlow:
        spark = self.catalog.session
        streaming = self._streams(flow)

        def source() -> DataFrame:
            return spark.readStream.table(flow.source) if streaming else spark.read.table(flow.source)

        frame, plan = self._evaluate(QueryFlow(flow.name, flow.target, flow.location, source))
        self._check_streamed_from(flow, plan)
        return self._applied(flow, frame, plan, auto_cdc.resolve(flow, frame), streaming)

    def _streams(self, flow: AutoCdcFlow) -> bool:
        """False for a `once` flow over a batch view: the one case in which the source need not be a stream."""
        dataset = self.registry.find(flow.source)
        if not isinstance(dataset, View):
            return True
        self._resolve(dataset)
        streaming = self.nodes[dataset.name].flows[0].streaming
        if not streaming and not flow.once:
            message = f"flow `{flow.name}` applies changes from view {flow.source}, which is a batch query"
            fix = "let the view read by spark.readStream, or say once=True"
            raise DeclarationError("AUTOCDC_SOURCE_NOT_STREAMING", message, flow.location, fix)
        return streaming

    def _snapshots(self, flow: SnapshotCdcFlow) -> ResolvedFlow:
        spark = self.catalog.session
        version: list[object] = [datetime.now(UTC)]

        def source() -> DataFrame:
            if isinstance(flow.source, str):
                return spark.read.table(flow.source)
            found = flow.source(self.latest_version(flow.target))
            if found is None and flow.target not in self.stored:
                message = f"flow `{flow.name}`: its function gives no snapshot, and there was none before"
                fix = "let it give the first snapshot when it is called with None"
                raise DeclarationError("NO_SNAPSHOT", message, flow.location, fix)
            if found is None:
                stored = self.stored[flow.target]
                version[0] = self.latest_version(flow.target)
                columns = [field for field in stored.fields if field.name not in (START_AT, END_AT)]
                return spark.createDataFrame([], StructType(columns))
            version[0] = found[1]
            return found[0]

        frame, plan = self._evaluate(QueryFlow(flow.name, flow.target, flow.location, source))
        typed = with_version(frame, version[0])
        changes = auto_cdc.resolve(as_auto_cdc(flow), typed)
        return self._applied(flow, frame, plan, changes, False)

    def _applied(self, flow: Flow, frame: DataFrame, plan: Plan, changes: ChangeArgs, streaming: bool) -> ResolvedFlow:
        table = self.registry.tables.get(flow.target) if isinstance(flow.target, TableName) else None
        if table is not None:
            self._check_expectations(table, frame)
        if flow.target in self.stored:
            self._check_nested(flow, changes, self.stored[changes.target])
        schema = changes.target_schema
        own = (streaming, schema, _fingerprint(plan), changes)
        return ResolvedFlow(flow, plan.tables, plan.views, *own, folders=plan.folders)

    def _check_nested(self, flow: Flow, changes: ChangeArgs, stored: StructType) -> None:
        # An update of an SCD type 1 row sets whole columns: a nested field that the source lacks would be lost.
        if changes.scd_type == 2:
            return
        new = {field.name.lower(): field.dataType for field in changes.source_columns.fields}
        old = {field.name.lower(): field.dataType for field in stored.fields}
        lacking = [path for name in new if name in old for path in missing_nested(old[name], new[name], name)]
        if lacking:
            message = f"target {changes.target} has {', '.join(lacking)}, which the source of flow `{flow.name}` lacks"
            fix = f"give the field in the source (null where unknown), or rebuild with --full-refresh {changes.target}"
            raise DeclarationError("INCOMPATIBLE_DATA_FOR_TABLE.CANNOT_FIND_DATA", message, flow.location, fix)

    def _evaluate(self, flow: QueryFlow) -> tuple[DataFrame, Plan]:
        seen: set[str] = set()
        while True:
            try:
                frame = flow.query()
                if not isinstance(frame, DataFrame):
                    message = f"`{flow.name}` returns {type(frame).__name__}, not a DataFrame"
                    raise DeclarationError("NOT_A_DATAFRAME", message, flow.location, "return the query's DataFrame")
                return frame, read_plan(frame, self.catalog.real_name, str(self.catalog.scratch))
            except AnalysisException as error:
                missing = _missing_dataset(error)
                if missing is None or (condition := f"{error.getCondition()} {missing}") in seen:
                    raise _query_failed(flow, error) from error
                seen.add(condition)
                self._bring(missing, flow, error)
            except (DeclarationError, _Unresolved):
                raise
            except Exception as error:
                raise _query_failed(flow, error) from error

    def _bring(self, name: str, reader: QueryFlow, error: AnalysisException) -> None:
        split = parts(name)
        dataset = self.registry.find(name)
        full = self.registry.name(name)
        if dataset is not None:
            self._resolve(dataset)
        # Only what is read gets a stand-in; to make one takes as long as a query's analysis.
        if isinstance(dataset, Table):
            self.catalog.register_placeholder(dataset.name, self.nodes[dataset.name].schema)
        elif dataset is None and full in self.stored:
            self.catalog.register_placeholder(full, self.stored[full])
        if dataset is not None or full in self.stored:
            if len(split) > 2:
                self._name_catalog(split[0], reader)
            elif split[0].lower() == LIVE and not isinstance(dataset, View):
                self.catalog.name_under_live(split[-1], full)
            return
        known = [str(d) for d in (*self.registry.tables, *self.registry.views)]
        short = [d.table for d in self.registry.tables if d.schema == self.registry.schema]
        message = f"`{reader.name}` reads {name}, which no source file declares{did_you_mean(name, [*known, *short])}"
        raise DeclarationError("DATASET_NOT_FOUND", message, reader.location) from error

    def _name_catalog(self, name: str, reader: QueryFlow) -> None:
        if not self.catalog.name_catalog(name):
            message = f"`{reader.name}` names the catalog {name}, and there is a schema of this name too"
            fix = f"leave the catalog out of the name: {name}.table is then the schema's"
            raise DeclarationError("CATALOG_NAMED_AS_A_SCHEMA", message, reader.location, fix)

    def _check_streamed_from(self, flow: Flow, plan: Plan) -> None:
        for name in plan.streamed_tables:
            node = self.nodes.get(name)
            if node is not None and node.is_changed_in_place and not plan.reads_changes_of(name):
                what = "a materialized view" if node.kind == "materialized view" else "the target of an AUTO CDC flow"
                message = f"flow `{flow.name}` streams from {name}, {what}: its rows are changed, not only added"
                fix = f"read {name} as a whole (spark.read.table) in a materialized view"
                raise DeclarationError("STREAMING_READ_OF_CHANGING_TABLE", message, flow.location, fix)

    def _check_expectations(self, dataset: Table | View, frame: DataFrame) -> None:
        for expectation in dataset.expectations:
            try:
                frame.select(expectation.column.cast("boolean")).schema  # noqa: B018
            except Exception as error:
                named = f"expectation `{expectation.name}` of {dataset.name} ({expectation.text})"
                message = f"{named}: {_first_line(error)}"
                raise DeclarationError("EXPECTATION_NOT_VALID", message, dataset.location) from error

    def _expectations_analyse(self, table: Table, schema: StructType, flows: tuple[ResolvedFlow, ...]) -> None:
        if table.expectations and all(isinstance(f.flow, QueryFlow) for f in flows):
            self._check_expectations(table, self.catalog.session.createDataFrame([], schema))


def _missing_dataset(error: AnalysisException) -> str | None:
    told = error.getMessageParameters() or {}
    match error.getCondition():
        case "TABLE_OR_VIEW_NOT_FOUND":
            return ".".join(map(_requoted, parts(told.get("relationName", ""))))
        case "REQUIRES_SINGLE_PART_NAMESPACE":
            named = parts(told.get("identifier", ""))
            return ".".join(map(_requoted, named)) if len(named) == 3 else None
    return None


def _requoted(part: str) -> str:
    return quote(part) if "." in part or "`" in part else part


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]


def _query_failed(flow: QueryFlow, error: Exception) -> DeclarationError:
    message = f"`{flow.name}` cannot be analysed: {type(error).__name__}: {_first_line(error)}"
    return DeclarationError("QUERY_FAILED", message, _place_in_query(flow, error))


def _place_in_query(flow: QueryFlow, error: Exception) -> SourceLocation:
    """The line of the query that failed, where it is known; else that of its declaration."""
    file = flow.location.file
    if file.endswith(".sql"):
        # There Spark counts the file's own lines.
        told = re.search(r"[;(] ?line (\d+),? pos", str(error))
        return SourceLocation(file, int(told[1])) if told else flow.location
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
    return SourceLocation(file, lines[-1] or flow.location.line) if lines else flow.location


def _fingerprint(plan: Plan) -> str | None:
    if plan.reads_outside or re.search(r"\b(current_(date|timestamp|time)|now|rand|randn|uuid)\(", plan.text):
        return None
    return _hash(plan)


def _hash(plan: Plan) -> str:
    return hashlib.sha256(plan.text.encode()).hexdigest()
