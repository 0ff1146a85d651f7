"""Spark's catalog of a session, where its public interface cannot do it, or takes longer."""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from dlt_local.spark.jvm.gateway import java_class, java_schema, scala_map, scala_seq, some, static

_CATALYST = "org.apache.spark.sql.catalyst"


def create_reserved_database(session: SparkSession, name: str, location: Path) -> None:
    """Create a database without the check that its name is not the one reserved for global temporary views."""
    uri = java_class(session, "java.net.URI")(location.as_uri())
    definition = java_class(session, f"{_CATALYST}.catalog.CatalogDatabase")
    database = definition(name, "", uri, scala_map(session, {}))
    _external_catalog(session).createDatabase(database, True)


@dataclass(frozen=True)
class ExternalFolder:
    """A table outside of Spark's warehouse: a folder, and how to read it."""

    location: Path
    provider: str
    """``delta``, or a file format."""
    schema: StructType
    """Empty where the folder itself says it, as a Delta table does."""


def register(session: SparkSession, database: str, table: str, folder: ExternalFolder) -> None:
    """Add a table to the session's catalog without looking at its folder; the database exists.

    What CREATE TABLE does, for a fifth of its time: that reads a Delta table's log to compare schemas.
    """
    none, no_entries, no_elements = some(session, None), scala_map(session, {}), scala_seq(session, [])
    uri = some(session, java_class(session, "java.net.URI")(folder.location.as_uri()))
    storage_format = java_class(session, f"{_CATALYST}.catalog.CatalogStorageFormat")
    storage = storage_format(uri, none, none, none, False, no_entries, none)
    schema, now = java_schema(session, folder.schema), int(time.time() * 1000)
    definition = java_class(session, f"{_CATALYST}.catalog.CatalogTable")(
        _identifier(session, database, table),
        static(session, f"{_CATALYST}.catalog.CatalogTableType.EXTERNAL")(),
        *(storage, schema, some(session, folder.provider), no_elements, none),
        *("", now, -1, "", no_entries, none, none, none, none, no_elements),
        *(False, True, no_entries, none, none),
    )
    session._jsparkSession.sessionState().catalog().createTable(definition, False, False)


def unregister(session: SparkSession, database: str, table: str) -> None:
    """Drop a table from the session's catalog; its folder stays. Follow with `invalidate_cached_tables`."""
    catalog = session._jsparkSession.sessionState().catalog()
    catalog.dropTable(_identifier(session, database, table), True, True)


def _identifier(session: SparkSession, database: str, table: str) -> Any:
    return java_class(session, f"{_CATALYST}.TableIdentifier")(table, some(session, database))


def drop_reserved_table(session: SparkSession, database: str, table: str) -> None:
    """Drop a table of a database that Spark refuses to drop from; follow with `invalidate_cached_tables`."""
    _external_catalog(session).dropTable(database, table, True, True)


def invalidate_cached_tables(session: SparkSession) -> None:
    """Forget the files of every table that the session has read."""
    session._jsparkSession.sessionState().catalog().invalidateAllCachedTables()


def name_session_catalog(java_session: Any, name: str) -> None:
    """Give the session catalog of a session of Java a second name."""
    manager = java_session.sessionState().catalogManager()
    # There is no public way: the manager's map of catalogs is private.
    field = manager.getClass().getDeclaredField("catalogs")
    field.setAccessible(True)
    field.get(manager).put(name, manager.v2SessionCatalog())


def name_frame(frame: DataFrame, name: str, *, is_global: bool = False) -> None:
    """Make a frame a temporary view of its session; in a query function, pyspark's method does so in a copy of it."""
    if is_global:
        frame._jdf.createOrReplaceGlobalTempView(name)
    else:
        frame._jdf.createOrReplaceTempView(name)


def drop_name(session: SparkSession, name: str) -> None:
    """Drop a temporary view."""
    session._jsparkSession.catalog().dropTempView(name)


def _external_catalog(session: SparkSession) -> Any:
    return session._jsparkSession.sharedState().externalCatalog()
