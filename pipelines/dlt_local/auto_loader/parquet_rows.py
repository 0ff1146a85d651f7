"""Rows of Parquet and Avro files: columns by their names; those of files that are not in the schema are rescued.

Spark reads a column whose stored type is narrower than the schema's, and fails at any other type. The columns of each
file are known from its own schema, for the files that were there when the query was evaluated; a file that has arrived
since then stops the flow, which starts again.
"""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StructField, StructType

from dlt_local.auto_loader import rescue
from dlt_local.auto_loader.rows import ARRIVED_MEANWHILE, Read, one_of, partitions

_FILE = "__file"


def rows(stored: DataFrame, read: Read, extra: StructType) -> DataFrame:
    """The rows of a frame of Parquet or Avro files.

    Args:
        stored: the columns of the schema and the extra ones.
        read: the columns, and what becomes of others.
        extra: columns of the files that are not in the schema.
    """
    if read.is_running:
        late = F.raise_error(F.concat(F.lit(f"{ARRIVED_MEANWHILE} {read.key} "), rescue.file_path()))
        known = one_of(rescue.local_path(), [file for group in read.groups for file in group.files])
        stored = stored.where(F.when(known, F.lit(True)).otherwise(late.cast("boolean")))
    columns = [F.col(f"`{name}`") for name in read.schema.data.names]
    rescued = [] if read.rescued is None else [_rescued(extra).alias(read.rescued)]
    return stored.select(*columns, *partitions(read), *rescued)


def extra_columns(read: Read, found: StructType) -> StructType:
    """The columns of the files, ``found``, that are not in the schema; folders' names come before them."""
    return StructType([StructField(f.name, f.dataType) for f in found.fields if f.name.lower() not in read.known_names])


def _rescued(extra: StructType) -> Column:
    members = [rescue.member(field.name, _json(F.col(f"`{field.name}`"))) for field in extra.fields]
    return rescue.rescued([F.array(*members)] if members else [], rescue.file_path())


def _json(value: Column) -> Column:
    array = F.to_json(F.array(value))
    return F.when(value.isNotNull(), F.substr(array, F.lit(2), F.length(array) - 2))
