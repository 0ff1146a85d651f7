"""Expectations: one that must hold fails its flow alone, and the event log counts rows as Databricks' does."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.support.small_pipeline import ROWS, SmallPipeline

from dlt_local import UpdateFailed

STRICT = f"""
    from pyspark import pipelines as dp

    @dp.table
    @dp.expect_or_fail("positive", "id > 0")
    def strict():
        return {ROWS}

    @dp.table
    def downstream():
        return spark.readStream.table("strict")

    @dp.table
    def independent():
        return {ROWS}
    """
COUNTED = f"""
    import dlt

    @dlt.table
    @dlt.expect("named", "name IS NOT NULL")
    def people():
        return {ROWS}
    """
# As in Databricks' documentation, but for its `details:flow_progress...`: open-source Spark has no `:` operator.
DATA_QUALITY = """
    SELECT expectation.name, expectation.dataset, sum(expectation.passed_records) AS passed,
           sum(expectation.failed_records) AS failed
    FROM (
        SELECT explode(from_json(get_json_object(details, '$.flow_progress.data_quality.expectations'),
            'array<struct<name:string, dataset:string, passed_records:int, failed_records:int>>')) AS expectation
        FROM event_log_raw WHERE event_type = 'flow_progress')
    GROUP BY expectation.name, expectation.dataset
    """


def test_a_row_that_breaks_expect_or_fail_stops_only_the_tables_downstream(spark: SparkSession, tmp_path: Path) -> None:
    small = SmallPipeline(tmp_path, spark, STRICT)
    small.drop({"id": 1, "name": "a"}, {"id": -7, "name": "bad"})
    with pytest.raises(UpdateFailed, match=r"expectation `positive` \(id > 0\).*-7") as failed:
        small.pipeline.run()
    update = failed.value.update
    assert update is not None
    states = {dataset.name: dataset.state for dataset in update.datasets}
    assert states == {
        "default.strict": "FAILED",
        "default.downstream": "SKIPPED",
        "default.independent": "COMPLETED",
    }
    assert small.table("strict") == []
    assert len(small.table("independent")) == 2

    small.write(STRICT.replace('"id > 0"', '"id > -10"'))
    small.pipeline.run()
    assert len(small.table("strict")) == len(small.table("downstream")) == 2


def test_the_event_log_answers_the_documented_data_quality_query(spark: SparkSession, tmp_path: Path) -> None:
    small = SmallPipeline(tmp_path, spark, COUNTED)
    small.drop({"id": 1, "name": "a"}, {"id": 2, "name": None})
    small.pipeline.run()
    small.pipeline.event_log().createOrReplaceTempView("event_log_raw")
    assert [tuple(row) for row in spark.sql(DATA_QUALITY).collect()] == [("named", "default.people", 1, 1)]
