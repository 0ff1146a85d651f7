"""Signals: what the connector was told through its signal table, and the windows that it writes there itself."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from cdc.debezium.events.reading import read_events
from cdc.debezium.json_texts import TEXT, texts_of
from cdc.debezium.values.temporal import instant_of_millis

_ROW = ("id", "type", "data")


def read(records: DataFrame) -> DataFrame:
    """The changes of the signal table.

    Grain: one row per change. Columns: `op`, `id`, `type` (``execute-snapshot``), `data` (JSON), `commit_lsn`,
    `committed_at`, and the record's place.
    """
    fields = {
        "op": TEXT,
        "before": texts_of(_ROW),
        "after": texts_of(_ROW),
        "source": texts_of(("commit_lsn", "ts_ms")),
    }
    return read_events(
        records,
        fields,
        lambda get: [
            get("op").alias("op"),
            *(F.coalesce(get("after").getField(name), get("before").getField(name)).alias(name) for name in _ROW),
            get("source").getField("commit_lsn").alias("commit_lsn"),
            instant_of_millis(get("source").getField("ts_ms")).alias("committed_at"),
        ],
    )
