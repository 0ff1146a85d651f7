"""A Spark session of the pipeline's own, in whose catalog its datasets have their names and nobody else's do.

Names therefore resolve as on Databricks, in `spark.read.table`, `spark.readStream.table`, `spark.table` and
`spark.sql` alike, and two pipelines in one process never see each other's.
"""

import logging
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from dlt_local.errors import LocalPipelineError
from dlt_local.names import TableName, quote

LIVE = "live"
"""`LIVE.orders` is the older way to say: the dataset `orders` of this pipeline."""

# A column of many values gives its dictionary up once that is full, and until then looks each value up in it: with the
# megabyte that Parquet gives, a third of the time of a write. A column of few values needs no more than this.
_DICTIONARY = ("parquet.dictionary.page.size", str(128 * 1024))
_DELTA = "io.delta.sql.DeltaSparkSessionExtension"


def isolated_session(base: SparkSession, configuration: Mapping[str, str], scratch: Path) -> SparkSession:
    """A session on ``base``'s Spark with a catalog, settings and temporary views of its own.

    Spark makes a folder for the catalog's default schema: ``scratch``, or it would be in the working directory.

    Raises:
        LocalPipelineError: ``base`` has no Delta Lake.
    """
    if _DELTA not in (base.conf.get("spark.sql.extensions", None) or ""):
        message = (
            "the Spark session given to the pipeline has no Delta Lake\n"
            f"  fix: build it with spark.sql.extensions={_DELTA} and\n"
            "       spark.sql.catalog.spark_catalog=org.apache.spark.sql.delta.catalog.DeltaCatalog,\n"
            "       or leave `spark` out: dlt_local makes one"
        )
        raise LocalPipelineError(message)
    jvm = base._jvm
    assert jvm is not None
    options = jvm.java.util.HashMap()
    for key, value in base.conf.getAll.items():
        if key.startswith(("spark.sql.", "spark.databricks.")):
            options[key] = value
    options["spark.sql.warehouse.dir"] = str(scratch)
    # What is in this database are temporary views, so that a view has a name under LIVE too.
    options["spark.sql.globalTempDatabase"] = LIVE
    # A session made by newSession() would share the catalog; one made from the context has its own.
    java_session = jvm.org.apache.spark.sql.classic.SparkSession(base.sparkContext._jsc.sc(), options)
    # Its shared state listens to every query of the process and keeps their plans, for a UI that is off. Each update
    # makes such a session: the hundredth would have a hundred listeners at work.
    listener = java_session.sharedState().statusStore().listener()
    if listener.isDefined():
        base.sparkContext._jsc.sc().listenerBus().removeListener(listener.get())
    session = SparkSession(base.sparkContext, java_session)
    session.conf.set(_DICTIONARY[0], str(base.conf.get(*_DICTIONARY)))
    for key, value in configuration.items():
        session.conf.set(key, value)
    return session


def restore_settings(session: SparkSession, before: Mapping[str, str]) -> None:
    """Take back what source files have set: the next update begins as this one did."""
    now = dict(session.conf.getAll)
    for key in now.keys() - before.keys():
        session.conf.unset(key)
    for key, value in before.items():
        if now.get(key) != value:
            session.conf.set(key, value)


class Catalog:
    """The names that a pipeline's queries can use, at planning time and while it runs."""

    def __init__(self, session: SparkSession, schema: str, scratch: Path) -> None:
        """Take the session; unqualified names are in ``schema``; ``scratch`` is an empty folder that stays empty."""
        self.session = session
        self.scratch = scratch
        self._registered: set[TableName] = set()
        self._views: set[str] = set()
        self._known_views: set[str] = set()
        self._schemas: set[str] = set()
        self._live: dict[str, TableName] = {}
        self._lock = threading.RLock()
        self._create_schema(schema)
        session.catalog.setCurrentDatabase(schema)

    def _create_schema(self, schema: str) -> None:
        # Without a location of its own Spark would make a folder for it in the working directory.
        if schema not in self._schemas:
            self.session.sql(f"CREATE DATABASE IF NOT EXISTS {quote(schema)} LOCATION '{_text(self.scratch)}'")
            self._schemas.add(schema)

    def register_placeholder(self, name: TableName, schema: StructType) -> None:
        """Let ``name`` be an empty table of this schema: enough to analyse queries over it, batch or streaming."""
        if name in self._registered:
            return
        self._create_schema(name.schema)
        self._placeholder(name, _without_char_types(schema))
        for alias, meant in self._live.items():
            if meant == name:
                self._placeholder(TableName(LIVE, alias), _without_char_types(schema))

    def _placeholder(self, name: TableName, schema: StructType) -> None:
        self.session.catalog.createTable(name.sql, path=str(self.scratch), source="parquet", schema=schema)
        self._registered.add(name)

    def register_table(self, name: TableName, path: Path) -> None:
        """Let ``name`` be the Delta table at ``path``."""
        with self._lock:
            if name not in self._registered:
                self._create_schema(name.schema)
                for each in (name, *(TableName(LIVE, alias) for alias, meant in self._live.items() if meant == name)):
                    self.session.sql(f"CREATE TABLE {each.sql} USING delta LOCATION '{_text(path)}'")
                    self._registered.add(each)

    def name_under_live(self, alias: str, name: TableName) -> None:
        """Let `LIVE.<alias>` be the same table as ``name`` wherever that one is registered, from now on."""
        if alias.lower() in self._live:
            return
        if not self._live:
            self._create_live()
        self._live[alias.lower()] = name
        if name in self._registered:
            schema = self.session.table(name.sql).schema
            self._placeholder(TableName(LIVE, alias.lower()), schema)

    def _create_live(self) -> None:
        # Spark makes no database of the name that it keeps for temporary views; its catalog itself has no such rule.
        jvm = self.session._jvm
        assert jvm is not None
        database = jvm.org.apache.spark.sql.catalyst.catalog.CatalogDatabase(
            LIVE, "", jvm.java.net.URI(self.scratch.as_uri()), jvm.PythonUtils.toScalaMap({})
        )
        self.session._jsparkSession.sharedState().externalCatalog().createDatabase(database, True)

    def _clear_live(self) -> None:
        # Nor does it drop tables of that database, or forget what it knows of their files.
        shared = self.session._jsparkSession.sharedState().externalCatalog()
        for alias in self._live:
            shared.dropTable(LIVE, alias, True, True)
        self.session._jsparkSession.sessionState().catalog().invalidateAllCachedTables()

    def name_catalog(self, name: str) -> bool:
        """Let `<name>.schema.table` be `schema.table`; False where a schema of that name would be hidden by it."""
        if name.lower() in {schema.lower() for schema in self._schemas}:
            return False
        # The manager's map of catalogs is its own affair; the session's catalog stands in it a second time.
        manager = self.session._jsparkSession.sessionState().catalogManager()
        field = manager.getClass().getDeclaredField("catalogs")
        field.setAccessible(True)
        field.get(manager).put(name, manager.v2SessionCatalog())
        return True

    def real_name(self, name: TableName) -> TableName:
        """The name under which a table that a plan mentions is registered: not `LIVE`, and in its own letter case."""
        if name.schema.lower() == LIVE and name.table.lower() in self._live:
            return self._live[name.table.lower()]
        wanted = str(name).lower()
        return next((known for known in self._registered if str(known).lower() == wanted), name)

    def register_view(self, name: str, frame: DataFrame) -> None:
        """Let ``name`` be this query."""
        with self._lock:
            frame.createOrReplaceTempView(quote(name))
            frame.createOrReplaceGlobalTempView(quote(name))
            self._views.add(name)
            self._known_views.add(name)

    def has_view(self, name: str) -> bool:
        """True if the view is there already, as new as what it reads."""
        return name in self._known_views

    def renew_views(self) -> None:
        """Let every view be made anew at its next use: what it reads has grown, and it holds what it saw."""
        with self._lock:
            self._known_views.clear()

    def clear(self) -> None:
        """Forget every name; no table's data is touched."""
        with self._lock:
            for view in self._views:
                self.session.catalog.dropTempView(quote(view))
                self.session.catalog.dropGlobalTempView(quote(view))
            for name in self._registered:
                if name.schema != LIVE:
                    self.session.sql(f"DROP TABLE IF EXISTS {name.sql}")
            if self._live:
                self._clear_live()
            self._views.clear()
            self._known_views.clear()
            self._registered.clear()


def _text(path: Path) -> str:
    return str(path).replace("\\", "\\\\").replace("'", "\\'")


def _without_char_types(schema: StructType) -> StructType:
    # Nullability and metadata are the real table's affair; a placeholder is only read for its types.
    placeholder: StructType = StructType.fromJson(schema.jsonValue())
    for column in placeholder.fields:
        column.nullable = True
        column.metadata = {}
    return placeholder


@contextmanager
def active(session: SparkSession) -> Iterator[None]:
    """Make ``session`` what `SparkSession.active()` answers in this thread.

    pyspark logs every failed `spark.sql` as a JSON line; resolving a graph fails on purpose, so it is quiet here.
    """
    jvm = session._jvm
    assert jvm is not None
    companion = jvm.org.apache.spark.sql.SparkSession
    before = companion.getActiveSession()
    noise = logging.getLogger("SQLQueryContextLogger")
    disabled_before = noise.disabled
    companion.setActiveSession(session._jsparkSession)
    noise.disabled = True
    try:
        yield
    finally:
        noise.disabled = disabled_before
        if before.isDefined():
            companion.setActiveSession(before.get())
        else:
            companion.clearActiveSession()
