from pyspark import pipelines as dp
from pyspark.sql.functions import sum


@dp.table
def sample_zones():
    return spark.read.table("sample_trips").groupBy("pickup_zip").agg(sum("fare_amount").alias("total_fare"))
