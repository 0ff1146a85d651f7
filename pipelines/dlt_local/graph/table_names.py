"""What the names of tables mean in the queries of one pipeline: its own datasets, or tables outside of it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from dlt_local.declarations.elements import QueryFlow, Table, View
from dlt_local.declarations.paths import is_remote
from dlt_local.declarations.registry import Registry, caller
from dlt_local.errors import DeclarationError, did_you_mean
from dlt_local.names import parts, quote, written
from dlt_local.spark import query_calls
from dlt_local.spark.catalog import LIVE, Catalog
from dlt_local.spark.external_tables import SETTING, is_path, registered_name

_SPARKS_OWN = ("session", "system")
_GLOBAL_VIEWS = "global_temp"
"""Spark's name for the database of global temporary views, which in a pipeline's session is LIVE."""


OnRead = Callable[[tuple[str, ...], Table | View], None]
"""Called with the parts of a name, as a query has it, and the dataset that it means."""
_on_read: ContextVar[OnRead | None] = ContextVar("on_read", default=None)


@contextmanager
def calling_on_read(on_read: OnRead) -> Iterator[None]:
    """Call a function before each read of a dataset of the pipeline in a block."""
    token = _on_read.set(on_read)
    try:
        yield
    finally:
        _on_read.reset(token)


class TableNotFound(Exception):
    """A query reads a table of another catalog, and nothing says where that is on this machine."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(name)


class TableNames:
    """Resolves the names that queries use; registers a table outside of the pipeline where one is read."""

    def __init__(self, registry: Registry, catalog: Catalog) -> None:
        self._registry = registry
        self._catalog = catalog
        self.is_loading = True
        """True while source files run: no dataset has rows or columns then."""
        self.views_of_calls: set[str] = set()
        """Temporary views that query functions have made, in lower case; each is gone when its function returns."""

    def __call__(self, name: tuple[str, ...]) -> str | None:
        """The name, as SQL, by which the session has a table; None if that is the same.

        Raises:
            DeclarationError: a source file reads a table while it loads, which is not on this machine; or it names a
                path that only Databricks has.
            TableNotFound: a query does.
        """
        if is_path(name):
            return self._local_path(name)
        call = query_calls.current()
        if call is not None and (view := call.own_view(name)) is not None:
            return quote(view)
        if name[0].lower() == _GLOBAL_VIEWS:
            return ".".join([LIVE, *map(quote, name[1:])])
        if name[0].lower() in _SPARKS_OWN:
            return None
        text = written(name)
        dataset = None if self.is_loading else self._registry.find(text)
        if dataset is not None:
            if (on_read := _on_read.get()) is not None:
                on_read(name, dataset)
            return None
        table = self._catalog.external.find(name)
        if table is not None:
            registered = registered_name(name)
            self._catalog.register_external(registered, table)
            return registered.sql
        if self.is_loading and len(name) > 1:
            raise self._read_while_loading(name)
        if self._registry.own_name(text) is None:
            raise TableNotFound(text)
        return None

    def not_found(self, name: str, reader: QueryFlow, *, outside: bool = False) -> DeclarationError:
        """The fault of a query that reads what is nowhere; ``outside`` if the name has the catalog of others."""
        registry = self._registry
        message, near = f"`{reader.name}` reads {name}, a table outside of the pipeline", ""
        if not outside:
            full = [str(dataset) for dataset in (*registry.tables, *registry.views)]
            short = [table.table for table in registry.tables if table.schema == registry.schema]
            near = did_you_mean(name, [*full, *short])
            message = f"`{reader.name}` reads {name}, which no source file declares{near}"
        fix = "correct the name, or declare the dataset" if near else self._way_in(parts(name))
        if name.lower() in self.views_of_calls:
            message = f"`{reader.name}` reads {name}, a temporary view that ended with the query function that made it"
            fix = "declare it with @dp.temporary_view, or make it in each function that reads it"
        return DeclarationError("DATASET_NOT_FOUND", message, reader.location, fix)

    def _local_path(self, name: tuple[str, ...]) -> str | None:
        """`parquet.`/Volumes/...`` with the local folder that stands for the path."""
        path, folders = name[-1], self._registry.path_map
        if not is_remote(path) and folders.find(path) is None:
            return None
        return ".".join([*name[:-1], quote(folders.local(path, caller()))])

    def _read_while_loading(self, name: tuple[str, ...]) -> DeclarationError:
        message = f"{written(name)} is read while the source file loads, when no dataset of the pipeline can be read"
        fix = f"read it inside of a query function. {self._way_in(name)[0].upper()}{self._way_in(name)[1:]}"
        return DeclarationError("DATASET_NOT_FOUND", message, caller(), fix)

    def _way_in(self, name: tuple[str, ...]) -> str:
        place = self._catalog.external.folder.joinpath(*name)
        return (
            f"a table outside of the pipeline is read from {place}: put a Delta table or its\n"
            f"       files there, or name another folder with --set {SETTING}{written(name)}=FOLDER"
        )
