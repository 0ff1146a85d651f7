"""Heartbeats: the connector is alive even while no row changes."""

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from cdc import names
from cdc.debezium.events.reading import read_events
from cdc.debezium.json_texts import TEXT, key_texts
from cdc.debezium.values.temporal import instant_of_millis


def read(records: DataFrame) -> DataFrame:
    """The heartbeats.

    Grain: one row per heartbeat. Columns: `server` (the connector's topic prefix), `beaten_at` (the connector's clock),
    `_topic`, `_partition`, `_offset`, `_recorded_at`.
    """
    server = key_texts(F.col("key"), ("serverName",)).getField("serverName")
    return read_events(
        records,
        {"ts_ms": TEXT},
        lambda get: [server.alias("server"), instant_of_millis(get("ts_ms")).alias("beaten_at")],
    )


def liveness(heartbeats: DataFrame) -> DataFrame:
    """The liveness of each connector.

    Grain: one row per server. Columns: `server`, `heartbeats` (how many), `first_at`, `last_at`,
    `longest_silence_seconds` (between two consecutive heartbeats; null until there are two).
    """
    previous = F.lag("beaten_at").over(Window.partitionBy("server").orderBy("beaten_at", names.OFFSET))
    silence = F.unix_millis("beaten_at") - F.unix_millis(previous)
    return (
        heartbeats.select("server", "beaten_at", (silence / 1000).alias("silence"))
        .groupBy("server")
        .agg(
            F.count("*").alias("heartbeats"),
            F.min("beaten_at").alias("first_at"),
            F.max("beaten_at").alias("last_at"),
            F.max("silence").alias("longest_silence_seconds"),
        )
    )
