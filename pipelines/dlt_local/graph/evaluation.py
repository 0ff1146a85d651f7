"""Evaluates one query over placeholders: empty tables with the names and schemas of the pipeline's datasets."""

import hashlib
import re
from dataclasses import dataclass

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame

from dlt_local.declarations.elements import QueryFlow, Table, View
from dlt_local.errors import DeclarationError, did_you_mean
from dlt_local.graph.context import Require, ResolutionContext, Unresolved
from dlt_local.graph.query_errors import missing_dataset, query_failed
from dlt_local.graph.query_inputs import Plan, read_plan
from dlt_local.names import parts
from dlt_local.spark.catalog import LIVE

_CHANGES_BY_ITSELF = re.compile(r"\b(current_(date|timestamp|time)|now|rand|randn|uuid)\(")


@dataclass(frozen=True)
class EvaluatedQuery:
    """A query's analysed frame and what it reads."""

    frame: DataFrame
    plan: Plan

    @property
    def hash(self) -> str:
        """Hash of the analysed plan."""
        return hashlib.sha256(self.plan.text.encode()).hexdigest()

    @property
    def fingerprint(self) -> str | None:
        """The hash, or None if the result can change although query and inputs do not."""
        return None if self.plan.reads_outside or _CHANGES_BY_ITSELF.search(self.plan.text) else self.hash


class Evaluator:
    """Evaluates queries; a dataset that one of them names is resolved on demand, so declarations need no order."""

    def __init__(self, context: ResolutionContext, require: Require) -> None:
        self._registry = context.registry
        self._catalog = context.catalog
        self._stored = context.stored
        self._require = require

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
            except (DeclarationError, Unresolved):
                raise
            except Exception as error:
                raise query_failed(flow, error) from error

    def _run(self, flow: QueryFlow) -> EvaluatedQuery:
        frame = flow.query()
        if not isinstance(frame, DataFrame):
            message = f"`{flow.name}` returns {type(frame).__name__}, not a DataFrame"
            raise DeclarationError("NOT_A_DATAFRAME", message, flow.location, "return the query's DataFrame")
        return EvaluatedQuery(frame, read_plan(frame, self._catalog.real_name, str(self._catalog.scratch)))

    def _provide(self, name: str, reader: QueryFlow, error: AnalysisException) -> None:
        """Give the catalog a dataset that it does not know under this name."""
        dataset = self._registry.find(name)
        full_name = self._registry.name(name)
        # Placeholders are made only for what is read: making one takes as long as analysing a query.
        if dataset is not None:
            node = self._require(dataset)
            if isinstance(dataset, Table):
                self._catalog.register_placeholder(dataset.name, node.schema)
        elif full_name in self._stored:
            self._catalog.register_placeholder(full_name, self._stored[full_name])
        else:
            raise self._not_found(name, reader) from error
        split = parts(name)
        if len(split) > 2:
            self._provide_catalog(split[0], reader)
        elif split[0].lower() == LIVE and not isinstance(dataset, View):
            self._catalog.name_under_live(split[-1], full_name)

    def _not_found(self, name: str, reader: QueryFlow) -> DeclarationError:
        tables = self._registry.tables
        full = [str(dataset) for dataset in (*tables, *self._registry.views)]
        short = [table.table for table in tables if table.schema == self._registry.schema]
        message = f"`{reader.name}` reads {name}, which no source file declares{did_you_mean(name, [*full, *short])}"
        fix = "correct the name, or declare the dataset"
        return DeclarationError("DATASET_NOT_FOUND", message, reader.location, fix)

    def _provide_catalog(self, name: str, reader: QueryFlow) -> None:
        if not self._catalog.name_catalog(name):
            message = f"`{reader.name}` names the catalog {name}, but a schema has the same name"
            fix = f"leave out the catalog: {name}.table then means the schema's table"
            raise DeclarationError("CATALOG_NAMED_AS_A_SCHEMA", message, reader.location, fix)
