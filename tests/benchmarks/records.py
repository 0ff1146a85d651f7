"""Any number of records in the form of the SQL Server connector, made by Spark."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from cdc import TableSpec

COLUMNS = """
    topic string, partition int, offset bigint, timestamp timestamp, timestampType int,
    headers array<struct<key: string, value: binary>>, key binary, value binary
"""
"""Kafka's columns, which all records have."""
FILES = 8
"""Files of an input, enough for all cores of a small machine."""
_MILLIS = 1_772_438_712_000
_EVENTS_OF_A_TRANSACTION = 10


@dataclass(frozen=True)
class Stretch:
    """A range of a topic's records, in the order of its offsets."""

    first: int
    """Number of the first; an event's number is its offset and determines its position in the log."""
    count: int
    keys: int
    kind: Literal["load", "uniform", "hot"] = "load"
    """`load` inserts each key once; the others are updates with one delete in ten, of all keys or mostly of few."""


def records(spark: SparkSession, table: TableSpec, stretch: Stretch, schema_block: bool = False) -> DataFrame:
    """The records in Kafka's columns; ``schema_block`` wraps each value in Connect's schema."""
    numbered = spark.range(stretch.first, stretch.first + stretch.count, 1, FILES).withColumnRenamed("id", "n")
    events = numbered.select("n", _key(stretch).alias("key"), _op(stretch).alias("op"))
    row = F.struct(*(_json_value(column.name, str(column.type)).alias(column.name) for column in table.columns))
    is_delete = F.col("op") == "d"
    envelope = F.struct(
        F.when(F.col("op") != "c", row).alias("before"),
        F.when(~is_delete, row).alias("after"),
        _source(table).alias("source"),
        F.lit(None).cast("string").alias("transaction"),
        F.col("op").alias("op"),
        (F.lit(_MILLIS) + F.col("n")).alias("ts_ms"),
    )
    value = F.to_json(envelope, {"ignoreNullFields": "false"})
    if schema_block:
        value = F.concat(F.lit(f'{{"schema":{_schema(table)},"payload":'), value, F.lit("}"))
    return events.select(
        F.lit(table.topic).alias("topic"),
        F.lit(0).alias("partition"),
        F.col("n").alias("offset"),
        F.timestamp_millis(F.lit(_MILLIS) + F.col("n")).alias("timestamp"),
        F.lit(0).alias("timestampType"),
        F.lit(None).cast("array<struct<key: string, value: binary>>").alias("headers"),
        F.to_json(F.struct(F.col("key").alias("id"))).cast("binary").alias("key"),
        value.cast("binary").alias("value"),
    )


def _key(stretch: Stretch) -> Column:
    if stretch.kind == "load":
        return (F.col("n") - stretch.first) % stretch.keys
    share = F.pmod(F.xxhash64(F.col("n"), F.lit(1)), F.lit(1_000_000)) / 1_000_000
    spread = share if stretch.kind == "uniform" else F.pow(share, 4)
    return F.floor(spread * stretch.keys).cast("bigint")


def _op(stretch: Stretch) -> Column:
    if stretch.kind == "load":
        return F.lit("c")
    return F.when(F.pmod(F.xxhash64(F.col("n"), F.lit(2)), F.lit(10)) == 0, "d").otherwise("u")


def _source(table: TableSpec) -> Column:
    """The position in the log: ten events in a transaction, an LSN for each."""
    database, schema, name = table.source.split(".")
    transaction = F.floor(F.col("n") / _EVENTS_OF_A_TRANSACTION)
    lsn = F.concat(F.lit("0000002a:"), F.lpad(F.lower(F.hex(transaction)), 8, "0"))
    slot = F.lpad(F.lower(F.hex(F.col("n") % _EVENTS_OF_A_TRANSACTION + 2)), 4, "0")
    fields: Mapping[str, Column] = {
        "version": F.lit("3.6.1.Final"),
        "connector": F.lit("sqlserver"),
        "name": F.lit(table.connector.topic_prefix),
        "ts_ms": F.lit(_MILLIS) + transaction,
        "snapshot": F.lit("false"),
        "db": F.lit(database),
        "schema": F.lit(schema),
        "table": F.lit(name),
        "change_lsn": F.concat_ws(":", lsn, slot),
        "commit_lsn": F.concat_ws(":", lsn, F.lit("00ff")),
        "event_serial_no": F.when(F.col("op") == "u", 2).otherwise(1).cast("bigint"),
    }
    return F.struct(*(value.alias(name) for name, value in fields.items()))


def _json_value(name: str, type_: str) -> Column:
    """The JSON of a value of the type in the connector's default modes, different in every event."""
    if name == "id":
        return F.col("key")
    n, kind = F.col("n"), type_.split("(")[0]
    makers: Mapping[str, Callable[[], Column]] = {
        "int": lambda: (n % 100_000).cast("int"),
        "smallint": lambda: (n % 1000).cast("int"),
        "varchar": lambda: F.element_at(
            F.array(*map(F.lit, ("new", "paid", "packed", "sent"))), (n % 4 + 1).cast("int")
        ),
        "nvarchar": lambda: F.concat(F.lit("Ordered by phone, number "), n.cast("string")),
        "bit": lambda: n % 2 == 0,
        "decimal": lambda: _unscaled(n % 10_000_000),
        "money": lambda: _unscaled(n % 10_000_000),
        "datetime2": lambda: _datetime(n, type_),
        "date": lambda: (F.lit(20_000) + n % 1000).cast("int"),
        "uniqueidentifier": lambda: F.concat(F.lit("6F9619FF-8B86-D011-B42D-"), F.lpad(F.hex(n), 12, "0")),
    }
    return makers[kind]()


def _unscaled(number: Column) -> Column:
    return F.base64(F.unhex(F.lpad(F.hex(number), 8, "0")))


def _datetime(n: Column, type_: str) -> Column:
    """Adaptive precision: milliseconds for datetime2(3), nanoseconds for datetime2(7)."""
    millis = F.lit(_MILLIS) + n
    return millis if type_.endswith("(3)") else millis * 1_000_000 + (n % 10_000) * 100


def _schema(table: TableSpec) -> str:
    """A schema block as large as Connect's: every column twice, and the source's fields."""
    columns = [
        {"type": "string", "optional": True, "name": f"io.debezium.{c.type}", "field": c.name} for c in table.columns
    ]
    source = [{"type": "string", "optional": True, "field": f"source field {number}"} for number in range(14)]
    images = [
        {"type": "struct", "fields": columns, "optional": True, "name": "Value", "field": f}
        for f in ("before", "after")
    ]
    fields = [*images, {"type": "struct", "fields": source, "optional": False, "field": "source"}]
    return json.dumps(
        {"type": "struct", "fields": fields, "optional": False, "name": "Envelope"}, separators=(",", ":")
    )
