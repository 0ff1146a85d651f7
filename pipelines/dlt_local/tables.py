"""Delta tables of datasets: made, and grown by new columns; nothing here writes rows."""

from pathlib import Path

from delta.tables import DeltaTable
from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from dlt_local import delta_log, faults
from dlt_local.elements import Table

# Deletion vectors let an update mark rows instead of writing their whole files anew.
_DEFAULT_PROPERTIES = {"delta.enableDeletionVectors": "true"}
_ENGINE_PROPERTIES = ("pipelines.",)


def stored_schema(session: SparkSession, path: Path) -> StructType | None:
    """The schema of the Delta table at ``path``, None where there is none."""
    if not delta_log.exists(path):
        return None
    return delta_log.schema(path) or session.read.format("delta").load(str(path)).schema


def materialize(session: SparkSession, table: Table, schema: StructType, path: Path) -> None:
    """Let the table exist with at least these columns."""
    stored = stored_schema(session, path)
    if stored is None:
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
    for key, value in (_DEFAULT_PROPERTIES | dict(table.table_properties)).items():
        builder = builder.property(key, value)
    builder.execute()


def _covers(stored: StructType, wanted: StructType) -> bool:
    by_name = {field.name.lower(): field.dataType.simpleString().lower() for field in stored.fields}
    return all(by_name.get(field.name.lower()) == field.dataType.simpleString().lower() for field in wanted.fields)
