"""Anomalies in the changes of tables: ties, inversions, a log that runs backwards, fields that are not in the spec."""

import json
from collections.abc import Callable, Mapping
from functools import reduce

from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F

from cdc import names
from cdc.debezium.positions import position_of
from cdc.debezium.positions.position import Finding
from cdc.spec.model import TableSpec
from cdc.switches import is_on

SETTING = "cdc.findings"
RENUMBERED = Finding(
    "renumbered",
    "changes that the connector delivered again under another count, after it was stopped in mid-transaction: their"
    " versions repeat until a full refresh of the versions with `cdc.least_counts: true`",
)
UNKNOWN_FIELD = Finding("unknown_field", "changes with fields that are not in the spec")
_ARRIVAL = (names.PARTITION, names.OFFSET)
"""Order of arrival: that of the offsets; the partition only makes it total, since a key has one partition."""
_OF_TRANSACTION = (names.INCARNATION, names.COMMITTED_AT)
"""The columns of a sequence that all changes of a transaction have in common, beside the transaction itself."""
_INCREMENTAL = "incremental"
"""The snapshot marker of reads that may have a position before that of the changes which they have seen."""
_OTHER_LOG = (
    "these changes are of another server, or of a log that was reset, and lose against those before: set `restored_at`"
    " of connector {connector} to the moment from which such records came, then --rebuild the tables that a run names"
)
_FIRST, _HIGHEST, _NUMBER, _OPS, _PREVIOUS = "_first", "_highest", "_number", "_ops", "_previous"


def wants_findings(spark: SparkSession) -> bool:
    """Whether the pipeline's configuration asks for findings (``cdc.findings: true``); they reread every change."""
    return is_on(spark, SETTING)


def arrival(table: TableSpec) -> Mapping[str, str]:
    """The table properties of ``_changes`` that let each update count the changes that arrived out of order.

    Those are changes of one row and transaction that are applied in another order than that of their arrival: where
    the log's positions decide, an `inversion`; for a table without a key they are not counted. Where a log's positions
    only grow, changes of a log that runs backwards are counted too.
    """
    return {**_order_of_rows(table), **_order_of_log(table)}


def _order_of_rows(table: TableSpec) -> Mapping[str, str]:
    if not table.key:
        return {}
    position = position_of(table.connector)
    decides = [name for name in position.sequence if name not in _OF_TRANSACTION]
    order = {
        "of": [*table.key, names.INCARNATION, position.transaction],
        "by": [name for name in decides if name != position.transaction],
        "arrival": list(_ARRIVAL),
    }
    return {"report.arrival": json.dumps(order)}


def _order_of_log(table: TableSpec) -> Mapping[str, str]:
    position = position_of(table.connector)
    if not position.same_delivery:
        return {}
    order = {
        "of": [names.TOPIC, names.PARTITION, names.INCARNATION],
        "by": [position.transaction, *position.change],
        "arrival": names.OFFSET,
        "same": list(position.same_delivery),
        "without": {names.SNAPSHOT: _INCREMENTAL},
        "text": "the log runs backwards",
        "example": f"{{{names.TOPIC}}}[{{{names.PARTITION}}}]@{{{names.OFFSET}}}",
        "hint": _OTHER_LOG.format(connector=table.connector.name),
    }
    return {"report.backwards": json.dumps(order)}


def findings(changes: Mapping[TableSpec, DataFrame]) -> DataFrame:
    """The anomalies in the changes of some tables.

    Grain: one row per table and kind of finding; none where nothing was found. Columns: `table` (the source's),
    `finding`, `meaning`, `changes` (how many), `example` (topic[partition]@offset of the first), `detail`.
    """
    found = (find(frame, table) for table, frame in changes.items() for find in _finders(table))
    return reduce(DataFrame.unionByName, found)


def _finders(table: TableSpec) -> tuple[Callable[[DataFrame, TableSpec], DataFrame], ...]:
    """The finders for a table; the changes of one row can be compared only by a key."""
    per_row = (_ties, _inversions) if table.key else ()
    counted = (_renumbered,) if names.TOTAL_ORDER in position_of(table.connector).columns else ()
    return (*per_row, *(counted if table.key else ()), _backwards, _unknown_fields)


def _ties(changes: DataFrame, table: TableSpec) -> DataFrame:
    position = position_of(table.connector)
    same_position = Window.partitionBy(*_key(table), *position.log_order)
    ops = F.collect_set(names.OP).over(same_position)
    tied = changes.where(position.is_streamed()).select("*", ops.alias(_OPS)).where(F.size(_OPS) > 1)
    return _summary(tied, table, position.tie, _at_transaction(table))


def _inversions(changes: DataFrame, table: TableSpec) -> DataFrame:
    position = position_of(table.connector)
    rank = F.struct(*position.change, names.OPERATION)
    transaction = Window.partitionBy(*_key(table), names.INCARNATION, position.transaction)
    previous = F.lag(rank).over(transaction.orderBy(*_ARRIVAL))
    inverted = _first_deliveries(changes, table).select("*", previous.alias(_PREVIOUS)).where(F.col(_PREVIOUS) > rank)
    return _summary(inverted, table, position.inversion, _at_transaction(table))


def _renumbered(changes: DataFrame, table: TableSpec) -> DataFrame:
    position = position_of(table.connector)
    same_change = Window.partitionBy(*_key(table), *position.log_order, names.OP)
    first = F.min(names.TOTAL_ORDER).over(same_change)
    again = changes.where(position.is_streamed()).select("*", first.alias(_FIRST))
    return _summary(again.where(F.col(names.TOTAL_ORDER) > F.col(_FIRST)), table, RENUMBERED, _at_transaction(table))


def _backwards(changes: DataFrame, table: TableSpec) -> DataFrame:
    position = position_of(table.connector)
    partition = Window.partitionBy(names.TOPIC, names.PARTITION, names.INCARNATION).orderBy(names.OFFSET)
    highest = F.max(position.transaction).over(partition.rowsBetween(Window.unboundedPreceding, -1))
    backwards = _first_deliveries(changes, table).select("*", highest.alias(_HIGHEST))
    detail = F.concat(_transaction(table), F.lit(" after "), F.col(_HIGHEST))
    # A read of an incremental snapshot may have a position before the changes that it has seen.
    is_in_order = F.coalesce(F.col(names.SNAPSHOT) == _INCREMENTAL, F.lit(False))
    is_backwards = (F.col(_HIGHEST) > F.col(position.transaction)) & ~is_in_order
    return _summary(backwards.where(is_backwards), table, position.backwards, detail)


def _unknown_fields(changes: DataFrame, table: TableSpec) -> DataFrame:
    fields = F.concat_ws(", ", F.map_keys(names.UNKNOWN))
    return _summary(changes.where(F.col(names.UNKNOWN).isNotNull()), table, UNKNOWN_FIELD, fields)


def _first_deliveries(changes: DataFrame, table: TableSpec) -> DataFrame:
    """Each change where it was delivered first: a connector that restarts delivers some of them again.

    Columns: those of the changes, and one more. It is not dropped: under Spark Connect that needs the columns of a
    dataset that need not exist yet when a pipeline is declared.
    """
    same_change = Window.partitionBy(*_key(table), *position_of(table.connector).log_order, names.OP)
    number = F.row_number().over(same_change.orderBy(*_ARRIVAL))
    return changes.select("*", number.alias(_NUMBER)).where(F.col(_NUMBER) == 1)


def _key(table: TableSpec) -> list[Column]:
    return [F.col(f"`{name}`") for name in table.key]


def _transaction(table: TableSpec) -> Column:
    """The transaction for a detail: the name of its column and the value."""
    column = position_of(table.connector).transaction
    return F.concat(F.lit(f"{column.removeprefix('_')} "), F.col(column))


def _at_transaction(table: TableSpec) -> Column:
    return F.concat(F.lit("at "), _transaction(table))


def _summary(found: DataFrame, table: TableSpec, finding: Finding, detail: Column) -> DataFrame:
    record = F.concat(names.TOPIC, F.lit("["), names.PARTITION, F.lit("]@"), names.OFFSET)
    first = F.min_by(F.struct(record.alias("example"), detail.alias("detail")), F.struct(*_ARRIVAL))
    counted = found.groupBy(F.lit(table.source).alias("table"), F.lit(finding.name).alias("finding"))
    return counted.agg(F.count("*").alias("changes"), first.alias("first")).select(
        "table", "finding", F.lit(finding.meaning).alias("meaning"), "changes", "first.example", "first.detail"
    )
