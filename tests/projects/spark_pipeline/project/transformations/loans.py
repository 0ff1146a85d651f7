from pyspark import pipelines as dp
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

spark = SparkSession.active()

dp.create_streaming_table("loans")


@dp.append_flow(target="loans")
def new_loans() -> DataFrame:
    return spark.readStream.schema("book STRING, member INT, day DATE").json(spark.conf.get("landing"))


@dp.append_flow(target="loans", name="loans_of_the_card_index", once=True)
def old_loans() -> DataFrame:
    return spark.createDataFrame([("Peer Gynt", 1)], "book STRING, member INT").withColumn(
        "day", F.lit(None).cast("date")
    )


@dp.temporary_view
def dated() -> DataFrame:
    return spark.read.table("loans").where("day IS NOT NULL")
