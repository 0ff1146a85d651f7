"""The column types that MariaDB and MySQL have in common: the conversion of each."""

from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal

from pyspark.sql import Column
from pyspark.sql import functions as F

from cdc.debezium.values import binary, bits, durations, large_decimals, numbers, spatial, temporal, texts
from cdc.debezium.values.conversion import Conversion, ConversionOf
from cdc.spec.model import ColumnSpec, ConnectorSpec

_UNSIGNED: Mapping[str, tuple[str, int]] = {
    "tinyint unsigned": ("smallint", 2**8 - 1),
    "smallint unsigned": ("int", 2**16 - 1),
    "mediumint unsigned": ("int", 2**24 - 1),
    "int unsigned": ("bigint", 2**32 - 1),
}
"""The Spark type that holds each, and its greatest value."""
_MOST_DIGITS = 38
_TWO_TO_64 = Decimal(2**64)
_NO_TIMESTAMP = tuple(f"1970-01-01T00:00:00{'.' if digits else ''}{'0' * digits}Z" for digits in range(7))
"""A timestamp of 0 seconds: no value of the type, but what is stored of the zero date."""


def _boolean(column: ColumnSpec, connector: ConnectorSpec) -> Conversion:
    """A tinyint(1) that is only true or false: as a number, or by a converter as a boolean."""

    def convert(text: Column) -> Column:
        return F.when(text.isin("true", "1"), True).when(text.isin("false", "0"), False)

    return Conversion("0 or 1, or true or false", "boolean", convert)


def _integer(column: ColumnSpec, connector: ConnectorSpec) -> Conversion:
    return numbers.integer(column.type.name)


def _mediumint(column: ColumnSpec, connector: ConnectorSpec) -> Conversion:
    return numbers.integer("int", bounds=(-(2**23), 2**23 - 1))


def _unsigned(column: ColumnSpec, connector: ConnectorSpec) -> Conversion:
    target, highest = _UNSIGNED[column.type.name]
    return numbers.integer(target, bounds=(0, highest))


def _bigint_unsigned(column: ColumnSpec, connector: ConnectorSpec) -> Conversion:
    """As decimal(20,0): half of the values do not fit into a bigint."""
    if connector.bigint_unsigned_handling_mode == "precise":
        return numbers.decimal(20, 0, replace(connector, decimal_handling_mode="precise"))

    def convert(text: Column) -> Column:
        number = text.try_cast("bigint")
        # The connector writes the 64 bits as a signed number.
        wrapped = F.when(number < 0, F.lit(_TWO_TO_64)).otherwise(F.lit(Decimal(0)))
        return (number.cast("decimal(20,0)") + wrapped.cast("decimal(20,0)")).try_cast("decimal(20,0)")

    return Conversion("number; 2^63 and more as a negative one (2^64 is subtracted)", "decimal(20,0)", convert)


def _bit(column: ColumnSpec, connector: ConnectorSpec) -> Conversion:
    """A boolean, or the digits of a bit string, of which the connector always writes every byte."""
    length = column.type.length or 1
    if length == 1:
        return numbers.boolean(column, connector)
    conversion, digits = bits.bits(length), (length + 7) // 8 * 2
    return replace(conversion, convert=lambda text: F.when(F.length(text) == digits, conversion.convert(text)))


def _decimal(column: ColumnSpec, connector: ConnectorSpec) -> Conversion:
    precision, scale = column.type.precision or 10, column.type.scale or 0
    family = numbers.decimal if precision <= _MOST_DIGITS else large_decimals.large_decimal
    return family(precision, scale, connector)


def _floating(column: ColumnSpec, connector: ConnectorSpec) -> Conversion:
    return numbers.floating(column.type.name)


def _time(column: ColumnSpec, connector: ConnectorSpec) -> Conversion:
    return durations.duration(column.type.precision or 0, connector)


def _datetime(column: ColumnSpec, connector: ConnectorSpec) -> Conversion:
    digits = column.type.precision or 0
    if connector.time_precision_mode == "adaptive":
        # These connectors do not have it; their default is this one.
        connector = replace(connector, time_precision_mode="adaptive_time_microseconds")
    return temporal.timestamp(column, digits, connector)


def _timestamp(column: ColumnSpec, connector: ConnectorSpec) -> Conversion:
    """An instant; that of 0 seconds, no value of the type, is the zero date: null as in snapshots, if null is allowed.

    The server stores the zero date as 0 seconds. Read by a snapshot it is null, read from the log 1970-01-01.
    """
    conversion = temporal.timestamp_with_offset(column, connector)
    return replace(conversion, nulls=_NO_TIMESTAMP) if column.nullable else conversion


def _binary(column: ColumnSpec, connector: ConnectorSpec) -> Conversion:
    """Bytes of a fixed number; the log leaves out those of zero at the end, and so do some versions (1.x)."""
    conversion, length = binary.binary(column, connector), column.type.length or 1

    def convert(text: Column) -> Column:
        content = conversion.convert(text)
        return F.when(F.octet_length(content) < length, F.rpad(content, length, F.lit(b"\0"))).otherwise(content)

    return replace(conversion, convert=convert)


def _enum(column: ColumnSpec, connector: ConnectorSpec) -> Conversion:
    """A label; a comma in it is escaped in changes, and not in reads of a snapshot."""
    return Conversion("text", "string", lambda text: F.replace(text, F.lit("\\,"), F.lit(",")), is_total=True)


CONVERSIONS: Mapping[str, ConversionOf] = {
    "boolean": _boolean,
    **dict.fromkeys(("tinyint", "smallint", "int", "bigint"), _integer),
    "mediumint": _mediumint,
    **dict.fromkeys(_UNSIGNED, _unsigned),
    "bigint unsigned": _bigint_unsigned,
    "bit": _bit,
    "decimal": _decimal,
    **dict.fromkeys(("float", "double"), _floating),
    **dict.fromkeys(("char", "varchar", "tinytext", "text", "mediumtext", "longtext", "json", "set"), texts.text),
    "enum": _enum,
    **dict.fromkeys(("varbinary", "tinyblob", "blob", "mediumblob", "longblob"), binary.binary),
    "binary": _binary,
    "date": temporal.date,
    "time": _time,
    "datetime": _datetime,
    "timestamp": _timestamp,
    "year": durations.year,
    **dict.fromkeys(
        (
            "geometry",
            "point",
            "linestring",
            "polygon",
            "multipoint",
            "multilinestring",
            "multipolygon",
            "geometrycollection",
        ),
        spatial.geometry,
    ),
}
"""Every type that both have."""
