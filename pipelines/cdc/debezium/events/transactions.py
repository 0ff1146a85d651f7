"""Transactions: where each begins and ends, and how many events of each table it has."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType

from cdc.debezium.events.reading import Get, read_events
from cdc.debezium.json_texts import TEXT, texts_of
from cdc.debezium.values.temporal import instant_of_millis

_FIELDS = {
    "status": TEXT,
    "id": TEXT,
    "ts_ms": TEXT,
    "event_count": TEXT,
    "data_collections": ArrayType(texts_of(("data_collection", "event_count"))),
}


def read(records: DataFrame) -> DataFrame:
    """The boundaries of transactions.

    Grain: one row per boundary, two per transaction. Columns: `transaction_id` (the changes' `_transaction_id`),
    `status` (``BEGIN`` or ``END``), `marked_at` (source time), `events` and `tables` (at an end, the number of events
    in total and by table; else null), `_topic`, `_partition`, `_offset`, `_recorded_at`.
    """
    return read_events(records, _FIELDS, _columns)


def _columns(get: Get) -> list[Column]:
    tables = F.transform(
        get("data_collections"),
        lambda each: F.struct(
            each.getField("data_collection").alias("table"),
            each.getField("event_count").try_cast("bigint").alias("events"),
        ),
    )
    return [
        get("id").alias("transaction_id"),
        get("status").alias("status"),
        instant_of_millis(get("ts_ms")).alias("marked_at"),
        get("event_count").try_cast("bigint").alias("events"),
        tables.alias("tables"),
    ]
