"""Metrics that are collected while a query runs."""

from pyspark.sql import Observation, SparkSession
from pyspark.sql import functions as F

from dlt_local.spark.observations import observed_metrics


def test_rows_are_counted_while_the_query_runs(spark: SparkSession) -> None:
    counts = Observation()
    spark.range(3).observe(counts, F.count(F.lit(1)).alias("rows")).collect()
    assert observed_metrics(counts)["rows"] == 3


def test_the_metrics_of_a_query_optimized_away_are_zero(spark: SparkSession) -> None:
    counts = Observation()
    # Spark optimizes the query away and reports no metrics at all.
    spark.range(3).where(F.lit(False)).observe(counts, F.count(F.lit(1)).alias("rows")).collect()
    assert observed_metrics(counts)["rows"] == 0
