import os
import sys

sys.path.append(os.path.abspath(os.path.join(os.path.dirname(__file__), "..")))

from helpers import cleaning
from pyspark import pipelines as dp
from pyspark.sql import SparkSession
from pyspark.sql.functions import col

spark = SparkSession.getActiveSession()


@dp.table
def observations():
    return spark.readStream.option("header", "true").schema("place STRING, fahrenheit DOUBLE").csv(cleaning.landing())


@dp.materialized_view
def temperatures():
    columns = spark.read.table("observations").columns
    kept = [name for name in columns if name != "fahrenheit"]
    celsius = cleaning.celsius(col("fahrenheit")).alias("celsius")
    return spark.read.table("observations").select(*kept, cleaning.shortened("place").alias("town"), celsius)
