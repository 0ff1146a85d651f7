"""Typed events from records: what the kinds of event share."""

from collections.abc import Callable, Mapping

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import DataType

from cdc import names
from cdc.debezium.json_texts import PAYLOAD, anywhere, content, parse_object, struct_of

Get = Callable[[str], Column]
"""A field of the event, by its name."""
_PARSED = "_parsed"


def read_events(
    records: DataFrame, fields: Mapping[str, DataType], columns: Callable[[Get], list[Column]]
) -> DataFrame:
    """Typed events, from JSON objects with or without a schema block.

    Grain: one row per record that has a value. Columns: those made by `columns`, then `_topic`, `_partition`,
    `_offset`, `_recorded_at`.

    Args:
        records: of bronze.
        fields: the fields of the JSON object to read, with their types.
        columns: makes the typed columns from those fields.
    """
    form = struct_of({**fields, PAYLOAD: struct_of(fields)})
    parsed = records.where(F.col("value").isNotNull()).select("*", parse_object(F.col("value"), form).alias(_PARSED))
    event = content(F.col(_PARSED))
    return parsed.select(
        *columns(lambda name: anywhere(event, name)),
        *(F.col(name).alias(names.DECODED_AS[name]) for name in (*names.RECORD_ID, "timestamp")),
    )
