"""Db2's column types: the conversion of each."""

from collections.abc import Mapping

from cdc.debezium.values import binary, numbers, temporal, texts
from cdc.debezium.values.conversion import Conversion, ConversionOf
from cdc.debezium.values.decfloat import decfloat
from cdc.spec.model import ColumnSpec, ConnectorSpec


def _integer(column: ColumnSpec, connector: ConnectorSpec) -> Conversion:
    return numbers.integer({"integer": "int"}.get(column.type.name, column.type.name))


def _floating(column: ColumnSpec, connector: ConnectorSpec) -> Conversion:
    return numbers.floating("float" if column.type.name == "real" else "double")


def _decimal(column: ColumnSpec, connector: ConnectorSpec) -> Conversion:
    return numbers.decimal(column.type.precision or 5, column.type.scale or 0, connector)


def _time(column: ColumnSpec, connector: ConnectorSpec) -> Conversion:
    return temporal.time(0, connector)


def _timestamp(column: ColumnSpec, connector: ConnectorSpec) -> Conversion:
    return temporal.timestamp(column, 6 if column.type.precision is None else column.type.precision, connector)


CONVERSIONS: Mapping[str, ConversionOf] = {
    **dict.fromkeys(("smallint", "integer", "bigint"), _integer),
    **dict.fromkeys(("real", "double"), _floating),
    **dict.fromkeys(("decimal", "numeric"), _decimal),
    "decfloat": decfloat,
    **dict.fromkeys(("char", "varchar", "clob", "graphic", "vargraphic", "dbclob", "xml"), texts.text),
    **dict.fromkeys(
        ("char for bit data", "varchar for bit data", "binary", "varbinary", "blob"),
        binary.binary,
    ),
    "boolean": numbers.boolean,
    "date": temporal.date,
    "time": _time,
    "timestamp": _timestamp,
}
"""Every type whose columns are in Debezium's records; binary columns are always in base64."""
