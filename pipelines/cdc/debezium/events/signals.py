"""Signals: commands to the connector through its signal table, and the windows that it writes there itself."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from cdc.debezium.events.reading import read_events
from cdc.debezium.json_texts import TEXT, texts_of
from cdc.debezium.positions.position import COMMIT_TIME_FIELD
from cdc.debezium.values.temporal import instant_of_millis

_ROW = ("id", "type", "data")


def read(records: DataFrame, position_fields: tuple[str, ...]) -> DataFrame:
    """The changes of the signal table.

    Grain: one row per change. Columns: `op`, `id`, `type` (``execute-snapshot``), `data` (JSON), the position's fields,
    `committed_at`, `_topic`, `_partition`, `_offset`, `_recorded_at`.
    """
    fields = {
        "op": TEXT,
        "before": texts_of(_ROW),
        "after": texts_of(_ROW),
        "source": texts_of((*position_fields, COMMIT_TIME_FIELD)),
    }
    return read_events(
        records,
        fields,
        lambda get: [
            get("op").alias("op"),
            *(F.coalesce(get("after").getField(name), get("before").getField(name)).alias(name) for name in _ROW),
            *(get("source").getField(name).alias(name) for name in position_fields),
            instant_of_millis(get("source").getField(COMMIT_TIME_FIELD)).alias("committed_at"),
        ],
    )
