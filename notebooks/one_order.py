# Databricks notebook source
# MAGIC %md
# MAGIC # One order, from its records to its row
# MAGIC
# MAGIC Follows order 1007 of the demo's shop through bronze, silver and gold, then shows that every record is
# MAGIC accounted for, and the records that could not be decoded.
# MAGIC
# MAGIC In a workspace, choose the catalog that the pipeline writes to. Locally, after `make demo`:
# MAGIC `python -m demo.notebook`.

# COMMAND ----------

# MAGIC %sql
# MAGIC CREATE WIDGET TEXT catalog DEFAULT 'dev'

# COMMAND ----------

# MAGIC %sql
# MAGIC USE CATALOG IDENTIFIER(:catalog)

# COMMAND ----------

from pyspark.sql import functions as F

ORDER = 1007
# Where the pipeline's settings cdc.schemas.<layer> move a layer, name its schema here.
BRONZE, SILVER, GOLD = "bronze", "silver", "gold"

# COMMAND ----------

# MAGIC %md
# MAGIC ## Gold: the current row and all of its versions

# COMMAND ----------

spark.read.table(f"{GOLD}.orders").where(F.col("order_id") == ORDER).show(truncate=False, vertical=True)

# COMMAND ----------

versions = spark.read.table(f"{GOLD}.orders_history").where(F.col("order_id") == ORDER)
versions.select("version", "valid_from", "valid_to", "is_current", "status", "total", "paid_at").orderBy(
    "version"
).show(truncate=False)

# COMMAND ----------

# MAGIC %md
# MAGIC ## Silver: the changes that made them
# MAGIC
# MAGIC In the order in which the source committed them. Changes with the same position are redeliveries: they make no
# MAGIC version.

# COMMAND ----------

POSITION = ["_incarnation", "_commit_lsn", "_change_lsn", "_event_serial_no", "_operation"]

changes = spark.read.table(f"{SILVER}.orders_changes").where(F.col("order_id") == ORDER)
changes.select(
    "_op", "_committed_at", "_commit_lsn", "_change_lsn", "_event_serial_no", "_offset", "status", "total"
).orderBy(*POSITION, "_offset").show(truncate=False)

# COMMAND ----------

# MAGIC %md
# MAGIC ## Bronze: the records as delivered by Kafka

# COMMAND ----------

places = changes.select(
    F.col("_topic").alias("topic"), F.col("_partition").alias("partition"), F.col("_offset").alias("offset")
)
records = spark.read.table(f"{BRONZE}.orders").join(places, ["topic", "partition", "offset"], "left_semi")
records.select(
    "topic",
    "partition",
    "offset",
    "timestamp",
    F.col("key").cast("string").alias("key"),
    F.substring(F.col("value").cast("string"), 1, 60).alias("value (start)"),
).orderBy("offset").show(truncate=False)

# COMMAND ----------

# MAGIC %md
# MAGIC ## Every record is accounted for
# MAGIC
# MAGIC A record is a change, a reject, or a tombstone: the null that Debezium sends after a delete, for Kafka's log
# MAGIC compaction.

# COMMAND ----------

TABLES = ["customers", "order_lines", "orders", "products"]


def accounted(table):
    """One row: the number of a source table's records, and of their outcomes."""
    records = spark.read.table(f"{BRONZE}.{table}").agg(
        F.lit(table).alias("table"),
        F.count("*").alias("records"),
        F.count_if(F.col("value").isNull()).alias("tombstones"),
    )
    changes = spark.read.table(f"{SILVER}.{table}_changes").agg(F.count("*").alias("changes"))
    rejects = spark.read.table(f"{SILVER}.{table}_rejects").agg(F.count("*").alias("rejects"))
    counted = records.crossJoin(changes).crossJoin(rejects)
    return counted.select(
        "table",
        "records",
        "changes",
        "rejects",
        "tombstones",
        (F.col("records") == F.col("changes") + F.col("rejects") + F.col("tombstones")).alias("holds"),
    )


balance = accounted(TABLES[0])
for table in TABLES[1:]:
    balance = balance.unionByName(accounted(table))
balance.show()

# COMMAND ----------

# MAGIC %md
# MAGIC ## Records that could not be decoded
# MAGIC
# MAGIC Each reject contains the record, so nothing has to be read from Kafka again.

# COMMAND ----------

rejects = spark.read.table(f"{SILVER}.orders_rejects").select(
    "reason", "message", "offset", F.substring(F.col("value").cast("string"), 1, 40).alias("value (start)")
)
rejects.orderBy("offset").show(truncate=False)
