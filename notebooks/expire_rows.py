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

import sys
from pathlib import Path

ROOT = Path.cwd().parent if Path.cwd().name == "notebooks" else Path.cwd()
sys.path.append(str(ROOT / "pipelines"))

from cdc import retention
from cdc.spec.load import load_conf

# Where the pipeline's settings cdc.schemas.<layer> move a layer, name its schema here.
SCHEMAS = {}

# COMMAND ----------

conf = load_conf(ROOT / "conf", deployed=SCHEMAS)
for statement in retention.deletions(conf.tables, conf.connectors):
    print(statement)
    spark.sql(statement).show()
