"""Targets, flows and row changes as values, for tests that call writers and the AUTO CDC handler directly."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from dlt_local.auto_cdc.args import ChangeArgs, resolve
from dlt_local.auto_cdc.names import ACTION, IS_NEW, KEY, PUT, REMOVE, ROW
from dlt_local.auto_cdc.reconciled import RowChanges
from dlt_local.auto_cdc.target import Target
from dlt_local.declarations.elements import AutoCdcFlow
from dlt_local.errors import SourceLocation
from dlt_local.names import TableName


def flow_args(
    spark: SparkSession, columns: str, keys: Sequence[str], scd_type: Literal[1, 2] = 1, **options: Any
) -> ChangeArgs:
    """A flow over a source with these columns, `at INT` and `gone BOOLEAN`, which are not among the target's."""
    source = spark.createDataFrame([], f"{columns}, at INT, gone BOOLEAN")
    flow = AutoCdcFlow(
        name="flow",
        target=TableName("default", "target"),
        location=SourceLocation("test.py", 1),
        source="source",
        keys=tuple(keys),
        sequence_by="at",
        scd_type=scd_type,
        apply_as_deletes="gone",
        except_column_list=("at", "gone"),
        **options,
    )
    return resolve(flow, source)


def stored_target(spark: SparkSession, path: Path, keys: str, rows: Sequence[tuple[Any, ...]]) -> Target:
    """An SCD type 1 target with the key columns and `value`, "old" in every row."""
    schema = StructType.fromDDL(f"{keys}, value string")
    frame = spark.createDataFrame([(*row, "old") for row in rows], schema)
    frame.write.format("delta").option("delta.enableDeletionVectors", "true").save(str(path))
    return Target(path, flow_args(spark, f"{keys}, value string", schema.names[:-1]))


def row_changes(
    spark: SparkSession, target: Target, keys: str, changes: Sequence[tuple[tuple[Any, ...], bool]]
) -> RowChanges:
    """Puts (True, the value is "new") and removals of keys that the target may have."""
    key = StructType.fromDDL(keys)
    row = StructType([*key.fields, *StructType.fromDDL("value string").fields])
    schema = StructType().add(KEY, key).add(ACTION, "string").add(IS_NEW, "boolean").add(ROW, row)
    rows = [
        (key_of, PUT if is_put else REMOVE, False, (*key_of, "new") if is_put else None) for key_of, is_put in changes
    ]
    put = sum(is_put for _, is_put in changes)
    return RowChanges(spark.createDataFrame(rows, schema), 0, put, len(changes) - put)
