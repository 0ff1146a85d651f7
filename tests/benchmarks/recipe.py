"""The recipe of the tutorials: `foreachBatch` with from_json, row_number and MERGE.

It is correct only for events that arrive once and in order, so benchmarks deliver only those.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

from delta.tables import DeltaTable
from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.types import StructType

ORDER = ("_commit_lsn", "_change_lsn", "_event_serial_no")
_SOURCE = "version string, connector string, name string, ts_ms bigint, snapshot string, db string, schema string"
_POSITION = "table string, change_lsn string, commit_lsn string, event_serial_no bigint"

Upsert = Callable[[DataFrame, int], None]


def stream(source: DataFrame, upsert: Upsert, checkpoint: Path) -> None:
    """Apply everything that has arrived with `upsert`."""
    start(source, upsert, checkpoint).awaitTermination()


def start(source: DataFrame, upsert: Upsert, checkpoint: Path) -> StreamingQuery:
    """Begin to apply everything that has arrived."""
    writer = source.writeStream.foreachBatch(upsert).option("checkpointLocation", str(checkpoint))
    return writer.trigger(availableNow=True).start()


def parsed(records: DataFrame, raw_row: StructType, columns: Sequence[Column]) -> DataFrame:
    """Changes from records: the whole envelope by from_json, then typed columns.

    Args:
        records: Kafka's columns.
        raw_row: the JSON types of `before` and `after`.
        columns: each column of the table, from the struct ``row``.
    """
    image = f"struct<{', '.join(f'{f.name}: {f.dataType.simpleString()}' for f in raw_row.fields)}>"
    source = ", ".join(part.replace(" ", ": ", 1) for part in f"{_SOURCE}, {_POSITION}".split(", "))
    envelope = f"before {image}, after {image}, source struct<{source}>, op string, ts_ms bigint"
    events = records.where("value IS NOT NULL").select(F.from_json(F.col("value").cast("string"), envelope).alias("e"))
    rows = events.select("e.*", F.coalesce("e.after", "e.before").alias("row"))
    position = [F.col(f"source.{name[1:]}").alias(name) for name in ORDER]
    return rows.select(*columns, F.col("op").alias("_op"), *position)


def upsert_current(target: Path) -> Upsert:
    """SCD type 1: the last change of each key by row_number, then MERGE."""

    def upsert(changes: DataFrame, _: int) -> None:
        newest_first = Window.partitionBy("id").orderBy(*(F.desc(name) for name in ORDER))
        last = changes.withColumn("rank", F.row_number().over(newest_first)).where("rank = 1").drop("rank")
        table = DeltaTable.forPath(changes.sparkSession, str(target))
        values: dict[str, str | Column] = {name: f"s.{name}" for name in table.toDF().columns}
        (
            table.alias("t")
            .merge(last.alias("s"), "t.id = s.id")
            .whenMatchedDelete("s._op = 'd'")
            .whenMatchedUpdate(set=values)
            .whenNotMatchedInsert("s._op <> 'd'", values=values)
            .execute()
        )

    return upsert


def upsert_history(target: Path) -> Upsert:
    """SCD type 2 in two steps: close the open version of every key that changed, then append the new ones."""

    def upsert(changes: DataFrame, _: int) -> None:
        start = F.struct(*(F.col(name).alias(name.removeprefix("_")) for name in ORDER))
        in_order = Window.partitionBy("id").orderBy("__START_AT")
        started = changes.withColumn("__START_AT", start)
        versions = started.withColumn("__END_AT", F.lead("__START_AT").over(in_order))
        firsts = started.groupBy("id").agg(F.min("__START_AT").alias("first"))
        table = DeltaTable.forPath(changes.sparkSession, str(target))
        (
            table.alias("t")
            .merge(firsts.alias("s"), "t.id = s.id AND t.__END_AT IS NULL")
            .whenMatchedUpdate(set={"__END_AT": "s.first"})
            .execute()
        )
        new = versions.where("_op <> 'd'").select(*table.toDF().columns)
        new.write.format("delta").mode("append").save(str(target))

    return upsert


def create(spark: SparkSession, target: Path, schema: StructType) -> None:
    """Create an empty Delta table."""
    spark.createDataFrame([], schema).write.format("delta").save(str(target))
