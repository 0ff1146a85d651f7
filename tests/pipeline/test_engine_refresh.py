"""Which tables an update refreshes or recomputes, and what a full refresh is needed for."""

import shutil
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.support.small_pipeline import ROWS, SmallPipeline

from dlt_local import UpdateFailed

PIPELINE = f"""
    from pyspark import pipelines as dp
    from pyspark.sql.functions import lit

    @dp.table(table_properties={{"pipelines.reset.allowed": "false"}})
    def raw():
        return {ROWS}

    @dp.table
    def one():
        return spark.readStream.table("raw").withColumn("version", lit(1))

    @dp.table
    def two():
        return spark.readStream.table("raw")
    """
FILTERED = f"""
    from pyspark import pipelines as dp

    @dp.table
    def raw():
        return {ROWS}.where("id > 0")

    @dp.materialized_view
    def copied():
        return spark.read.table("raw")
    """
A, B = {"id": 1, "name": "a"}, {"id": 2, "name": "b"}


def test_an_update_of_selected_tables_leaves_the_others_as_they_are(spark: SparkSession, tmp_path: Path) -> None:
    small = SmallPipeline(tmp_path, spark, PIPELINE)
    small.drop(A)
    small.pipeline.run()
    small.drop(B)
    small.pipeline.run(refresh=["raw", "one"])
    assert (len(small.table("one")), len(small.table("two"))) == (2, 1)


def test_a_selected_table_without_its_source_says_what_to_add(spark: SparkSession, tmp_path: Path) -> None:
    of_two = """
    @dp.materialized_view
    def counted():
        return spark.read.table("two").groupBy().count()
    """
    small = SmallPipeline(tmp_path, spark, PIPELINE + of_two)
    small.drop(A)
    with pytest.raises(UpdateFailed, match=r"SOURCE_NOT_BUILT  default.counted\n(.|\n)*--refresh (\S+), or") as failed:
        small.pipeline.run(refresh=["counted", "one"])
    assert [str(error).split()[1] for error in failed.value.errors] == ["default.one", "default.counted"]
    small.pipeline.run(refresh=["counted", "default.raw", "default.two"])
    assert small.table("counted") == [{"count": 1}]


def test_a_selected_table_whose_source_lacks_a_new_column_says_what_to_add(spark: SparkSession, tmp_path: Path) -> None:
    counted = """
    @dp.materialized_view
    def counted():
        return spark.read.table("one").groupBy("{}").count()
    """
    small = SmallPipeline(tmp_path, spark, PIPELINE + counted.format("version"))
    small.drop(A)
    small.pipeline.run()
    small.write(PIPELINE.replace('"version", lit(1)', '"edition", lit(2)') + counted.format("edition"))
    expected = (
        r"SOURCE_NOT_UPDATED  default.counted\n(.|\n)*does not have edition yet\n(.|\n)*--refresh default.one, or"
    )
    with pytest.raises(UpdateFailed, match=expected):
        small.pipeline.run(refresh=["counted"])
    small.pipeline.run(refresh=["counted", "default.one"])
    assert small.table("counted") == [{"edition": None, "count": 1}]


def test_a_full_refresh_recomputes_old_rows_with_the_current_query(spark: SparkSession, tmp_path: Path) -> None:
    small = SmallPipeline(tmp_path, spark, PIPELINE)
    small.drop(A, B)
    small.pipeline.run()
    small.write(PIPELINE.replace("lit(1)", "lit(2)"))
    small.pipeline.run(full_refresh=["one"])
    assert [row["version"] for row in small.table("one")] == [2, 2]


def test_a_table_that_must_not_be_reset_refuses_and_survives_full_refreshes(
    spark: SparkSession, tmp_path: Path
) -> None:
    small = SmallPipeline(tmp_path, spark, PIPELINE)
    small.drop(A, B)
    small.pipeline.run()
    with pytest.raises(UpdateFailed, match="RESET_NOT_ALLOWED"):
        small.pipeline.run(full_refresh=["raw"])
    small.pipeline.run(full_refresh_all=True)
    assert [len(small.table(name)) for name in ("raw", "one", "two")] == [2, 2, 2]


def test_a_view_notices_that_its_source_was_recomputed_up_to_the_same_version(
    spark: SparkSession, tmp_path: Path
) -> None:
    small = SmallPipeline(tmp_path, spark, FILTERED)
    small.drop(A, B)
    small.pipeline.run()
    before = small.versions()["default/raw"]
    small.write(FILTERED.replace("id > 0", "id > 1"))
    small.pipeline.run(full_refresh=["raw"])
    assert small.versions()["default/raw"] == before
    small.pipeline.run()
    assert [row["id"] for row in small.table("copied")] == [2]


def test_a_lost_checkpoint_is_an_error_that_names_the_rebuild(spark: SparkSession, tmp_path: Path) -> None:
    small = SmallPipeline(tmp_path, spark, f"import dlt\n\n@dlt.table\ndef raw():\n    return {ROWS}\n")
    small.drop(A)
    small.pipeline.run()
    shutil.rmtree(small.pipeline.storage.checkpoints("default.raw"))
    with pytest.raises(UpdateFailed, match=r"CHECKPOINT_MISSING(.|\n)*--rebuild default\.raw"):
        small.pipeline.run()
    assert len(small.table("raw")) == 1


def test_a_table_and_a_view_get_columns_of_a_type_that_delta_asks_a_feature_for(
    spark: SparkSession, tmp_path: Path
) -> None:
    source = f"""
        import dlt

        @dlt.table
        def raw():
            return {ROWS}.selectExpr("*", "NEW AS new")

        @dlt.table
        def copied():
            return spark.read.table("raw").selectExpr("id", "new")
        """
    small = SmallPipeline(tmp_path, spark, source.replace("NEW AS new", "1 AS new"))
    small.drop(A)
    small.pipeline.run()
    for name, expression in ("times", "array(TIMESTAMP_NTZ'2026-01-01 12:00:00')"), ("variant", "parse_json('[1]')"):
        small.write(source.replace("NEW AS new", f"{expression} AS {name}").replace('"new"', f'"{name}"'))
        small.drop(B)
        small.pipeline.run()
        new = [str(row[name]) for row in small.table("copied") if row[name] is not None]
        assert new in (["[datetime.datetime(2026, 1, 1, 12, 0)]"], ["[1]"])
