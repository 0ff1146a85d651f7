# Databricks notebook source
# MAGIC %md
# MAGIC # Bronze
# MAGIC Raw files as they arrive, with what Auto Loader could not place in `_rescued_data`.

# COMMAND ----------

# MAGIC %run ./includes/schemas

# COMMAND ----------

import dlt
from pyspark.sql.functions import col, current_timestamp

# COMMAND ----------


@dlt.table(name="orders_raw", comment="Orders as they came", table_properties={"quality": "bronze"})
def orders_raw():
    return (
        spark.readStream.format("cloudFiles")
        .option("cloudFiles.format", "json")
        .option("cloudFiles.inferColumnTypes", "true")
        .option("cloudFiles.schemaHints", order_hints)
        .load(path_of("orders"))
        .select("*", col("_metadata.file_name").alias("source_file"), current_timestamp().alias("loaded_at"))
    )


# COMMAND ----------


@dlt.table
def customers_raw():
    return (
        spark.readStream.format("cloudFiles")
        .option("cloudFiles.format", "csv")
        .option("header", True)
        .load(path_of("customers"))
    )


# COMMAND ----------

display(spark.range(1))
