"""Resolves a pipeline's graph: which dataset reads which, in what order they run, and that there is no cycle.

A query that names a dataset not yet resolved is suspended until that dataset is, so declarations need no order.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace

from pyspark.sql import DataFrame
from pyspark.sql.types import StructType

from dlt_local.declarations.ddl import Columns
from dlt_local.declarations.elements import Dataset, QueryFlow, Sink, Table, View
from dlt_local.declarations.registry import Registry, registration
from dlt_local.errors import DeclarationError
from dlt_local.graph.context import ResolutionContext, Unresolved
from dlt_local.graph.evaluation import Evaluator, evaluated
from dlt_local.graph.flow_resolution import FlowResolver
from dlt_local.graph.graph import Graph, Node, ResolvedFlow
from dlt_local.graph.query_identity import IN_FULL
from dlt_local.graph.schemas import declared_columns, table_schema, with_wider_types
from dlt_local.graph.validations import check_expectations, check_flows, check_nested_fields, unknown_targets
from dlt_local.names import TableName
from dlt_local.spark.catalog import Catalog
from dlt_local.spark.conf_overrides import overridden


def resolve(
    registry: Registry,
    catalog: Catalog,
    stored: Mapping[TableName, StructType],
    latest_version: Callable[[TableName], object],
    made_before: Callable[[TableName | str], bool] = lambda _: False,
) -> tuple[Graph, list[Exception]]:
    """Analyse every query and order the datasets.

    Args:
        registry: the declarations.
        catalog: where placeholders are registered meanwhile; it is empty afterwards.
        stored: the schemas of tables from earlier updates; a streaming table keeps its columns.
        latest_version: the version of the snapshot last applied to a target, None before the first.
        made_before: True for a table or sink whose last update was by a version with another form of hash.

    Returns:
        The graph of the datasets that could be resolved, and all faults.
    """
    resolver = _Resolver(ResolutionContext(registry, catalog, stored, latest_version, made_before))
    with registration(registry), overridden(catalog.session, IN_FULL):
        datasets: list[Dataset] = [*registry.views.values(), *registry.tables.values(), *registry.sinks.values()]
        for dataset in datasets:
            resolver.try_resolve(dataset)
    catalog.clear()
    graph = Graph(tuple(resolver.nodes.values()), tuple(registry.notices), resolver.refused, resolver.widened)
    return graph, [*resolver.faults, *unknown_targets(registry)]


class _Resolver:
    def __init__(self, context: ResolutionContext) -> None:
        self.nodes: dict[TableName | str, Node] = {}
        self.faults: list[Exception] = []
        self.refused: dict[str, DeclarationError] = {}
        self.widened: dict[str, DeclarationError] = {}
        self._context = context
        self._evaluator = Evaluator(context, self._require)
        self._flows = FlowResolver(context, self._evaluator, self._require)
        self._failed: set[TableName | str] = set()
        self._in_progress: list[TableName | str] = []

    def try_resolve(self, dataset: Dataset) -> None:
        """Resolve the dataset, or record its fault."""
        try:
            self._require(dataset)
        except Unresolved:
            pass
        except DeclarationError as fault:
            self.faults.append(fault)

    def _require(self, dataset: Dataset) -> Node:
        name = dataset.name
        if name in self.nodes:
            return self.nodes[name]
        if name in self._failed:
            raise Unresolved
        if name in self._in_progress:
            raise self._cycle(dataset)
        self._in_progress.append(name)
        try:
            self.nodes[name] = self._node(dataset)
        except (Unresolved, DeclarationError):
            self._failed.add(name)
            raise
        finally:
            self._in_progress.pop()
        return self.nodes[name]

    def _cycle(self, dataset: Dataset) -> DeclarationError:
        cycle = [*self._in_progress[self._in_progress.index(dataset.name) :], dataset.name]
        message = f"datasets form a cycle: {' <- '.join(str(name) for name in cycle)}"
        fix = "let one of them read another source"
        return DeclarationError("CIRCULAR_DEPENDENCY", message, dataset.location, fix)

    def _node(self, dataset: Dataset) -> Node:
        match dataset:
            case View():
                return self._view(dataset)
            case Table():
                return self._table(dataset)
            case Sink():
                return Node(dataset, "sink", self._flows_into(dataset.name), StructType())

    def _flows_into(self, target: TableName | str) -> tuple[ResolvedFlow, ...]:
        return tuple(self._flows.resolve(flow) for flow in self._context.registry.flows_into(target))

    def _view(self, view: View) -> Node:
        query = self._evaluator.evaluate(view.flow)
        check_expectations(view, query.frame)
        rules = self._rules(view, query.frame)
        self._context.catalog.register_view(view.name, query.frame)
        resolved = ResolvedFlow(
            flow=view.flow,
            inputs=query.plan.tables,
            views=query.plan.views,
            streaming=query.frame.isStreaming,
            schema=query.frame.schema,
        )
        return Node(view, "view", (resolved,), query.frame.schema, rules)

    def _rules(self, dataset: Table | View, frame: DataFrame) -> str | None:
        """Hash of a dataset's expectations; None if what they say may change."""
        if not dataset.expectations:
            return ""
        conditions = [expectation.column.cast("boolean") for expectation in dataset.expectations]
        query = evaluated(frame.select(*conditions), self._context.catalog)
        named = [[expectation.name, expectation.action] for expectation in dataset.expectations]
        return f"{query.identity.hash}{named}" if query.identity.is_lasting else None

    def _table(self, table: Table) -> Node:
        declared = declared_columns(table, self._context.catalog.session)
        if declared is not None:
            table = self._with_constraints(table, declared)
        flows = self._flows_into(table.name)
        if not flows:
            message = f"streaming table {table.name} has no flow"
            fix = "add an append flow or an AUTO CDC flow with this target"
            raise DeclarationError("NO_FLOW", message, table.location, fix)
        kind = table.kind or ("streaming table" if flows[0].streaming else "materialized view")
        check_flows(table, kind, flows)
        stored = self._context.stored.get(table.name) if kind == "streaming table" else None
        schema = table_schema(table, flows, None, declared)
        if stored is not None:
            stored, refusal = with_wider_types(table, flows, stored)
            if refusal is not None:
                self.widened[str(table.name)] = refusal
            try:
                schema = table_schema(table, flows, stored, declared)
                for flow in flows:
                    if flow.changes is not None:
                        check_nested_fields(flow.flow, flow.changes, stored)
            except DeclarationError as conflict:
                # What the table has stored stops this table only, and what depends on it.
                self.refused[str(table.name)] = conflict
        # Those of an AUTO CDC target are conditions on its source, and were checked with the flow.
        if table.expectations and all(isinstance(flow.flow, QueryFlow) for flow in flows):
            rows = self._context.catalog.session.createDataFrame([], schema)
            check_expectations(table, rows)
            if kind == "materialized view":
                return Node(table, kind, flows, schema, self._rules(table, rows))
        return Node(table, kind, flows, schema)

    def _with_constraints(self, table: Table, declared: Columns) -> Table:
        """The table with its CHECK constraints as the table properties by which Delta enforces them."""
        for key in declared.not_enforced:
            self._context.registry.notice(f"key `{key}` of {table.name} is informational: nothing enforces it")
        checks = {f"delta.constraints.{name}": condition for name, condition in declared.checks.items()}
        return replace(table, table_properties=checks | dict(table.table_properties))
