"""Transactions: where each begins and ends, and how many events it has of each table."""

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
    """The marks of the transactions.

    Grain: one row per mark, two per transaction. Columns: `transaction_id` (as the changes' `_transaction_id`),
    `status` (``BEGIN`` or ``END``), `marked_at` (source time), and of an end `events` and `tables`, the number of
    events in all and of each table; then the record's place.
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
