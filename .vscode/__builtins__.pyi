# Pipeline files get `spark` from the runtime, on Databricks and here; this tells the editor.
from pyspark.sql import SparkSession

spark: SparkSession
