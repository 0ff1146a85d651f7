"""Collects what source files declare, one registry for one load of one pipeline."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from dlt_local.declarations.elements import AutoCdcFlow, ColumnLike, Dataset, Expectation, Flow, Sink, Table, View
from dlt_local.errors import DeclarationError, SourceLocation
from dlt_local.names import TableName, parts, table_name

_ENGINE = str(Path(__file__).parents[1])


@dataclass
class Registry:
    """The declarations of one pipeline, in the order in which its files made them."""

    schema: str
    spark: SparkSession
    tables: dict[TableName, Table] = field(default_factory=dict)
    views: dict[str, View] = field(default_factory=dict)
    sinks: dict[str, Sink] = field(default_factory=dict)
    flows: list[Flow] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    hooks: list[Callable[[dict[str, Any]], object]] = field(default_factory=list)

    def name(self, name: str) -> TableName:
        """The full name of a table that a source file calls ``name``."""
        return table_name(name, self.schema)

    def add(self, dataset: Dataset) -> None:
        """Take up a dataset.

        Raises:
            DeclarationError: another dataset has its name already; both places are named.
        """
        other = self._named_like(dataset)
        if other is not None:
            message = f"dataset {dataset.name} is declared twice: here and at {other.location}"
            raise DeclarationError("DUPLICATE_DATASET", message, dataset.location, "rename one of them")
        match dataset:
            case Table():
                self.tables[dataset.name] = dataset
            case View():
                self.views[dataset.name] = dataset
            case Sink():
                self.sinks[dataset.name] = dataset

    def _named_like(self, dataset: Dataset) -> Dataset | None:
        # Spark takes names without regard to case, so two that differ only in case are one.
        same_kind: list[Dataset] = [*self.tables.values(), *self.views.values(), *self.sinks.values()]
        return next((d for d in same_kind if str(d.name).lower() == str(dataset.name).lower()), None)

    def add_flow(self, flow: Flow) -> None:
        """Take up a flow.

        Raises:
            DeclarationError: another flow has its name already.
        """
        for other in self.flows:
            if other.name.lower() == flow.name.lower():
                message = f"flow `{flow.name}` is declared twice: here and at {other.location}"
                fix = "give one of them a name of its own (`name=`, with apply_changes `flow_name=`)"
                raise DeclarationError("DUPLICATE_FLOW", message, flow.location, fix)
        self.flows.append(flow)

    def restrict_last_flow(self, where: ColumnLike) -> None:
        """Give the flow taken up last its condition on the source's rows."""
        flow = self.flows[-1]
        assert isinstance(flow, AutoCdcFlow)
        self.flows[-1] = replace(flow, where=where)

    def add_expectation(self, dataset: TableName | str, expectation: Expectation) -> None:
        """Put an expectation on a dataset that is declared already (a decorator above `@table`)."""
        if isinstance(dataset, TableName):
            table = self.tables[dataset]
            self.tables[dataset] = replace(table, expectations=(expectation, *table.expectations))
        else:
            view = self.views[dataset]
            self.views[dataset] = replace(view, expectations=(expectation, *view.expectations))

    def notice(self, text: str) -> None:
        """Say once that something of a declaration has no effect locally."""
        if text not in self.notices:
            self.notices.append(text)

    def flows_into(self, target: TableName | str) -> tuple[Flow, ...]:
        """The flows that write to a table or sink, in the order of their declaration."""
        wanted = str(target).lower()
        return tuple(flow for flow in self.flows if str(flow.target).lower() == wanted)

    def find(self, name: str) -> Table | View | None:
        """The dataset that a query means by ``name``: a view by its bare name, else a table."""
        view = next((v for v in self.views.values() if v.name.lower() == parts(name)[-1].lower()), None)
        if view is not None and (len(parts(name)) == 1 or parts(name)[0].lower() == "live"):
            return view
        wanted = str(self.name(name)).lower()
        return next((t for t in self.tables.values() if str(t.name).lower() == wanted), None)


_current: ContextVar[Registry | None] = ContextVar("registry", default=None)


@contextmanager
def registration(registry: Registry) -> Iterator[None]:
    """Make ``registry`` the one that decorators and `dlt.read` speak to."""
    token = _current.set(registry)
    try:
        yield
    finally:
        _current.reset(token)


def current() -> Registry:
    """The registry of the pipeline that is being loaded or evaluated.

    Raises:
        DeclarationError: no pipeline is; the file was run by plain Python.
    """
    registry = _current.get()
    if registry is None:
        message = "a dataset can only be declared while a pipeline loads its source files"
        fix = "run the file by `python -m dlt_local run --source FILE --storage DIR`"
        raise DeclarationError("NO_PIPELINE", message, caller(), fix)
    return registry


_place: ContextVar[SourceLocation | None] = ContextVar("place", default=None)


@contextmanager
def standing_at(location: SourceLocation) -> Iterator[None]:
    """Let declarations stand at a place that no call stack tells: a statement of an SQL file."""
    token = _place.set(location)
    try:
        yield
    finally:
        _place.reset(token)


def caller() -> SourceLocation:
    """The nearest place outside the engine on the call stack, the user's own line; or the SQL statement's."""
    place = _place.get()
    if place is not None:
        return place
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_ENGINE):
        frame = frame.f_back
    return SourceLocation(frame.f_code.co_filename, frame.f_lineno)
