"""The registry: collects what the source files of one pipeline declare, in the order they declare it."""

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from pathlib import Path

from pyspark.sql import SparkSession

from dlt_local.declarations import compatibility
from dlt_local.declarations.elements import Dataset, EventHook, Expectation, Flow, QueryFlow, Sink, Table, View
from dlt_local.declarations.paths import PathMap
from dlt_local.errors import DeclarationError, SourceLocation
from dlt_local.names import NAME_FIX, InvalidName, TableName, check_name, check_part, parts, table_name

_ENGINE = str(Path(__file__).parents[1])


@dataclass
class Registry:
    """The declarations of one pipeline from one load of its source files."""

    schema: str
    """Where unqualified names belong."""
    spark: SparkSession
    tables: dict[TableName, Table] = field(default_factory=dict)
    views: dict[str, View] = field(default_factory=dict)
    sinks: dict[str, Sink] = field(default_factory=dict)
    flows: list[Flow] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    hooks: list[EventHook] = field(default_factory=list)
    catalog: str | None = None
    """The pipeline's own catalog, None if that is not said."""
    with_modules: Callable[[], AbstractContextManager[None]] = nullcontext
    """Makes a block in which the modules that source files import are there: for calling their functions."""
    on_secret: Callable[[str], None] = lambda _: None
    """Told of each secret that a source file reads, so that no message shows it."""
    path_map: PathMap = field(default_factory=PathMap)
    """Which local folders stand for folders of Databricks' storage."""
    _with_catalog: dict[TableName, dict[str, str]] = field(default_factory=dict, repr=False)
    """Dataset -> catalog -> the name as a source file declares it."""
    _taken_for_own: dict[str, str] = field(default_factory=dict, repr=False)
    """Catalog -> a name with it that is read, where the pipeline's catalog is not said."""
    _names: dict[str, TableName | str] = field(default_factory=dict, repr=False)
    """Name of a dataset in lower case -> as declared. Spark ignores case in names."""
    _flows: dict[str, Flow] = field(default_factory=dict, repr=False)
    """Name of a flow in lower case -> flow."""
    _flows_into: dict[str, list[Flow]] = field(default_factory=dict, repr=False)
    """Target in lower case -> the flows that write to it."""

    def name(self, name: str) -> TableName:
        """The full name of a table that a source file declares as ``name``.

        Raises:
            DeclarationError: it is no name.
        """
        with _named(caller()):
            check_name(name)
        full = table_name(name, self.schema)
        if len(split := parts(name)) > 2:
            self._with_catalog.setdefault(full, {}).setdefault(split[-3].lower(), name)
        return full

    def add(self, dataset: Dataset) -> None:
        """Register a dataset.

        Raises:
            DeclarationError: the name is already in use (the message names both locations), or is none.
        """
        if isinstance(dataset.name, str):
            with _named(dataset.location):
                check_part(dataset.name, dataset.name)
        other = self._same_name(dataset)
        if other is not None:
            self._check_catalogs(dataset, other)
            message = f"dataset {dataset.name} is declared twice: here and at {other.location}"
            raise DeclarationError("DUPLICATE_DATASET", message, dataset.location, "rename one of them")
        match dataset:
            case Table():
                self.tables[dataset.name] = dataset
            case View():
                self.views[dataset.name] = dataset
            case Sink():
                self.sinks[dataset.name] = dataset
        self._names[str(dataset.name).lower()] = dataset.name

    def _check_catalogs(self, dataset: Dataset, other: Dataset) -> None:
        spelt = self._with_catalog.get(dataset.name, {}) if isinstance(dataset.name, TableName) else {}
        if len(spelt) > 1:
            message = f"{' and '.join(sorted(spelt.values()))} would be one table ({other.location}):"
            message += " here the storage folder is the only catalog"
            fix = "give them different schemas, for this pipeline at least"
            raise DeclarationError("CATALOGS_NOT_SEPARATE", message, dataset.location, fix)

    def _same_name(self, dataset: Dataset) -> Dataset | None:
        match self._names.get(str(dataset.name).lower()):
            case None:
                return None
            case TableName() as table:
                return self.tables[table]
            case name:
                return self.views.get(name) or self.sinks[name]

    def add_flow(self, flow: Flow) -> None:
        """Register a flow.

        Raises:
            DeclarationError: another flow already has its name, or it is none.
        """
        with _named(flow.location):
            check_part(flow.name, flow.name)
        other = self._flows.get(flow.name.lower())
        if other is not None:
            message = f"flow `{flow.name}` is declared twice: here and at {other.location}"
            fix = "give one of them another name (`name=`; for apply_changes, `flow_name=`)"
            raise DeclarationError("DUPLICATE_FLOW", message, flow.location, fix)
        self.flows.append(flow)
        self._flows[flow.name.lower()] = flow
        self._flows_into.setdefault(str(flow.target).lower(), []).append(flow)

    def add_expectation(self, dataset: TableName | str, expectation: Expectation) -> None:
        """Add an expectation to a dataset that is already registered (a decorator above `@table`)."""
        if isinstance(dataset, TableName):
            table = self.tables[dataset]
            self.tables[dataset] = replace(table, expectations=(expectation, *table.expectations))
        else:
            view = self.views[dataset]
            self.views[dataset] = replace(view, expectations=(expectation, *view.expectations))

    def notice(self, text: str) -> None:
        """Record a notice about a declaration, once."""
        if text not in self.notices:
            self.notices.append(text)

    def notice_no_effect(self, name: str) -> None:
        """Record the notice of an argument or property that is accepted without effect; no other name has one."""
        text = compatibility.notice(name)
        if text is not None:
            self.notice(text)

    def flows_into(self, target: TableName | str) -> tuple[Flow, ...]:
        """The flows that write to a table or sink, in the order they were declared."""
        return tuple(self._flows_into.get(str(target).lower(), ()))

    def conf_of(self, flow: Flow) -> Mapping[str, str]:
        """The conf that a flow and its target declare; the flow's wins."""
        table = self.tables.get(flow.target) if isinstance(flow.target, TableName) else None
        conf = {} if table is None else dict(table.spark_conf)
        return conf | dict(flow.spark_conf) if isinstance(flow, QueryFlow) else conf

    def own_name(self, name: str) -> TableName | None:
        """The full name within this pipeline of a table that a query calls ``name``; None for another catalog's.

        Raises:
            DeclarationError: it is no name, or it has a catalog and nothing says whose that is.
        """
        with _named(caller()):
            full = table_name(name, self.schema)
        split = parts(name)
        if len(split) < 3:
            return full
        catalog, declared = split[-3].lower(), self._declared_in(full)
        if catalog in declared:
            return full
        if self.catalog is not None or declared:
            return full if not declared and catalog == str(self.catalog).lower() else None
        return self._taken(name, full, catalog)

    def _declared_in(self, full: TableName) -> set[str]:
        """The catalogs that the declarations of a dataset name."""
        wanted = str(full).lower()
        return {each for known, spelt in self._with_catalog.items() if str(known).lower() == wanted for each in spelt}

    def _taken(self, name: str, full: TableName, catalog: str) -> TableName | None:
        """The dataset that a name with a catalog must mean, as far as can be known without the pipeline's own."""
        if str(full).lower() == str(_reader.get()).lower():
            # Nothing reads itself.
            return None
        if self._declared(full) is None:
            return full
        others = [other for known, other in self._taken_for_own.items() if known != catalog]
        if others:
            message = f"{others[0]} and {name} are read, and it is not said which catalog is the pipeline's own"
            fix = "name it with --catalog (`catalog` of the bundle, or of LocalPipeline): other catalogs are outside"
            raise DeclarationError("CATALOG_NOT_KNOWN", message, caller(), fix)
        self._taken_for_own[catalog] = name
        self.notice(
            f"{name} is taken for the pipeline's own {full}, since the pipeline's catalog is not given: "
            f"pass --catalog {catalog} if it is, or the pipeline's own one if it is not"
        )
        return full

    def find(self, name: str) -> Table | View | None:
        """The dataset that a query calls ``name``: a view by its bare name, otherwise a table."""
        full = self.own_name(name)
        split = parts(name)
        # A view has no schema.
        view = self._names.get(split[-1].lower()) if len(split) == 1 or split[0].lower() == "live" else None
        if isinstance(view, str) and view in self.views:
            return self.views[view]
        declared = None if full is None else self._declared(full)
        return None if declared is None else self.tables[declared]

    def _declared(self, full: TableName) -> TableName | None:
        """The name as declared, whatever its letter case; None if no table has it."""
        declared = self._names.get(str(full).lower())
        return declared if isinstance(declared, TableName) else None


@contextmanager
def _named(location: SourceLocation) -> Iterator[None]:
    try:
        yield
    except InvalidName as error:
        raise DeclarationError("INVALID_DATASET_NAME", error.what, location, NAME_FIX) from None


_reader: ContextVar[TableName | str | None] = ContextVar("reader", default=None)


@contextmanager
def read_by(dataset: TableName | str) -> Iterator[None]:
    """Say which dataset the query in a block is for."""
    token = _reader.set(dataset)
    try:
        yield
    finally:
        _reader.reset(token)


_current: ContextVar[Registry | None] = ContextVar("registry", default=None)


@contextmanager
def registration(registry: Registry) -> Iterator[None]:
    """Make ``registry`` the current one for the duration of a block: decorators and `dlt.read` use it."""
    token = _current.set(registry)
    try:
        yield
    finally:
        _current.reset(token)


def current() -> Registry:
    """The registry of the pipeline that is being loaded or evaluated.

    Raises:
        DeclarationError: there is none, because plain Python runs the file.
    """
    registry = _current.get()
    if registry is None:
        message = "a dataset can only be declared while a pipeline loads its source files"
        fix = "run the file with `python -m dlt_local run --source FILE --storage DIR`"
        raise DeclarationError("NO_PIPELINE", message, caller(), fix)
    return registry


_location: ContextVar[SourceLocation | None] = ContextVar("location", default=None)


@contextmanager
def located_at(location: SourceLocation) -> Iterator[None]:
    """Give declarations in a block this location: a statement of an SQL file is not on the call stack."""
    token = _location.set(location)
    try:
        yield
    finally:
        _location.reset(token)


def caller() -> SourceLocation:
    """The user's line that is declaring something: the SQL statement, or the nearest frame outside the engine."""
    location = _location.get()
    if location is not None:
        return location
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_ENGINE):
        frame = frame.f_back
    return SourceLocation(frame.f_code.co_filename, frame.f_lineno)
