"""What reading of every kind of event shares: a JSON object, under a schema block or not, and the record's place."""

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
    """One row per record that has a value: the columns made of its fields, then its place.

    Args:
        records: bronze's.
        fields: of the event's JSON object, as far as they are wanted.
        columns: what becomes of them.
    """
    form = struct_of({**fields, PAYLOAD: struct_of(fields)})
    parsed = records.where(F.col("value").isNotNull()).select("*", parse_object(F.col("value"), form).alias(_PARSED))
    event = content(F.col(_PARSED))
    return parsed.select(
        *columns(lambda name: anywhere(event, name)),
        F.col("topic").alias(names.TOPIC),
        F.col("partition").alias(names.PARTITION),
        F.col("offset").alias(names.OFFSET),
        F.col("timestamp").alias(names.RECORDED_AT),
    )
