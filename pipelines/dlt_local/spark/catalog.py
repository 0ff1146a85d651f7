"""The catalog of one pipeline: dataset names as its queries use them, at planning time and at run time.

Names resolve as on Databricks, in `spark.read.table`, `spark.readStream.table`, `spark.table` and `spark.sql` alike.
"""

import threading
from pathlib import Path

from pyspark.sql import DataFrame
from pyspark.sql.types import StructType

from dlt_local.names import TableName, literal, quote
from dlt_local.spark import jvm
from dlt_local.spark.external_tables import ExternalTable, ExternalTables
from dlt_local.spark.jvm import ExternalFolder
from dlt_local.spark.pipeline_session import PipelineSession

PLACEHOLDER = "parquet"
"""The format of the empty tables over which queries are planned."""
LIVE = "live"
"""`LIVE.orders` is the legacy name of this pipeline's dataset `orders`."""


class Catalog:
    """The names in the catalog of a pipeline's session. Only the pipeline's own datasets are registered."""

    def __init__(self, session: PipelineSession, schema: str, scratch: Path, external: ExternalTables) -> None:
        """Create and use the default schema.

        Args:
            session: an isolated session.
            schema: the schema of unqualified names.
            scratch: an empty folder, the location of schemas and placeholder tables; nothing is written to it.
            external: the tables outside of the pipeline.
        """
        self.session = session
        self.external = external
        self.scratch = scratch
        self._registered: set[TableName] = set()
        self._by_lower_name: dict[str, TableName] = {}
        self._views: set[str] = set()
        self._fresh_views: set[str] = set()
        self._schemas: set[str] = set()
        self._live: dict[str, TableName] = {}
        self._lock = threading.RLock()
        self._create_schema(schema)
        session.catalog.setCurrentDatabase(schema)

    def _create_schema(self, schema: str) -> None:
        # Without a location, Spark would create a folder for it in the working directory.
        if schema not in self._schemas:
            self.session.sql(f"CREATE DATABASE IF NOT EXISTS {quote(schema)} LOCATION {literal(str(self.scratch))}")
            self._schemas.add(schema)

    def register_placeholder(self, name: TableName, schema: StructType) -> None:
        """Register ``name`` as an empty table: enough to analyze queries over it, batch or streaming."""
        if name in self._registered:
            return
        self._create_schema(name.schema)
        for each in (name, *self._live_names(name)):
            self._create_placeholder(each, _types_only(schema))

    def _create_placeholder(self, name: TableName, schema: StructType) -> None:
        folder = ExternalFolder(self.scratch, PLACEHOLDER, schema)
        jvm.register(self.session, name.schema, name.table, folder)
        self._note(name)

    def register_table(self, name: TableName, path: Path) -> None:
        """Register ``name`` as the Delta table at ``path``."""
        with self._lock:
            if name in self._registered:
                return
            self._create_schema(name.schema)
            for each in (name, *self._live_names(name)):
                folder = ExternalFolder(path, "delta", StructType())
                jvm.register(self.session, each.schema, each.table, folder)
                self._note(each)

    def register_external(self, name: TableName, table: ExternalTable) -> None:
        """Register ``name`` as a table outside of the pipeline."""
        with self._lock:
            if name in self._registered:
                return
            self._create_schema(name.schema)
            options = ", ".join(f"{literal(key)} = {literal(value)}" for key, value in table.options.items())
            given = f" OPTIONS ({options})" if options else ""
            place = literal(str(table.path))
            self.session.sql(f"CREATE TABLE {name.sql} USING {table.format}{given} LOCATION {place}")
            self._note(name)

    def _note(self, name: TableName) -> None:
        self._registered.add(name)
        self._by_lower_name.setdefault(str(name).lower(), name)

    def _live_names(self, name: TableName) -> list[TableName]:
        return [TableName(LIVE, alias) for alias, dataset in self._live.items() if dataset == name]

    def name_under_live(self, alias: str, name: TableName) -> None:
        """Register `LIVE.<alias>` as the same table as ``name``, now and whenever ``name`` is registered."""
        alias = alias.lower()
        if alias in self._live:
            return
        if not self._live:
            # Spark refuses to create the database that it reserves for global temporary views, and to drop its tables.
            jvm.create_reserved_database(self.session, LIVE, self.scratch)
        self._live[alias] = name
        if name in self._registered:
            self._create_placeholder(TableName(LIVE, alias), self.session.table(name.sql).schema)

    def name_catalog(self, name: str) -> bool:
        """Let `<name>.schema.table` be `schema.table`; False if that would hide a schema of the same name."""
        if name.lower() in {schema.lower() for schema in self._schemas}:
            return False
        self.session.name_catalog(name)
        return True

    def real_name(self, name: TableName) -> TableName:
        """The dataset name behind a name in a plan: `LIVE` resolved, letter case as registered."""
        if name.schema.lower() == LIVE and name.table.lower() in self._live:
            return self._live[name.table.lower()]
        return self._by_lower_name.get(str(name).lower(), name)

    def register_view(self, name: str, frame: DataFrame) -> None:
        """Register ``name`` as this query, plain and under `LIVE`."""
        frame = jvm.in_session(frame, self.session)
        with self._lock:
            jvm.name_frame(frame, quote(name))
            jvm.name_frame(frame, quote(name), is_global=True)
            self._views.add(name)
            self._fresh_views.add(name)

    def has_view(self, name: str) -> bool:
        """True if the view is registered and reads the current version of its inputs."""
        return name in self._fresh_views

    def renew(self) -> None:
        """Forget what was read: a view, and a frame that a query function caches, have the rows of their moment."""
        with self._lock:
            self._fresh_views.clear()
            self.session.catalog.clearCache()

    def clear(self) -> None:
        """Drop every name; data stays."""
        with self._lock:
            for view in self._views:
                self.session.catalog.dropTempView(quote(view))
                self.session.catalog.dropGlobalTempView(quote(view))
            for name in self._registered:
                if name.schema != LIVE:
                    jvm.unregister(self.session, name.schema, name.table)
            for alias in self._live:
                jvm.drop_reserved_table(self.session, LIVE, alias)
            self.session.catalog.clearCache()
            # Otherwise the next table of a name would have the columns of this one.
            jvm.invalidate_cached_tables(self.session)
            self._views.clear()
            self._fresh_views.clear()
            self._registered.clear()
            self._by_lower_name.clear()


def _types_only(schema: StructType) -> StructType:
    # Only the types matter in a placeholder: metadata, such as CHAR lengths, belongs to the real table.
    placeholder: StructType = StructType.fromJson(schema.jsonValue())
    for column in placeholder.fields:
        column.nullable = True
        column.metadata = {}
    return placeholder
