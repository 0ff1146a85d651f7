"""Retention: table properties by which rows expire, and streams that pass over the commits which delete them."""

from collections.abc import Iterable, Iterator, Mapping

from pyspark.sql import DataFrame, SparkSession

from cdc import names
from cdc.debezium.events import event_kinds
from cdc.spec.model import ConnectorSpec, TableSpec

EXPIRED = "rows.expired"
"""Table property: an SQL condition, true for the rows that are no longer kept."""
EXPIRED_AT = "rows.expiredAt"
"""Property of a stored table: when rows last expired."""
_RESET_ALLOWED = {"pipelines.reset.allowed": "false"}


def of_records(spec: TableSpec | ConnectorSpec) -> Mapping[str, str]:
    """Table properties of the records of a table, or of one of a connector's own topics."""
    return _expired("timestamp", spec.retention.bronze)


def of_outcomes(table: TableSpec) -> Mapping[str, str]:
    """Table properties of ``silver.<table>_decoded``."""
    return {**_expired(names.RECORDED_AT, table.retention.bronze), **of_silver(table)}


def of_changes(table: TableSpec) -> Mapping[str, str]:
    """Table properties of ``silver.<table>_changes``."""
    return {**_expired(names.RECORDED_AT, table.retention.changes), **of_silver(table)}


def of_silver(*tables: TableSpec) -> Mapping[str, str]:
    """Table properties of a streaming table that is made from rows which expire: a full refresh would lose rows."""
    expires = any(days is not None for table in tables for days in (table.retention.bronze, table.retention.changes))
    return _RESET_ALLOWED if expires else {}


def deletions(tables: Iterable[TableSpec], connectors: Iterable[ConnectorSpec]) -> Iterator[str]:
    """The SQL statements that delete expired records and changes; for a workspace, where no engine does it.

    Not the outcomes of records: only their pipeline can write private tables.
    """
    for table in tables:
        yield from _deletion(names.records_dataset(table), of_records(table))
        yield from _deletion(names.changes_dataset(table), of_changes(table))
    for connector in connectors:
        for kind in event_kinds(connector):
            yield from _deletion(names.event_records_dataset(connector, kind.name), of_records(connector))


def stream(spark: SparkSession, dataset: str) -> DataFrame:
    """The rows of a dataset as a stream that passes over commits which delete or correct rows.

    Otherwise they end the stream with an error, whether rows expire or somebody deletes personal data. It does so
    without `retention` too, since rows may have expired before the setting was removed.
    """
    return spark.readStream.option("skipChangeCommits", "true").table(dataset)


def _deletion(dataset: str, properties: Mapping[str, str]) -> Iterator[str]:
    if condition := properties.get(EXPIRED):
        yield f"DELETE FROM {dataset} WHERE {condition}"


def _expired(column: str, days: int | None) -> Mapping[str, str]:
    if days is None:
        return {}
    # By whole days, so that a table is not rewritten with each update. A row without a time is kept.
    return {EXPIRED: f"{column} < date_trunc('DAY', current_timestamp()) - INTERVAL {days} DAYS"}
