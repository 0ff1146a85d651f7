# Databricks notebook source
# MAGIC %md
# MAGIC # One key, from its records to its row
# MAGIC
# MAGIC Follows one key of a table back from gold to its records in bronze, each with its offset and what became of it.
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

dbutils.widgets.text("table", "orders", "base name of the table's datasets")
dbutils.widgets.text("key", "order_id = 1007", "an SQL condition on the key's columns")
dbutils.widgets.text("bronze", "bronze", "schema of bronze")
dbutils.widgets.text("silver", "silver", "schema of silver")
dbutils.widgets.text("gold", "gold", "schema of gold")

# COMMAND ----------

from pyspark.sql import functions as F

TABLE, KEY = dbutils.widgets.get("table"), dbutils.widgets.get("key")
BRONZE, SILVER, GOLD = (dbutils.widgets.get(layer) for layer in ("bronze", "silver", "gold"))
PLACE = ["topic", "partition", "offset"]


def start(name):
    """The first characters of a record's key or value."""
    return F.substring(F.col(name).cast("string"), 1, 60).alias(f"{name} (start)")


# COMMAND ----------

# MAGIC %md
# MAGIC ## Gold: the current row and all of its versions

# COMMAND ----------

spark.read.table(f"{GOLD}.{TABLE}").where(KEY).show(truncate=False, vertical=True)

# COMMAND ----------

# Without `history: false` in the spec, that is.
if spark.catalog.tableExists(f"{GOLD}.{TABLE}_history"):
    versions = spark.read.table(f"{GOLD}.{TABLE}_history").where(KEY)
    intervals = ["version", "valid_from", "valid_to", "is_current"]
    own = [f"`{name}`" for name in versions.columns if name not in intervals]
    versions.select(*intervals, *own).orderBy("version").show(1000, truncate=False)

# COMMAND ----------

# MAGIC %md
# MAGIC ## Silver: the changes that made them
# MAGIC
# MAGIC In the order in which the source committed them. Changes with the same position are redeliveries: they make no
# MAGIC version.

# COMMAND ----------

changes = spark.read.table(f"{SILVER}.{TABLE}_changes").where(KEY)
# The columns of the position in the source's log depend on the connector; a count in the transaction comes behind them.
position = changes.columns[changes.columns.index("_op") + 1 : changes.columns.index("_committed_at")]
position[2:2] = [name for name in changes.columns if name == "_total_order"]
own = [f"`{name}`" for name in changes.columns if not name.startswith("_")]
changes.select("_op", "_committed_at", *position, "_offset", *own).orderBy(*position, "_offset").show(1000)

# COMMAND ----------

# MAGIC %md
# MAGIC ## Bronze: the records as delivered by Kafka
# MAGIC
# MAGIC Those of the changes, and all others with the same record key: the tombstone that Debezium sends after a delete
# MAGIC is one, a record that could not be decoded another.

# COMMAND ----------

records = spark.read.table(f"{BRONZE}.{TABLE}")
of_changes = changes.select(*(F.col(f"_{name}").alias(name) for name in PLACE), F.col("_op").alias("outcome"))
rejects = spark.read.table(f"{SILVER}.{TABLE}_rejects").select(*PLACE, F.concat(F.lit("reject: "), "reason").alias("reject"))
keys = records.join(of_changes, PLACE, "left_semi").where(F.col("key").isNotNull()).select("key").distinct()
places = records.join(keys, "key", "left_semi").select(*PLACE).union(of_changes.select(*PLACE)).distinct()

ignored = F.when(F.col("value").isNull(), F.lit("tombstone")).otherwise(F.lit("not a change in silver"))
records.join(places, PLACE, "left_semi").join(of_changes, PLACE, "left").join(rejects, PLACE, "left").select(
    *PLACE, "timestamp", F.coalesce("outcome", "reject", ignored).alias("outcome"), start("key"), start("value")
).orderBy(*PLACE).show(1000, truncate=False)
