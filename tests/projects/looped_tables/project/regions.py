import json
from functools import reduce

import dlt
from pyspark.sql import DataFrame
from pyspark.sql.functions import lit

regions = json.loads(spark.conf.get("mypipeline.regions"))
base = spark.conf.get("mypipeline.path")


def declare(region: str) -> None:
    @dlt.table(name=f"readings_{region}", comment=f"Readings of {region}", partition_cols=["day"])
    @dlt.expect_or_fail("known sensor", "sensor IS NOT NULL")
    def readings():
        return (
            spark.readStream.format("cloudFiles")
            .options(**{"cloudFiles.format": "parquet" if region == "south" else "json"})
            .schema("sensor STRING, value DOUBLE, day DATE")
            .load(f"{base}/{region}")
        )


for region in regions:
    declare(region)


@dlt.table
def readings():
    frames = [dlt.read(f"readings_{region}").withColumn("region", lit(region)) for region in regions]
    return reduce(DataFrame.unionByName, frames)


@dlt.table
def days():
    return dlt.read("readings").groupBy("day").count()
