# Databricks notebook source
# MAGIC %md
# MAGIC # Expired rows are deleted
# MAGIC
# MAGIC Deletes the records and changes that the table specs no longer keep (`retention`). Run it as a task after the
# MAGIC pipeline's update, so that everything has been read: docs/guides/operate.md has the task. Locally the engine does
# MAGIC it by itself.
# MAGIC
# MAGIC Private tables can be written by their pipeline only, so the outcomes of records (`silver.<table>_decoded`) stay.

# COMMAND ----------

# MAGIC %pip install pyyaml==6.0.3 jsonschema==4.26.0

# COMMAND ----------

# MAGIC %sql
# MAGIC CREATE WIDGET TEXT catalog DEFAULT 'dev'

# COMMAND ----------

# MAGIC %sql
# MAGIC USE CATALOG IDENTIFIER(:catalog)

# COMMAND ----------

dbutils.widgets.text("conf", "../conf", "conf folder")
dbutils.widgets.text("schemas", "", "layers that the pipeline's settings move, such as bronze=dev_bronze silver=dev_silver")

# COMMAND ----------

import os
import sys

sys.path.append(os.path.abspath("../pipelines"))

from cdc import retention
from cdc.spec.load import load_conf

# COMMAND ----------

schemas = dict(each.split("=") for each in dbutils.widgets.get("schemas").split())
conf = load_conf(dbutils.widgets.get("conf"), deployed=schemas)
for statement in retention.deletions(conf.tables, conf.connectors):
    print(statement)
    spark.sql(statement).show()
