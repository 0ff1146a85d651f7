"""Resolves one flow: evaluates its query and finds its inputs, schema and, for AUTO CDC, its arguments."""

import hashlib
import json
from collections.abc import Callable
from datetime import UTC, datetime

from pyspark.sql import DataFrame
from pyspark.sql.types import StructType

from dlt_local.auto_cdc import args as auto_cdc
from dlt_local.auto_cdc.args import ChangeArgs
from dlt_local.auto_cdc.snapshots import as_auto_cdc, with_version
from dlt_local.declarations.elements import AutoCdcFlow, Flow, QueryFlow, SnapshotCdcFlow, View
from dlt_local.errors import DeclarationError
from dlt_local.graph.context import Require, ResolutionContext
from dlt_local.graph.evaluation import EvaluatedQuery, Evaluator
from dlt_local.graph.graph import QueryHashes, ResolvedFlow
from dlt_local.graph.output_modes import is_rewritten
from dlt_local.graph.query_identity import settings_of_results
from dlt_local.graph.query_inputs import Plan
from dlt_local.graph.validations import check_expectations, check_streamed_from
from dlt_local.names import END_AT, START_AT


class FlowResolver:
    """Resolves flows of every kind."""

    def __init__(self, context: ResolutionContext, evaluator: Evaluator, require: Require) -> None:
        self._context = context
        self._spark = context.catalog.session
        self._evaluator = evaluator
        self._require = require
        self._settings = json.dumps(settings_of_results(self._spark))

    def resolve(self, flow: Flow) -> ResolvedFlow:
        """Evaluate the flow's query and check what it reads.

        Raises:
            DeclarationError: the query or an argument is at fault.
            Unresolved: a dataset that it reads cannot be resolved.
        """
        match flow:
            case QueryFlow():
                return self._query_flow(flow)
            case AutoCdcFlow():
                return self._auto_cdc_flow(flow)
            case SnapshotCdcFlow():
                return self._snapshot_flow(flow)

    def _query_flow(self, flow: QueryFlow) -> ResolvedFlow:
        query = self._evaluator.evaluate(flow)
        self._check_sources(flow, query.plan)
        is_table = flow.target in self._context.registry.tables
        return ResolvedFlow(
            flow=flow,
            inputs=query.plan.tables,
            views=query.plan.views,
            streaming=query.frame.isStreaming,
            schema=query.frame.schema,
            make_hashes=self._hashes(query),
            earlier=query.earlier,
            files=query.plan.files,
            kafka=query.plan.kafka,
            is_rewritten=query.frame.isStreaming and is_rewritten(flow, query.frame, is_table),
        )

    def _hashes(self, query: EvaluatedQuery, *, names_query: bool = True) -> Callable[[], QueryHashes]:
        """Makes the query's hashes: the fingerprint with the conf, and with the rules of the views that it reads.

        Those drop rows.
        """
        views = [dataset for name in query.plan.views if isinstance(dataset := self._context.registry.find(name), View)]
        rules = [self._require(view).rules for view in views]

        def make() -> QueryHashes:
            parts = [query.fingerprint, self._settings, *rules]
            known = None if None in parts else hashlib.sha256(json.dumps(parts).encode()).hexdigest()
            return QueryHashes(known, query.identity.hash if names_query else "")

        return make

    def _auto_cdc_flow(self, flow: AutoCdcFlow) -> ResolvedFlow:
        streaming = self._is_source_streaming(flow)

        def source() -> DataFrame:
            return self._spark.readStream.table(flow.source) if streaming else self._spark.read.table(flow.source)

        query = self._evaluator.evaluate(QueryFlow(flow.name, flow.target, flow.location, source))
        self._check_sources(flow, query.plan)
        if streaming:
            is_rewritten(flow, query.frame, is_table=False)
        return self._change_flow(flow, query, auto_cdc.resolve(flow, query.frame), streaming)

    def _is_source_streaming(self, flow: AutoCdcFlow) -> bool:
        """False only for a `once` flow over a batch view; every other source must be a stream."""
        dataset = self._context.registry.find(flow.source)
        if not isinstance(dataset, View):
            return True
        streaming = self._require(dataset).flows[0].streaming
        if not streaming and not flow.once:
            message = f"flow `{flow.name}` applies changes from view {flow.source}, which is a batch query"
            fix = "read with spark.readStream in the view, or set once=True"
            raise DeclarationError("AUTOCDC_SOURCE_NOT_STREAMING", message, flow.location, fix)
        return streaming

    def _snapshot_flow(self, flow: SnapshotCdcFlow) -> ResolvedFlow:
        version: object = datetime.now(UTC)

        def source() -> DataFrame:
            nonlocal version
            if isinstance(flow.source, str):
                return self._spark.read.table(flow.source)
            latest = self._context.latest_version(flow.target)
            found = flow.source(latest)
            if found is None:
                version = latest
                return self._no_new_snapshot(flow)
            frame, version = found
            return frame

        query = self._evaluator.evaluate(QueryFlow(flow.name, flow.target, flow.location, source))
        changes = auto_cdc.resolve(as_auto_cdc(flow), with_version(query.frame, version))
        return self._change_flow(flow, query, changes, streaming=False)

    def _no_new_snapshot(self, flow: SnapshotCdcFlow) -> DataFrame:
        """An empty frame with the target's columns."""
        stored = self._context.stored.get(flow.target)
        if stored is None:
            message = f"flow `{flow.name}`: the snapshot function returned None, but no snapshot was applied before"
            fix = "return the first snapshot when the function is called with None"
            raise DeclarationError("NO_SNAPSHOT", message, flow.location, fix)
        columns = [field for field in stored.fields if field.name not in (START_AT, END_AT)]
        return self._spark.createDataFrame([], StructType(columns))

    def _change_flow(
        self, flow: AutoCdcFlow | SnapshotCdcFlow, query: EvaluatedQuery, changes: ChangeArgs, streaming: bool
    ) -> ResolvedFlow:
        table = self._context.registry.tables.get(flow.target)
        if table is not None:
            check_expectations(table, query.frame)
        return ResolvedFlow(
            flow=flow,
            inputs=query.plan.tables,
            views=query.plan.views,
            streaming=streaming,
            schema=changes.target_schema,
            make_hashes=self._hashes(query, names_query=False),
            earlier=query.earlier,
            changes=changes,
            files=query.plan.files,
            kafka=query.plan.kafka,
        )

    def _check_sources(self, flow: Flow, plan: Plan) -> None:
        for name in plan.streamed_tables:
            table = self._context.registry.tables.get(name)
            if table is not None and not plan.reads_changes_of(name):
                check_streamed_from(flow, self._require(table))
