"""PostgreSQL's column types: the conversion of each, with the digits that the server gives it."""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace

from pyspark.sql import Column
from pyspark.sql import functions as F

from cdc.debezium.values import arrays, binary, bits, numbers, spatial, temporal, texts
from cdc.debezium.values.conversion import Conversion, ConversionOf
from cdc.spec.kinds.postgresql import ELEMENTS, EXACT_DIGITS, RANGES, UNKNOWN
from cdc.spec.model import ColumnSpec, ConnectorSpec

_TEXTS = ("char", "varchar", "text", "citext", "uuid", "xml", "json", "jsonb", "ltree", "enum")
_ADDRESSES = ("inet", "cidr", "macaddr", "macaddr8")
_MONEY = (19, 2)
"""Precision and scale, with the server's usual `lc_monetary`."""
_LARGEST_OID = 2**32 - 1
_INFINITE = (str(2**63 - 1), str(-(2**63)))
_WITH_TEXTS = ("char", "varchar", "text", "citext", "json", "jsonb")
_WITH_NUMBERS = ("integer", "bigint", "date")


def _integer(column: ColumnSpec, connector: ConnectorSpec) -> Conversion:
    return numbers.integer({"integer": "int"}.get(column.type.name, column.type.name))


def _oid(column: ColumnSpec, connector: ConnectorSpec) -> Conversion:
    """Unsigned, hence a bigint."""
    return numbers.integer("bigint", bounds=(0, _LARGEST_OID))


def _floating(column: ColumnSpec, connector: ConnectorSpec) -> Conversion:
    return numbers.floating("float" if column.type.name == "real" else "double")


def _numeric(column: ColumnSpec, connector: ConnectorSpec) -> Conversion:
    """A decimal if the digits are declared and no more than Spark's decimals have; else a text."""
    precision, scale = column.type.precision, column.type.scale
    if precision is not None and precision <= EXACT_DIGITS:
        return numbers.decimal_of_any_scale(precision, scale or 0, connector)
    return numbers.number_text(scale, connector)


def _money(column: ColumnSpec, connector: ConnectorSpec) -> Conversion:
    """In the mode of decimals, or in base64 whatever the mode, as connectors before 1.5 write it.

    A number has a point, which base64 has not.
    """
    of_mode = numbers.decimal(*_MONEY, connector)
    if connector.decimal_handling_mode == "precise":
        return of_mode
    bytes_of = numbers.decimal(*_MONEY, replace(connector, decimal_handling_mode="precise", decimal_format="base64"))
    return replace(
        of_mode,
        convert=lambda text: F.when(text.contains("."), of_mode.convert(text)).otherwise(bytes_of.whole(text)),
    )


def _bit(column: ColumnSpec, connector: ConnectorSpec) -> Conversion:
    """A boolean if it is a single one, as the connector has it."""
    return numbers.boolean(column, connector) if column.type.length == 1 else bits.bits(column.type.length)


def _bit_varying(column: ColumnSpec, connector: ConnectorSpec) -> Conversion:
    return bits.bits(None)


def _bytea(column: ColumnSpec, connector: ConnectorSpec) -> Conversion:
    return replace(binary.binary(column, connector), placeholders=_bytes_or_text(connector))


def _time(column: ColumnSpec, connector: ConnectorSpec) -> Conversion:
    return temporal.time(_fraction(column), connector, with_midnight=True)


def _timestamp(column: ColumnSpec, connector: ConnectorSpec) -> Conversion:
    """In nanoseconds the connector writes infinity as the last and first number of 64 bits, which no other time is."""
    of_count = temporal.timestamp(column, _fraction(column), connector)
    if connector.time_precision_mode != "nanoseconds":
        return of_count
    return replace(of_count, measure=lambda text: F.when(~text.isin(*_INFINITE), text.try_cast("bigint")))


def _fraction(column: ColumnSpec) -> int:
    return 6 if column.type.precision is None else column.type.precision


def _interval(column: ColumnSpec, connector: ConnectorSpec) -> Conversion:
    if connector.interval_handling_mode == "string":
        form = r"^P(-?\d+Y)?(-?\d+M)?(-?\d+D)?(T(-?\d+H)?(-?\d+M)?(-?\d+(\.\d+)?S)?)?$"
        return Conversion("ISO 8601 duration", "string", lambda text: F.when(text.rlike(form), text))
    return Conversion("microseconds", "bigint", lambda text: text.try_cast("bigint"))


def _hstore(column: ColumnSpec, connector: ConnectorSpec) -> Conversion:
    """The text of a JSON object, of the connector's in mode `json`."""

    def placeholders(placeholder: str) -> tuple[str, ...]:
        as_pair = json.dumps({placeholder: placeholder}, ensure_ascii=False, separators=(",", ":"))
        return placeholder, as_pair

    wire = "object" if connector.hstore_handling_mode == "map" else "text of a JSON object"
    return Conversion(wire, "string", lambda text: F.when(text.rlike(r"^\{.*\}$"), text), placeholders=placeholders)


def _vector(column: ColumnSpec, connector: ConnectorSpec) -> Conversion:
    target = "float" if column.type.name == "halfvec" else "double"
    return arrays.array(numbers.floating(target), arrays.without)


def _unknown(column: ColumnSpec, connector: ConnectorSpec) -> Conversion:
    """The server's text, of which the connector writes the bytes."""
    of_bytes = binary.binary(column, connector)

    def text_of(text: Column) -> Column:
        found = of_bytes.convert(text)
        return F.when(F.is_valid_utf8(found.cast("string")), found.cast("string"))

    return Conversion(
        f"{of_bytes.wire} of the server's text", "string", text_of, placeholders=_bytes_or_text(connector)
    )


def _tsvector(column: ColumnSpec, connector: ConnectorSpec) -> Conversion:
    """The server's text, or, as connectors before 2 write it, the bytes of that."""
    of_bytes = _unknown(column, connector)

    def is_own(text: Column) -> Column:
        return (text == "") | text.startswith("'")

    def convert(text: Column) -> Column:
        found = of_bytes.convert(text)
        return F.when(is_own(text), text).otherwise(F.when(is_own(found), found))

    return replace(of_bytes, wire="text", convert=convert)


def _bytes_or_text(connector: ConnectorSpec) -> Callable[[str], tuple[str, ...]]:
    """The placeholder as bytes in the connector's mode, and as the text itself, as it is in mode `hex`."""
    mode = connector.binary_handling_mode
    return lambda placeholder: (placeholder, binary.encoded(placeholder, mode))


def _array(column: ColumnSpec, connector: ConnectorSpec) -> Conversion:
    """An array of the elements' values."""
    element = column.type.element
    assert element is not None
    of_element = CONVERSIONS[element.name](replace(column, type=element), connector)
    return arrays.array(of_element, _array_placeholders(element.name))


def _array_placeholders(element: str) -> Callable[[str], tuple[str, ...]]:
    if element in _WITH_TEXTS:
        return arrays.with_texts
    if element in _WITH_NUMBERS:
        return arrays.with_numbers
    if element == "bytea":
        return lambda placeholder: arrays.with_texts(binary.encoded(placeholder, "bytes"))
    return arrays.with_uuids if element == "uuid" else arrays.without


_SCALARS: Mapping[str, ConversionOf] = {
    "boolean": numbers.boolean,
    **dict.fromkeys(("smallint", "integer", "bigint"), _integer),
    "oid": _oid,
    **dict.fromkeys(("real", "double precision"), _floating),
    "numeric": _numeric,
    "money": _money,
    **dict.fromkeys((*_TEXTS, *_ADDRESSES, *RANGES), texts.text),
    "bit": _bit,
    "bit varying": _bit_varying,
    "bytea": _bytea,
    "date": temporal.date,
    "time": _time,
    "timetz": temporal.time_in_utc,
    "timestamp": _timestamp,
    "timestamptz": temporal.instant,
    "interval": _interval,
    "hstore": _hstore,
    "tsvector": _tsvector,
    "point": spatial.point,
    **dict.fromkeys(("geometry", "geography"), spatial.geometry),
    **dict.fromkeys(("vector", "halfvec"), _vector),
    "sparsevec": spatial.sparse_vector,
    **dict.fromkeys(UNKNOWN, _unknown),
}
CONVERSIONS: Mapping[str, ConversionOf] = {**_SCALARS, **{f"{name}[]": _array for name in ELEMENTS}}
"""Every type whose columns are in Debezium's records."""
