import dlt
from pyspark.sql.functions import col, count, expr, window


@dlt.table
def clicks():
    return (
        spark.readStream.format("cloudFiles")
        .option("cloudFiles.format", "json")
        .option("cloudFiles.schemaLocation", spark.conf.get("schemas"))
        .option("cloudFiles.schemaHints", "at TIMESTAMP, user INT")
        .option("cloudFiles.schemaEvolutionMode", "addNewColumns")
        .load(spark.conf.get("landing"))
        .withColumn("at", col("at").cast("timestamp"))
    )


@dlt.table
def clicks_per_page():
    return dlt.read_stream("clicks").groupBy("page").agg(count("*").alias("clicks"))


@dlt.table
def clicks_per_hour():
    return (
        dlt.read_stream("clicks")
        .withWatermark("at", "30 minutes")
        .groupBy(window("at", "1 hour"), "page")
        .count()
        .select(col("window.start").alias("hour"), "page", "count")
    )


@dlt.table
def first_clicks():
    return dlt.read_stream("clicks").withWatermark("at", "1 day").dropDuplicatesWithinWatermark(["user", "page"])


dlt.create_sink("purchases", "delta", {"path": spark.conf.get("purchases")})


@dlt.append_flow(target="purchases", name="to_purchases")
def to_purchases():
    return dlt.read_stream("first_clicks").where("page = 'buy'").selectExpr("user", "at")
