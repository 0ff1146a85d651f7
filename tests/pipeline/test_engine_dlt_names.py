"""Pipelines written with the older names of the `dlt` module."""

from pathlib import Path

from pyspark.sql import SparkSession
from tests.support.small_pipeline import ROWS, SmallPipeline

PIPELINE = f"""
    import dlt
    from pyspark.sql.functions import col, expr

    @dlt.view(name="incoming")
    def rows():
        return {ROWS}

    @dlt.table
    @dlt.expect_or_drop("named", "name IS NOT NULL")
    def people():
        return dlt.read_stream("incoming")

    dlt.create_streaming_live_table("current")
    dlt.apply_changes(
        target="current",
        source="people",
        keys=["id"],
        sequence_by=col("name"),
        where="id < 10",
        stored_as_scd_type=1,
    )

    @dlt.table
    def counted():
        return dlt.read("people").groupBy().count()
    """


def test_views_tables_and_apply_changes_work_under_their_older_names(spark: SparkSession, tmp_path: Path) -> None:
    small = SmallPipeline(tmp_path, spark, PIPELINE)
    small.drop({"id": 1, "name": "a"}, {"id": 1, "name": "b"}, {"id": 11, "name": "c"}, {"id": 2, "name": None})
    small.pipeline.run()
    assert small.table("current") == [{"id": 1, "name": "b"}]
    assert small.table("counted") == [{"count": 3}]
