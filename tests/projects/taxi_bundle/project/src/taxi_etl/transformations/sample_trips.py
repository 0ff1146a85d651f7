from pyspark import pipelines as dp
from pyspark.sql.functions import col


@dp.table
def sample_trips():
    return spark.read.table("samples.nyctaxi.trips")
