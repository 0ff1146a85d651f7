"""SQL Server's column types: the conversion of each, with the digits that the server gives it."""

from collections.abc import Mapping

from cdc.debezium.values import binary, numbers, temporal, texts
from cdc.debezium.values.conversion import Conversion, ConversionOf
from cdc.spec.model import ColumnSpec, ConnectorSpec

_MONEY = {"money": (19, 4), "smallmoney": (10, 4)}
"""Precision and scale."""
_FRACTION = {"datetime": 3, "smalldatetime": 0}
"""Fractional digits of the second; the other types have them as an argument, 7 by default."""


def _tinyint(column: ColumnSpec, connector: ConnectorSpec) -> Conversion:
    """Unsigned, hence a smallint."""
    return numbers.integer("smallint", bounds=(0, 255))


def _integer(column: ColumnSpec, connector: ConnectorSpec) -> Conversion:
    return numbers.integer(column.type.name)


def _floating(column: ColumnSpec, connector: ConnectorSpec) -> Conversion:
    return numbers.floating("float" if column.type.name == "real" else "double")


def _decimal(column: ColumnSpec, connector: ConnectorSpec) -> Conversion:
    precision, scale = _MONEY.get(column.type.name, (column.type.precision or 18, column.type.scale or 0))
    return numbers.decimal(precision, scale, connector)


def _time(column: ColumnSpec, connector: ConnectorSpec) -> Conversion:
    return temporal.time(_fraction(column), connector)


def _timestamp(column: ColumnSpec, connector: ConnectorSpec) -> Conversion:
    return temporal.timestamp(column, _fraction(column), connector)


def _fraction(column: ColumnSpec) -> int:
    declared = 7 if column.type.precision is None else column.type.precision
    return _FRACTION.get(column.type.name, declared)


CONVERSIONS: Mapping[str, ConversionOf] = {
    "bit": numbers.boolean,
    "tinyint": _tinyint,
    **dict.fromkeys(("smallint", "int", "bigint"), _integer),
    **dict.fromkeys(("real", "float"), _floating),
    **dict.fromkeys(("decimal", "numeric", "money", "smallmoney"), _decimal),
    **dict.fromkeys(("char", "varchar", "text", "nchar", "nvarchar", "ntext"), texts.text),
    **dict.fromkeys(("uniqueidentifier", "xml"), texts.text),
    **dict.fromkeys(("binary", "varbinary", "image", "rowversion", "hierarchyid"), binary.binary),
    "date": temporal.date,
    "time": _time,
    **dict.fromkeys(("datetime", "smalldatetime", "datetime2"), _timestamp),
    "datetimeoffset": temporal.timestamp_with_offset,
}
"""Every type whose columns are in Debezium's records."""
