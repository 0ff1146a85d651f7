"""Many streaming tables that only append."""

from pyspark import pipelines as dp

folder = spark.conf.get("bench.input")
schema = spark.read.parquet(folder).schema


def declare(number: int) -> None:
    """Declare one table."""

    @dp.table(name=f"copy_{number:02}")
    def rows():
        return spark.readStream.schema(schema).parquet(folder)


for number in range(int(spark.conf.get("bench.tables"))):
    declare(number)
