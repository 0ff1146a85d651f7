# Databricks notebook source
# MAGIC %md
# MAGIC # What is in bronze
# MAGIC
# MAGIC The records of one source table as Kafka delivered them, and what became of them in silver.
# MAGIC
# MAGIC In a workspace, choose the catalog that the pipeline writes to. Locally, after `make demo`:
# MAGIC `python -m demo.notebook notebooks/explore_bronze.py`.

# COMMAND ----------

# MAGIC %sql
# MAGIC CREATE WIDGET TEXT catalog DEFAULT 'dev'

# COMMAND ----------

# MAGIC %sql
# MAGIC USE CATALOG IDENTIFIER(:catalog)

# COMMAND ----------

dbutils.widgets.text("table", "orders", "base name of the table's datasets")
dbutils.widgets.text("bronze", "bronze", "schema of bronze")
dbutils.widgets.text("silver", "silver", "schema of silver")

# COMMAND ----------

from pyspark.sql import functions as F

TABLE = dbutils.widgets.get("table")
BRONZE, SILVER = dbutils.widgets.get("bronze"), dbutils.widgets.get("silver")

records = spark.read.table(f"{BRONZE}.{TABLE}")
value = F.col("value").cast("string")

# COMMAND ----------

# MAGIC %md
# MAGIC ## How many, from when, from where
# MAGIC
# MAGIC `missing` offsets are a loss, or natural: markers of a producer's transactions, or a compacted topic. The setting
# MAGIC `cdc.gaps` lists them.

# COMMAND ----------

records.groupBy("topic", "partition").agg(
    F.count("*").alias("records"),
    F.min("offset").alias("first_offset"),
    F.max("offset").alias("last_offset"),
    (F.max("offset") - F.min("offset") + 1 - F.count_distinct("offset")).alias("missing"),
    F.min("timestamp").alias("first_at"),
    F.max("timestamp").alias("last_at"),
    F.max(F.length("value")).alias("largest value in bytes"),
).orderBy("topic", "partition").show(1000, truncate=False)

# COMMAND ----------

records.groupBy(F.to_date("timestamp").alias("day")).agg(
    F.count("*").alias("records"), F.sum(F.length("value")).alias("bytes")
).orderBy("day").show(1000)

# COMMAND ----------

# MAGIC %md
# MAGIC ## Which operations
# MAGIC
# MAGIC Of records in JSON, with a schema block or without: c, u, d, r (a snapshot's read), t. A tombstone is the null that
# MAGIC Debezium sends after a delete, for Kafka's log compaction.

# COMMAND ----------

op = F.coalesce(*(F.get_json_object(value, f"$.{path}") for path in ("op", "payload.op", "__op")))
kind = F.when(F.col("value").isNull(), "tombstone").otherwise(F.coalesce(op, F.lit("none found")))
records.groupBy(kind.alias("operation")).count().orderBy("operation").show()

# COMMAND ----------

records.select(F.explode("headers.key").alias("header")).groupBy("header").count().orderBy("header").show(truncate=False)

# COMMAND ----------

# MAGIC %md
# MAGIC ## The newest records

# COMMAND ----------

records.orderBy(F.col("timestamp").desc(), F.col("offset").desc()).limit(5).select(
    "topic", "partition", "offset", "timestamp", F.col("key").cast("string").alias("key"), value.alias("value")
).show(truncate=False, vertical=True)

# COMMAND ----------

# MAGIC %md
# MAGIC ## Every record is accounted for
# MAGIC
# MAGIC A record is a change, a reject, or ignored for a reason: a tombstone, a heartbeat, another table's. Between two
# MAGIC updates bronze may be ahead of silver.

# COMMAND ----------

changes = spark.read.table(f"{SILVER}.{TABLE}_changes")
rejects = spark.read.table(f"{SILVER}.{TABLE}_rejects")

of_records = records.agg(F.count("*").alias("records"), F.count_if(F.col("value").isNull()).alias("tombstones"))
of_both = changes.agg(F.count("*").alias("changes")).crossJoin(rejects.agg(F.count("*").alias("rejects")))
others = F.col("records") - F.col("tombstones") - F.col("changes") - F.col("rejects")
of_records.crossJoin(of_both).select(
    F.lit(TABLE).alias("table"), "records", "changes", "rejects", "tombstones", others.alias("otherwise ignored")
).show()

# COMMAND ----------

# MAGIC %md
# MAGIC ## Records that could not be decoded
# MAGIC
# MAGIC Each reject contains the record, so nothing has to be read from Kafka again.

# COMMAND ----------

rejects.groupBy("reason").agg(
    F.count("*").alias("rejects"), F.min_by("message", "offset").alias("first message"), F.min("offset").alias("first offset")
).orderBy("reason").show(1000, truncate=False)
