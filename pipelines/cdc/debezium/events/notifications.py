"""Notifications: the connector reports on its snapshots and capture instances."""

from pyspark.sql import DataFrame

from cdc.debezium.events.reading import read_events
from cdc.debezium.json_texts import TEXT, TEXTS
from cdc.debezium.values.temporal import instant_of_millis


def read(records: DataFrame) -> DataFrame:
    """The notifications.

    Grain: one row per notification. Columns: `id`, `subject` (``Initial Snapshot``), `type` (``COMPLETED``), `details`
    (names to texts), `notified_at` (the connector's clock), `_topic`, `_partition`, `_offset`, `_recorded_at`.
    """
    fields = {"id": TEXT, "aggregate_type": TEXT, "type": TEXT, "additional_data": TEXTS, "timestamp": TEXT}
    return read_events(
        records,
        fields,
        lambda get: [
            get("id").alias("id"),
            get("aggregate_type").alias("subject"),
            get("type").alias("type"),
            get("additional_data").alias("details"),
            instant_of_millis(get("timestamp")).alias("notified_at"),
        ],
    )
