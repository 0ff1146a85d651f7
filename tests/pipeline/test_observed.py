"""Numbers that are counted while a query runs."""

from pyspark.sql import Observation, SparkSession
from pyspark.sql import functions as F

from dlt_local.spark.observations import observed_metrics


def test_rows_are_counted_while_the_query_runs(spark: SparkSession) -> None:
    counts = Observation()
    spark.range(3).observe(counts, F.count(F.lit(1)).alias("rows")).collect()
    assert observed_metrics(counts)["rows"] == 3


def test_a_frame_that_spark_knows_to_be_empty_has_no_rows(spark: SparkSession) -> None:
    counts = Observation()
    # Without a query to run Spark tells nothing, not even a zero.
    spark.range(3).where(F.lit(False)).observe(counts, F.count(F.lit(1)).alias("rows")).collect()
    assert observed_metrics(counts)["rows"] == 0
