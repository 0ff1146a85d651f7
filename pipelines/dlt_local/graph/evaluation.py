"""Evaluates one query over placeholders: empty tables with the names and schemas of the pipeline's datasets."""

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession

from dlt_local.declarations.elements import Dataset, QueryFlow, Table, View
from dlt_local.declarations.registry import read_by
from dlt_local.errors import DeclarationError
from dlt_local.graph.context import Require, ResolutionContext, Unresolved
from dlt_local.graph.graph import EarlierHash
from dlt_local.graph.query_errors import missing_dataset, query_failed
from dlt_local.graph.query_identity import CUT, QueryIdentity, query_identity, stream_identity
from dlt_local.graph.query_inputs import Plan, read_plan, without_numbers
from dlt_local.graph.table_names import TableNames, TableNotFound, calling_on_read
from dlt_local.names import parts
from dlt_local.spark import jvm, query_calls
from dlt_local.spark.catalog import LIVE, Catalog
from dlt_local.spark.conf_overrides import overridden

_MOST_NESTED = 16
_CHANGES_BY_ITSELF = re.compile(r"\b(current_(date|timestamp|time)|now|rand|randn|uuid)\(")


@dataclass(frozen=True)
class EvaluatedQuery:
    """A query's analysed frame and what it reads."""

    frame: DataFrame
    plan: Plan
    identify: Callable[[], QueryIdentity]
    earlier: EarlierHash | None

    @cached_property
    def identity(self) -> QueryIdentity:
        """What tells it from every other query."""
        return self.identify()

    @property
    def fingerprint(self) -> str | None:
        """The query's hash, or None if the result can change although query and inputs do not."""
        return self.identity.hash if self.identity.is_lasting and not self.plan.reads_outside else None


def evaluated(frame: DataFrame, catalog: Catalog, *, earlier: bool = False) -> EvaluatedQuery:
    """Analyse a frame; with ``earlier``, make the hash too that the version before would have given it."""
    plan = jvm.analyzed_plan(frame)
    text = jvm.plan_text(plan)
    found = read_plan(plan, without_numbers(text), catalog.real_name, str(catalog.scratch))
    before = _earlier(frame, found, catalog.session) if earlier else None

    def identify() -> QueryIdentity:
        if frame.isStreaming:
            return stream_identity(frame.sparkSession, plan, text)
        return query_identity(plan, text, jvm.plan_json(plan))

    # The text of a stream's plan is long, and Python functions are read while the modules they come from are imported.
    if frame.isStreaming or jvm.calls_python(frame.sparkSession, plan):
        identity = identify()
        return EvaluatedQuery(frame, found, lambda: identity, before)
    return EvaluatedQuery(frame, found, identify, before)


def _earlier(frame: DataFrame, found: Plan, active: SparkSession) -> EarlierHash:
    with overridden(active, CUT):
        text = without_numbers(jvm.plan_text(jvm.analyzed_plan(frame)))
    is_lasting = not found.reads_outside and not _CHANGES_BY_ITSELF.search(text)
    return EarlierHash(hashlib.sha256(text.encode()).hexdigest(), is_lasting)


class Evaluator:
    """Evaluates queries; a dataset that one of them names is resolved on demand, so declarations need no order."""

    def __init__(self, context: ResolutionContext, require: Require) -> None:
        self._registry = context.registry
        self._catalog = context.catalog
        self._stored = context.stored
        self._made_before = context.made_before
        self._names = TableNames(context.registry, context.catalog)
        self._require = require
        self._nested = 0

    def evaluate(self, flow: QueryFlow) -> EvaluatedQuery:
        """Run the query function, again after each dataset that turned out to be missing.

        Raises:
            DeclarationError: the query fails, names an unknown dataset, or returns no frame.
            Unresolved: a dataset that it reads cannot be resolved.
        """
        provided: set[str] = set()
        while True:
            try:
                return self._run(flow)
            except AnalysisException as error:
                missing = missing_dataset(error)
                if missing is None or (attempt := f"{error.getCondition()} {missing}") in provided:
                    raise query_failed(flow, error) from error
                provided.add(attempt)
                self._provide(missing, flow, error)
            except TableNotFound as error:
                raise self._names.not_found(error.name, flow, outside=True) from error
            except (DeclarationError, Unresolved):
                raise
            except Exception as error:
                raise query_failed(flow, error) from error

    def _run(self, flow: QueryFlow) -> EvaluatedQuery:
        # Whether the frame that comes of it has them or not.
        reads: list[Table | View] = []

        def on_read(name: tuple[str, ...], dataset: Table | View) -> None:
            reads.append(dataset)
            self._provide_early(name, dataset)

        call = self._catalog.session.call()
        conf = self._registry.conf_of(flow)
        with read_by(flow.target), calling_on_read(on_read), query_calls.calling(call, conf):
            frame = flow.query()
        self._names.views_of_calls |= call.views
        if not isinstance(frame, DataFrame):
            message = f"`{flow.name}` returns {type(frame).__name__}, not a DataFrame"
            raise DeclarationError("NOT_A_DATAFRAME", message, flow.location, "return the query's DataFrame")
        query = evaluated(call.result(frame), self._catalog, earlier=self._made_before(flow.target))
        others = [dataset for dataset in reads if str(dataset.name) != str(flow.target)]
        views = tuple(view for view in query.plan.views if view.lower() not in call.views)
        return replace(query, plan=self._with_all_reads(replace(query.plan, views=views), others))

    def _with_all_reads(self, plan: Plan, reads: Sequence[Table | View]) -> Plan:
        """The plan with what the query function read besides: a table of which it used the columns, say."""
        tables, views = dict.fromkeys(plan.tables), dict.fromkeys(plan.views)
        for dataset in reads:
            if isinstance(dataset, Table):
                tables.setdefault(dataset.name)
            elif dataset.name not in views:
                (flow,) = self._require(dataset).flows
                tables |= dict.fromkeys(flow.inputs)
                views |= dict.fromkeys((*flow.views, dataset.name))
        return replace(plan, tables=tuple(tables), views=tuple(views))

    def _provide_early(self, name: tuple[str, ...], dataset: Table | View) -> None:
        """Give the catalog a dataset before Spark misses it, which costs more than the analysis of many a query."""
        is_plain = len(name) <= 2 and name[0].lower() != LIVE
        # Each level of datasets that are resolved within a query takes a dozen of Python's thousand frames.
        if not is_plain or self._nested > _MOST_NESTED:
            return
        self._nested += 1
        try:
            with query_calls.outside():
                self._register(dataset)
        finally:
            self._nested -= 1

    def _register(self, dataset: Dataset) -> None:
        node = self._require(dataset)
        # Placeholders are made only for what is read: making one takes as long as analysing a query.
        if isinstance(dataset, Table):
            self._catalog.register_placeholder(dataset.name, node.schema)

    def _provide(self, name: str, reader: QueryFlow, error: AnalysisException) -> None:
        """Give the catalog a dataset that it does not know under this name."""
        dataset = self._registry.find(name)
        full_name = self._registry.own_name(name)
        if dataset is not None:
            self._register(dataset)
        elif full_name is not None and full_name in self._stored:
            self._catalog.register_placeholder(full_name, self._stored[full_name])
        else:
            raise self._names.not_found(name, reader) from error
        split = parts(name)
        if len(split) > 2:
            self._provide_catalog(split[0], reader)
        elif split[0].lower() == LIVE and not isinstance(dataset, View) and full_name is not None:
            self._catalog.name_under_live(split[-1], full_name)

    def _provide_catalog(self, name: str, reader: QueryFlow) -> None:
        if not self._catalog.name_catalog(name):
            message = f"`{reader.name}` names the catalog {name}, but a schema has the same name"
            fix = f"leave out the catalog: {name}.table then means the schema's table"
            raise DeclarationError("CATALOG_NAMED_AS_A_SCHEMA", message, reader.location, fix)
