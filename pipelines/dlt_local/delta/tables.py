"""Delta tables of datasets: creation, new columns, properties, and how a refresh replaces their rows."""

from collections.abc import Mapping
from pathlib import Path

from delta.tables import DeltaTable, DeltaTableBuilder
from pyspark.sql import DataFrame, DataFrameWriter, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, DataType, MapType, StructType, TimestampNTZType

from dlt_local import failpoints
from dlt_local.declarations.ddl import is_generated
from dlt_local.declarations.elements import Table
from dlt_local.delta import delta_log
from dlt_local.delta.wider_types import TYPE_WIDENING, widens
from dlt_local.errors import FlowError
from dlt_local.names import literal, parts, quote
from dlt_local.spark import jvm

CHANGE_FEED = "delta.enableChangeDataFeed"
_TIMESTAMP_NTZ = "delta.feature.timestampNtz"
_NO_STATISTICS = "delta.dataSkippingNumIndexedCols"
_DELETION_VECTORS = "delta.enableDeletionVectors"
# Rewriting the files of a small table is as fast as deletion vectors, and any Delta reader can read it. In a large one
# deletion vectors keep the cost of an update from growing with the table.
_LARGE = 64 * 1024 * 1024


def stored_schema(session: SparkSession, path: Path) -> StructType | None:
    """The schema of the Delta table at ``path``; None if there is no table."""
    if not delta_log.exists(path):
        return None
    return delta_log.schema(path) or session.read.format("delta").load(str(path)).schema


def stored_properties(session: SparkSession, path: Path) -> dict[str, str]:
    """The properties of the Delta table at ``path``; empty if there is no table."""
    if not delta_log.exists(path):
        return {}
    if (properties := delta_log.properties(path)) or delta_log.schema(path) is not None:
        return properties
    # Other writers leave no checksum.
    row = DeltaTable.forPath(session, str(path)).detail().select("properties").head()
    assert row is not None
    return dict(row["properties"])


def materialize(session: SparkSession, table: Table, schema: StructType, path: Path) -> None:
    """Create the table, or add the columns that it does not have yet and widen those that get a wider type."""
    stored = stored_schema(session, path)
    if stored is None:
        delta_log.clear_half_made(path)
        _create(DeltaTable.createIfNotExists(session), table, schema, path)
        failpoints.reach("table.created")
    elif not _covers(stored, schema):
        _support_types(session, stored, schema, path)
        jvm.no_rows(session, schema).write.format("delta").mode("append").option("mergeSchema", "true").save(str(path))
        describe(session, table, path)


def _support_types(session: SparkSession, stored: StructType, schema: StructType, path: Path) -> None:
    """Turn on the table features that new columns and wider types need; Delta does so only when it creates a table."""
    support_new_types(session, stored, schema, path)
    if widens(schema, stored):
        turn_on(session, path, TYPE_WIDENING)


def support_new_types(session: SparkSession, stored: StructType, schema: StructType, path: Path) -> None:
    """Let an existing table have columns of types that need a table feature: before its schema is replaced."""
    if _has_timestamp_ntz(schema) and not _has_timestamp_ntz(stored):
        _set_properties(session, {_TIMESTAMP_NTZ: "supported"}, path)


def _set_properties(session: SparkSession, properties: Mapping[str, str], path: Path) -> None:
    pairs = ", ".join(f"{literal(key)} = {literal(value)}" for key, value in properties.items())
    session.sql(f"ALTER TABLE delta.`{path}` SET TBLPROPERTIES ({pairs})")


def _has_timestamp_ntz(type_: DataType) -> bool:
    match type_:
        case StructType():
            return any(_has_timestamp_ntz(field.dataType) for field in type_.fields)
        case ArrayType():
            return _has_timestamp_ntz(type_.elementType)
        case MapType():
            return _has_timestamp_ntz(type_.keyType) or _has_timestamp_ntz(type_.valueType)
        case _:
            return isinstance(type_, TimestampNTZType)


def _create(builder: DeltaTableBuilder, table: Table, schema: StructType, path: Path) -> None:
    builder = builder.location(str(path)).addColumns(schema)
    if table.comment:
        builder = builder.comment(table.comment)
    if table.partition_cols:
        builder = builder.partitionedBy(*table.partition_cols)
    if table.cluster_by:
        builder = builder.clusterBy(*table.cluster_by)
    # Only this pipeline reads a private table, batch by batch and unfiltered, so statistics to skip files save nothing.
    for key, value in (({_NO_STATISTICS: "0"} if table.private else {}) | dict(table.table_properties)).items():
        builder = builder.property(key, value)
    builder.execute()


def describe(session: SparkSession, table: Table, path: Path) -> None:
    """Update comment, properties and clustering of an existing table to its declaration; no commit if they match."""
    stored = delta_log.properties(path)
    declared = dict(table.table_properties) | ({"comment": table.comment} if table.comment else {})
    changed = {key: value for key, value in declared.items() if stored.get(key) != value}
    if changed:
        _set_properties(session, changed, path)
    if _clusters_otherwise(session, table, path):
        session.sql(f"ALTER TABLE delta.`{path}` CLUSTER BY ({', '.join(map(_column, table.cluster_by))})")


def _clusters_otherwise(session: SparkSession, table: Table, path: Path) -> bool:
    """True if the table is to be clustered by other columns, all of which it has; new ones are added after this."""
    if not table.cluster_by or table.cluster_by == delta_log.clustering_columns(path):
        return False
    stored = stored_schema(session, path)
    known = {name.lower() for name in stored.names} if stored is not None else set()
    return all(parts(name)[0].lower() in known for name in table.cluster_by)


def repartitioned(table: Table, path: Path) -> tuple[str, ...] | None:
    """The stored table's partition columns if its declaration has others; None if they match."""
    stored = delta_log.partition_columns(path)
    return None if stored is None or stored == table.partition_cols else stored


def takes(table: Table, stored: StructType, rows: StructType, path: Path) -> bool:
    """True if rows of this schema can replace a table's rows without a change of the table's schema or partitioning."""
    row_types = {field.name.lower(): field.dataType for field in rows.fields}
    table_types = {field.name.lower(): field.dataType for field in stored.fields}
    required = {field.name.lower() for field in stored.fields if not is_generated(field)}
    return (
        required <= set(row_types) and row_types.items() <= table_types.items() and repartitioned(table, path) is None
    )


def replacing(frame: DataFrame, table: Table) -> DataFrameWriter:
    """A writer that replaces a table's rows and nothing else."""
    # Static whatever the session's conf: partitions without new rows have to go too.
    writer = frame.write.format("delta").mode("overwrite").option("partitionOverwriteMode", "static")
    # A plain overwrite drops the clustering; a replaceWhere that matches every row keeps it.
    return writer.option("replaceWhere", "true") if table.cluster_by else writer


def reshaping(frame: DataFrame, table: Table, schema: StructType) -> DataFrameWriter:
    """A writer that replaces a table's rows, schema and partitioning in one commit; call `describe` after it.

    Raises:
        FlowError: the declaration has columns that Delta accepts only when a table is created.
    """
    if table.schema is not None and any(is_generated(field) or not field.nullable for field in schema.fields):
        message = "its schema has changed, and NOT NULL or generated columns can only be set when a table is created"
        fix = f"rebuild it with --rebuild {table.name}"
        raise FlowError("SCHEMA_CHANGED", str(table.name), message, fix, is_permanent=True)
    declared = {field.name.lower(): field for field in schema.fields}
    described = [
        F.col(quote(name)).alias(name, metadata={"comment": comment}) if comment else F.col(quote(name))
        for name in frame.columns
        for comment in [declared[name.lower()].metadata.get("comment") if name.lower() in declared else None]
    ]
    writer = frame.select(*described).write.format("delta").mode("overwrite").option("overwriteSchema", "true")
    return writer.partitionBy(*table.partition_cols) if table.partition_cols else writer


def _column(name: str) -> str:
    return ".".join(map(quote, parts(name)))


def mark_rows_if_large(session: SparkSession, table: Table, path: Path) -> None:
    """Turn deletion vectors on for a table that is changed in place, once it is large; a declared property wins."""
    if _DELETION_VECTORS in table.table_properties or delta_log.is_marked(path, _DELETION_VECTORS):
        return
    if delta_log.size_in_bytes(path) > _LARGE:
        turn_on(session, path, _DELETION_VECTORS)


def turn_on(session: SparkSession, path: Path, table_property: str) -> None:
    """Set a table property to ``true``."""
    _set_properties(session, {table_property: "true"}, path)


def _covers(stored: StructType, required: StructType) -> bool:
    by_name = {field.name.lower(): field.dataType.simpleString().lower() for field in stored.fields}
    return all(by_name.get(field.name.lower()) == field.dataType.simpleString().lower() for field in required.fields)
