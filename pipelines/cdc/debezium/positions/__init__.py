"""Where a change stands in its source's order, by connector kind; nothing else knows which it is."""

from collections.abc import Mapping

from pyspark.sql import Column
from pyspark.sql import functions as F

from cdc.debezium.positions import sqlserver
from cdc.debezium.positions.position import Position
from cdc.spec.model import ConnectorSpec, TableSpec

POSITIONS: Mapping[str, Position] = {"sqlserver": sqlserver.POSITION}


def position_of(connector: ConnectorSpec) -> Position:
    """The position of this kind of connector."""
    return POSITIONS[connector.kind]


def sequence(table: TableSpec) -> Column:
    """What orders the changes of one key: a struct over the flat columns of ``_changes``, never null.

    Fields, in the order in which they decide: ``incarnation``, ``commit_lsn``, ``change_lsn``,
    ``event_serial_no``, ``operation``, ``committed_at`` (the last orders nothing new: it makes the end of a
    deleted row's last version a time too). Where the connector's spec says so, ``total_order`` or ``offset`` stands in
    the place of ``change_lsn`` and ``event_serial_no``.
    """
    parts = position_of(table.connector).sequence(table.connector)
    return F.struct(*(F.col(name).alias(name.removeprefix("_")) for name in parts))
