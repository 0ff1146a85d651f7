# Databricks notebook source
# MAGIC %md
# MAGIC # Do source and gold have the same rows?
# MAGIC
# MAGIC Compares `gold.<table>` with the source, or with any other copy of it: an exported file, a table (the target of an
# MAGIC older pipeline, a table of a foreign catalog), a database over JDBC. Counts and a hash of each key range come first;
# MAGIC only ranges that differ are compared row by row, and their keys listed with the reason.
# MAGIC
# MAGIC The spec says how the source's rows should look in gold: names, types, masks, filter. `cdc.reconcile` does the work.
# MAGIC
# MAGIC **At the same moment.** The source goes on while gold catches up. `as_of` compares with the rows of that moment, from
# MAGIC `gold.<table>_history`: take it from when the export was made (in one snapshot), and run this once an update has read
# MAGIC later changes.
# MAGIC
# MAGIC In a workspace, choose the catalog that the pipeline writes to. Locally, after `make demo`, with an export of yours:
# MAGIC `python -m demo.notebook notebooks/reconcile.py --set format=csv --set source=/exports/orders.csv`.

# COMMAND ----------

# MAGIC %pip install pyyaml==6.0.3 jsonschema==4.26.0

# COMMAND ----------

# MAGIC %sql
# MAGIC CREATE WIDGET TEXT catalog DEFAULT 'dev'

# COMMAND ----------

# MAGIC %sql
# MAGIC USE CATALOG IDENTIFIER(:catalog)

# COMMAND ----------

dbutils.widgets.text("connector", "shop", "connector of the table")
dbutils.widgets.text("table", "orders", "name of the table in the specs")
dbutils.widgets.dropdown("format", "parquet", ["parquet", "csv", "table", "jdbc"], "form of the source's rows")
dbutils.widgets.text("source", "", "path, name of a table, or jdbc:... URL")
dbutils.widgets.text("dbtable", "", "with jdbc: the table at the source")
dbutils.widgets.text("secret_scope", "", "with jdbc: scope with the secrets jdbc-user and jdbc-password")
dbutils.widgets.text("leave_out", "", "columns not to compare, separated by commas")
dbutils.widgets.text("as_of", "", "moment of the export: 2026-03-10T08:00:00+00:00; empty: now")
dbutils.widgets.text("gold", "", "schema of gold, if not the one in the specs")

# COMMAND ----------

import os
import sys
from datetime import datetime

from pyspark.sql import functions as F

sys.path.append(os.path.abspath("../pipelines"))
from cdc import load_tables, names, reconcile

of = dbutils.widgets.get
table = next(each for each in load_tables("../conf", of("connector")) if each.name == of("table"))


def published(dataset):
    """A dataset of gold, in the schema of this deployment."""
    schema, _, name = dataset.rpartition(".")
    return spark.read.table(f"{of('gold') or schema}.{name}")


# COMMAND ----------

# MAGIC %md
# MAGIC ## Both sides
# MAGIC
# MAGIC A CSV file has a header and writes null as `\N`: with an empty text for null it could not be told from an empty
# MAGIC string. Columns that Spark reads in another form than gold has them (a `time` over JDBC) are converted here, or left
# MAGIC out.

# COMMAND ----------

kind, where = of("format"), of("source")
if kind == "jdbc":
    options = {"url": where, "dbtable": of("dbtable"), "preferTimestampNTZ": "true"}
    if scope := of("secret_scope"):
        options |= {name: dbutils.secrets.get(scope, f"jdbc-{name}") for name in ("user", "password")}
    source = spark.read.format("jdbc").options(**options).load()
elif kind == "csv":
    source = spark.read.csv(where, header=True, nullValue="\\N", emptyValue="", multiLine=True, escape='"')
elif kind == "parquet":
    source = spark.read.parquet(where)
else:
    source = spark.read.table(where)

# COMMAND ----------

if moment := of("as_of"):
    gold = reconcile.rows_at(published(names.history_dataset(table)), datetime.fromisoformat(moment))
else:
    gold = published(names.rows_dataset(table))
leave_out = [name.strip() for name in of("leave_out").split(",") if name.strip()]
both = reconcile.sides(source, gold, table, leave_out)
compared = ", ".join(both.source.columns)
others = [name for name in gold.columns if name not in both.source.columns]
print(f"compared: {compared}\nnot compared: {', '.join(others) or 'none'}")

# COMMAND ----------

# MAGIC %md
# MAGIC ## Counts and hashes by key range

# COMMAND ----------

found = reconcile.summary(reconcile.by_range(both)).first()
print(f"{found.source_rows} rows in the source, {found.gold_rows} in gold")
print(f"{len(found.differing)} of {found.ranges} key ranges differ")
for each in found.differing[:50]:
    print(f"from {each[reconcile.RANGE]}: {each.source_rows} rows in the source, {each.gold_rows} in gold")

# COMMAND ----------

# MAGIC %md
# MAGIC ## Keys that differ
# MAGIC
# MAGIC | reason | look at |
# MAGIC |---|---|
# MAGIC | missing in gold | rejects of the table (`silver.<table>_rejects`); a snapshot that left rows out; a later change |
# MAGIC | missing in the source | deletes that never came: a gap in the topic, `skipped.operations` |
# MAGIC | differs in some columns | one column in all rows: its form or type; several in few rows: a gap, a reject, a later change |
# MAGIC | more than once in the source | an export that is no single snapshot, or a spec whose key is not the key |
# MAGIC
# MAGIC The notebook `one_key` shows the records of a key.

# COMMAND ----------

differences = reconcile.differences(reconcile.in_ranges(both, [each[reconcile.RANGE] for each in found.differing]))
differences.groupBy(reconcile.REASON).count().orderBy(F.col("count").desc()).show(100, truncate=False)
differences.orderBy(*table.key).limit(100).show(100, truncate=False, vertical=True)
