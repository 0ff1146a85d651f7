"""Python code of a project in its queries: modules beside the sources, in workers too, and what its errors say."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.support.small_pipeline import ROWS, SmallPipeline

from dlt_local import UpdateFailed

SOURCE = f"""# Databricks notebook source
# MAGIC %pip install nothing

# COMMAND ----------

import pandas as pd
import rules
from pyspark import pipelines as dp
from pyspark.sql import functions as F

def by_import_in_a_worker(x):
    import late
    return late.STEP + x

spark.udf.register("registered", rules.added, "int")

@F.pandas_udf("int")
def in_pandas(column: pd.Series) -> pd.Series:
    return rules.added(column)

@dp.table
def raw():
    return {ROWS}

# COMMAND ----------

@dp.materialized_view
def computed():
    import late
    return spark.read.table("raw").select(
        "id",
        F.expr("registered(id)").alias("registered"),
        in_pandas("id").alias("in_pandas"),
        F.udf(by_import_in_a_worker, "int")("id").alias("late"),
        F.lit(late.STEP).alias("step"),
    )

# COMMAND ----------

# MAGIC %sql
# MAGIC CREATE OR REFRESH MATERIALIZED VIEW of_columns AS SELECT id FROM raw

# COMMAND ----------

@dp.materialized_view
def names_of_columns():
    count = spark.sql("SELECT * FROM of_columns").count()
    return spark.createDataFrame([(",".join(spark.read.table("computed").columns), count)], "names STRING, rows INT")
"""
RULES = "import dlt\n\nSTEP = {step}\n\n\ndef added(x):\n    return x + STEP\n"


def small_pipeline(folder: Path, spark: SparkSession, step: int) -> SmallPipeline:
    (folder / "late.py").write_text(f"STEP = {step}\n")
    (folder / "rules.py").write_text(RULES.format(step=step))
    small = SmallPipeline(folder, spark, "")
    small.file.write_text(SOURCE)
    return small


def test_modules_beside_the_sources_are_found_by_queries_and_by_workers(spark: SparkSession, tmp_path: Path) -> None:
    small = small_pipeline(tmp_path, spark, 10)
    small.drop({"id": 1, "name": "a"})
    update = small.pipeline.run()
    assert small.table("computed") == [{"id": 1, "registered": 11, "in_pandas": 11, "late": 11, "step": 10}]
    inputs = {node.name: [str(name) for name in node.inputs] for node in update.graph.tables}
    assert inputs["default.names_of_columns"] == ["default.of_columns", "default.computed"]
    assert small.table("names_of_columns") == [{"names": "id,registered,in_pandas,late,step", "rows": 1}]
    # In the same process, whose workers have imported the modules as they were.
    small_pipeline(tmp_path, spark, 1000)
    small.pipeline.run()
    assert small.table("computed") == [{"id": 1, "registered": 1001, "in_pandas": 1001, "late": 1001, "step": 1000}]


FAILING = f"""
    import dlt
    from pyspark.sql import functions as F
    from shares import share

    @dlt.table
    def raw():
        return {ROWS}

    @dlt.table
    def shares():
        return spark.read.table("raw").select(F.udf(lambda x: share(x, 0), "double")("id").alias("x"))
    """


def test_the_error_of_a_users_function_shows_the_users_lines(spark: SparkSession, tmp_path: Path) -> None:
    small = SmallPipeline(tmp_path, spark, FAILING)
    (tmp_path / "shares.py").write_text("def share(total, count):\n    return total / count\n")
    small.drop({"id": 1, "name": "a"})
    with pytest.raises(UpdateFailed) as failed:
        small.pipeline.run()
    assert str(failed.value) == (
        f"FLOW_FAILED  default.shares\n  flow `default.shares` ({small.file}:10): ZeroDivisionError: division by zero\n"
        f'    {small.file}:12 in <lambda>: return spark.read.table("raw").select(F.udf(lambda x: share(x, 0), '
        '"double")("id").alias("x"))\n'
        f"    {tmp_path}/shares.py:2 in share: return total / count"
    )
