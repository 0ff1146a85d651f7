"""Source positions by connector kind, and the sequence that they make."""

from collections.abc import Mapping

from pyspark.sql import Column
from pyspark.sql import functions as F

from cdc import names
from cdc.debezium.positions.db2 import Db2Position
from cdc.debezium.positions.mariadb import MariaDbPosition
from cdc.debezium.positions.mongodb import MongoDbPosition
from cdc.debezium.positions.mysql import MySqlPosition
from cdc.debezium.positions.position import Position
from cdc.debezium.positions.postgresql import PostgreSqlPosition
from cdc.debezium.positions.sqlserver import SqlServerPosition
from cdc.spec.model import ConnectorSpec, TableSpec

POSITIONS: Mapping[str, type[Position]] = {
    "sqlserver": SqlServerPosition,
    "postgresql": PostgreSqlPosition,
    "mysql": MySqlPosition,
    "mariadb": MariaDbPosition,
    "mongodb": MongoDbPosition,
    "db2": Db2Position,
}
"""Connector kind -> its positions; the only place that knows which kinds there are."""


def position_of(connector: ConnectorSpec) -> Position:
    """The positions of a connector's changes."""
    return POSITIONS[connector.kind](connector)


def sequence(table: TableSpec) -> Column:
    """What orders the changes of one key: a struct over the flat columns of ``_changes``, never null.

    Fields, in the order in which they decide: ``incarnation``; the log's, with ``total_order`` before those of the
    change (or in their place ``total_order`` or ``offset``, where the connector's spec says so); ``operation``;
    ``committed_at``, which never decides: it makes the end of a deleted row's last version a time too.
    """
    return F.struct(*_sequence_columns(table))


def _sequence_columns(table: TableSpec) -> tuple[Column, ...]:
    """The fields of `sequence`."""
    is_auto = table.connector.within_transaction == "auto"

    def field(name: str) -> Column:
        value = F.col(name)
        if is_auto and name == names.TOTAL_ORDER:
            # Changes decoded before the spec read the count have no value in its column. Not a coalesce: that is never
            # null, and a field of `__END_AT` has to be nullable.
            value = F.when(value.isNull(), 0).otherwise(value)
        return value.alias(_field(name))

    return tuple(field(name) for name in position_of(table.connector).sequence)


def committed_at(sequence: Column) -> Column:
    """When the source committed the change that has this sequence.

    >>> evaluate(committed_at(F.struct(F.lit("12:00").alias("committed_at"))))
    '12:00'
    """
    return sequence.getField(_field(names.COMMITTED_AT))


def _field(column: str) -> str:
    return column.removeprefix("_")
