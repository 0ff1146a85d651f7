"""The plans of a pipeline's datasets under Spark Connect, built from datasets that do not exist."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from pyspark.sql import DataFrame, SparkSession

import cdc
from cdc import EventKind, TableSpec


def plans(spark: SparkSession, table: TableSpec) -> Iterator[tuple[str, DataFrame]]:
    """Dataset -> its query, for a table and its connector's own topics; to analyse one of them fails."""
    missing = spark.read.table("nowhere.missing")
    stream = spark.readStream.table("nowhere.missing")
    yield "decoded", cdc.decode(stream, table)
    yield "changes", cdc.changes(stream, table)
    yield "rejects", cdc.rejects(stream, table)
    yield "drift records", cdc.drift_records(stream)
    yield "least counts", cdc.with_least_counts(stream, missing, table)
    yield "rows", cdc.current_rows(missing, table)
    yield "history", cdc.history(missing, table)
    yield "findings", cdc.findings({table: missing})
    yield "gaps", cdc.gaps({table: missing}, 1)
    yield "drift", cdc.drift({table: missing}, missing)
    yield "changes of replays", cdc.changes_of_replays(stream, table)
    yield "open rejects", cdc.open_rejects(missing, missing)
    for kind in _kinds(table):
        yield kind.name, kind.read(stream)
        for name, view in kind.views.items():
            yield name, view(missing)


def relations(frame: DataFrame) -> set[str]:
    """The kinds of relation in a query's plan, by their names in Spark Connect's protocol."""
    connect: Any = frame
    return set(_kinds_of(connect._plan.to_proto(connect.sparkSession.client)))


def _kinds_of(message: Any) -> Iterator[str]:
    if message.DESCRIPTOR.name == "Relation":
        yield message.WhichOneof("rel_type")
    for field, value in message.ListFields():
        if field.message_type is None:
            continue
        nested = (value,) if hasattr(value, "ListFields") else value
        for each in nested.values() if hasattr(nested, "values") else nested:
            if hasattr(each, "ListFields"):
                yield from _kinds_of(each)


def _kinds(table: TableSpec) -> tuple[EventKind, ...]:
    topics = ("schema_changes", "transactions", "heartbeat", "notifications", "signals")
    return cdc.event_kinds(replace(table.connector, **{f"{name}_topic": name for name in topics}))
