"""The keys of an AUTO CDC flow: their order does not matter, their case as Spark's conf says."""

from pathlib import Path
from typing import Literal

import pytest
from pyspark.sql import SparkSession
from tests.support.row_changes import flow_args
from tests.support.small_pipeline import SmallPipeline

from dlt_local.errors import DeclarationError

SOURCE = """
    import dlt

    @dlt.table
    def events():
        schema = "a INT, b STRING, name STRING, at INT, gone BOOLEAN"
        return spark.readStream.schema(schema).json(spark.conf.get("rows"))

    for scd_type in (1, 2):
        dlt.create_streaming_table(f"type_{scd_type}")
        dlt.create_auto_cdc_flow(
            target=f"type_{scd_type}", source="events", keys=["a", "b"], sequence_by="at", apply_as_deletes="gone",
            except_column_list=["gone"], stored_as_scd_type=scd_type)
"""


def _event(a: int, b: str, name: str, at: int, gone: bool = False) -> dict[str, object]:
    return {"a": a, "b": b, "name": name, "at": at, "gone": gone}


def test_the_same_keys_in_another_order_are_the_same_keys(spark: SparkSession, tmp_path: Path) -> None:
    small = SmallPipeline(tmp_path, spark, SOURCE)
    small.drop(_event(1, "x", "ann", 10), _event(2, "y", "bob", 20), _event(3, "z", "", 5, gone=True))
    small.pipeline.run()
    small.write(SOURCE.replace('["a", "b"]', '["b", "a"]'))
    late = _event(3, "z", "too late", 4)
    small.drop(_event(1, "x", "anna", 30), _event(2, "y", "late", 15), _event(2, "y", "", 40, gone=True), late)
    small.pipeline.run()
    assert [(row["a"], row["b"], row["name"]) for row in small.table("type_1")] == [(1, "x", "anna")]
    versions = [(row["a"], row["name"], row["__START_AT"], row["__END_AT"]) for row in small.table("type_2")]
    assert sorted(versions, key=str) == [
        (1, "ann", 10, 30),
        (1, "anna", 30, None),
        (2, "bob", 20, 40),
        (2, "late", 15, 20),
        (3, "too late", 4, 5),
    ]


@pytest.mark.parametrize("scd_type", [1, 2])
def test_where_case_matters_a_key_in_another_case_is_another_column(
    spark: SparkSession, scd_type: Literal[1, 2]
) -> None:
    assert flow_args(spark, "id INT, name STRING", ["ID"], scd_type).keys == ("id",)
    spark.conf.set("spark.sql.caseSensitive", "true")
    try:
        with pytest.raises(DeclarationError) as refused:
            flow_args(spark, "id INT, name STRING", ["ID"], scd_type)
    finally:
        spark.conf.unset("spark.sql.caseSensitive")
    assert str(refused.value).startswith(
        "AUTOCDC_COLUMNS_NOT_FOUND_IN_SCHEMA  test.py:1\n  target default.target: `keys` names `ID`, "
        "which is not a column of source: id, name, at, gone"
    )
