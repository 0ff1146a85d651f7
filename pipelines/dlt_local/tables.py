"""Delta tables of datasets: made, and grown by new columns; nothing here writes rows."""

from pathlib import Path

from delta.tables import DeltaTable
from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from dlt_local import delta_log, faults
from dlt_local.elements import Table

_DELETION_VECTORS = "delta.enableDeletionVectors"
# A table whose files are small is rewritten as fast as its rows are marked, and stays open to readers that know no
# deletion vectors; in a large one marking rows is what keeps an update's cost from growing with the table.
_LARGE = 64 * 1024 * 1024


def stored_schema(session: SparkSession, path: Path) -> StructType | None:
    """The schema of the Delta table at ``path``, None where there is none."""
    if not delta_log.exists(path):
        return None
    return delta_log.schema(path) or session.read.format("delta").load(str(path)).schema


def materialize(session: SparkSession, table: Table, schema: StructType, path: Path) -> None:
    """Let the table exist with at least these columns."""
    stored = stored_schema(session, path)
    if stored is None:
        delta_log.clear_half_made(path)
        _create(session, table, schema, path)
        faults.reach("table.created")
    elif not _covers(stored, schema):
        empty = session.createDataFrame([], schema)
        empty.write.format("delta").mode("append").option("mergeSchema", "true").save(str(path))


def _create(session: SparkSession, table: Table, schema: StructType, path: Path) -> None:
    builder = DeltaTable.createIfNotExists(session).location(str(path)).addColumns(schema)
    if table.comment:
        builder = builder.comment(table.comment)
    if table.partition_cols:
        builder = builder.partitionedBy(*table.partition_cols)
    if table.cluster_by:
        builder = builder.clusterBy(*table.cluster_by)
    for key, value in table.table_properties.items():
        builder = builder.property(key, value)
    builder.execute()


def mark_rows_if_large(session: SparkSession, table: Table, path: Path) -> None:
    """Turn deletion vectors on for a table that is changed in place, once it is large; the declaration's word wins."""
    if _DELETION_VECTORS in table.table_properties or delta_log.is_marked(path, _DELETION_VECTORS):
        return
    if delta_log.size_in_bytes(path) > _LARGE:
        session.sql(f"ALTER TABLE delta.`{path}` SET TBLPROPERTIES ('{_DELETION_VECTORS}' = 'true')")


def _covers(stored: StructType, wanted: StructType) -> bool:
    by_name = {field.name.lower(): field.dataType.simpleString().lower() for field in stored.fields}
    return all(by_name.get(field.name.lower()) == field.dataType.simpleString().lower() for field in wanted.fields)
