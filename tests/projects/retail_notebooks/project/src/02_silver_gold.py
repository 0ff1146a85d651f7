# Databricks notebook source
import dlt
from pyspark.sql import functions as F

dbutils.widgets.text("minimum_quantity", "1")
minimum = int(dbutils.widgets.get("minimum_quantity"))

# COMMAND ----------


@dlt.table
@dlt.expect_or_drop("has_id", "order_id IS NOT NULL")
@dlt.expect("positive", f"quantity >= {minimum}")
def orders_clean():
    return dlt.read_stream("orders_raw").withColumn("amount", F.col("quantity") * F.col("unit_price"))


# COMMAND ----------

# MAGIC %sql
# MAGIC CREATE OR REFRESH LIVE TABLE sales_by_country
# MAGIC COMMENT "What each country has bought"
# MAGIC AS SELECT c.country, sum(o.amount) AS amount, count(*) AS orders
# MAGIC FROM LIVE.orders_clean o JOIN LIVE.customers_raw c ON o.customer_id = c.customer_id
# MAGIC GROUP BY c.country
