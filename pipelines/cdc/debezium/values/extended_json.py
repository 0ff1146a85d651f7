"""Values in MongoDB's extended JSON, canonical, relaxed, and as drivers wrote it before both (strict).

The texts are those of `cdc.debezium.documents.extended_json`: a string is in quotation marks. A value of another type
than the column's becomes null, unless it is a number that the column's type holds exactly.
"""

from pyspark.sql import Column
from pyspark.sql import functions as F

from cdc.debezium.documents import extended_json
from cdc.debezium.documents.extended_json import either
from cdc.debezium.values.binary import from_base64
from cdc.debezium.values.conversion import Conversion
from cdc.debezium.values.temporal import instant_of_millis, instant_of_text
from cdc.spec.model import ColumnSpec, ConnectorSpec

_DIGITS, _KIND = "digits", "kind"
"""Fields of a number that has been measured."""
_NUMBER = r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?"
_NOT_FINITE = ("NaN", "Infinity", "-Infinity")
_WRAPPED = (
    r'^\{\s*"\$number(Int|Long|Double|Decimal)"\s*:\s*'
    rf'"({_NUMBER}|{"|".join(_NOT_FINITE)})"\s*\}}$'
)
_ALL_DIGITS_OF_DOUBLE = 2**53
"""Up to here the shortest text of a whole double, which is what a record has, has all of its digits."""
_OBJECT_ID = r'^\{\s*"\$oid"\s*:\s*"([0-9a-f]{24})"\s*\}$'
_SYMBOL = r'^\{\s*"\$symbol"\s*:\s*"'
_DATE = r'^\{\s*"\$date"\s*:\s*(?:"([^"]*)"|(-?\d+)|\{\s*"\$numberLong"\s*:\s*"(-?\d+)"\s*\})\s*\}$'
_BYTES = r'"([A-Za-z0-9+/=]*)"'
_BINARY = rf'^\{{\s*"\$binary"\s*:\s*\{{\s*"base64"\s*:\s*{_BYTES}\s*,\s*"subType"\s*:\s*"([0-9a-fA-F]+)"\s*\}}\s*\}}$'
_STRICT_BINARY = rf'^\{{\s*"\$binary"\s*:\s*{_BYTES}\s*,\s*"\$type"\s*:\s*"([0-9a-fA-F]+)"\s*\}}$'
_UUID = r'^\{\s*"\$uuid"\s*:\s*"([0-9a-fA-F-]{36})"\s*\}$'
_OF_UUID = ("4", "04")
"""Subtype of a UUID. Those of subtype 3 have an order of bytes that depends on the driver that wrote them."""
_TIMESTAMP = r'^\{\s*"\$timestamp"\s*:\s*\{\s*"t"\s*:\s*(\d+)\s*,\s*"i"\s*:\s*(\d+)\s*\}\s*\}$'


def text(column: ColumnSpec, connector: ConnectorSpec) -> Conversion:
    """A string, or one of the deprecated symbols."""

    def convert(value: Column) -> Column:
        symbol = F.when(value.rlike(_SYMBOL), F.get_json_object(value, "$['$symbol']"))
        return F.when(extended_json.is_string(value), extended_json.name_of(value)).otherwise(symbol)

    return Conversion("string", "string", convert)


def boolean(column: ColumnSpec, connector: ConnectorSpec) -> Conversion:
    """True or false."""
    return Conversion("true or false", "boolean", lambda value: F.when(value.isin("true", "false"), value == "true"))


def integer(target: str) -> Conversion:
    """A whole number: of any numeric type, if it is exactly one that the target holds."""

    def convert(measured: Column) -> Column:
        whole = measured[_DIGITS].try_cast("decimal(38,0)")
        return F.when(_is_exact(measured, 0), whole).try_cast(target)

    return Conversion('`5` or `{"$numberLong": "5"}`', target, convert, measure=_measured)


def floating(column: ColumnSpec, connector: ConnectorSpec) -> Conversion:
    """A double, or a whole number that one holds exactly."""

    def convert(measured: Column) -> Column:
        number, kind = measured[_DIGITS], measured[_KIND]
        double = number.try_cast("double")
        is_whole = number.rlike(r"^-?\d+$")
        held = ~is_whole | (number.try_cast("decimal(38,0)") == double.try_cast("decimal(38,0)"))
        is_finite = F.abs(double) < float("inf")
        is_allowed = (kind != "Decimal") | is_whole | number.isin(*_NOT_FINITE)
        return F.when(is_allowed & ((is_finite & held) | number.isin(*_NOT_FINITE)), double)

    return Conversion('`1.5` or `{"$numberDouble": "1.5"}`', "double", convert, measure=_measured)


def decimal(column: ColumnSpec, connector: ConnectorSpec) -> Conversion:
    """A decimal(p,s): a decimal128 or whole number that it holds exactly."""
    precision, scale = column.type.precision or 38, column.type.scale or 0
    target = f"decimal({precision},{scale})"

    def convert(measured: Column) -> Column:
        return F.when(_is_exact(measured, scale), measured[_DIGITS].try_cast(target))

    return Conversion('`{"$numberDecimal": "1.50"}`', target, convert, measure=_measured)


def decimal128(column: ColumnSpec, connector: ConnectorSpec) -> Conversion:
    """A decimal128 as text: 34 digits, any exponent, NaN and the infinities; or a whole number."""

    def convert(measured: Column) -> Column:
        number = measured[_DIGITS]
        return F.when((measured[_KIND] == "Decimal") | number.rlike(r"^-?\d+$"), number)

    return Conversion('`{"$numberDecimal": "1.50"}`', "string", convert, measure=_measured)


def date(column: ColumnSpec, connector: ConnectorSpec) -> Conversion:
    """A date, which has a time in milliseconds: an instant between the years 1 and 9999."""

    def convert(value: Column) -> Column:
        millis = F.coalesce(_part(value, _DATE, 2), _part(value, _DATE, 3))
        return F.coalesce(instant_of_text(_part(value, _DATE, 1)), instant_of_millis(millis))

    return Conversion('`{"$date": ...}` with ISO text or milliseconds', "timestamp", convert)


def object_id(column: ColumnSpec, connector: ConnectorSpec) -> Conversion:
    """An ObjectId as its 24 hexadecimal digits."""
    return Conversion('`{"$oid": ...}`', "string", lambda value: _part(F.lower(value), _OBJECT_ID, 1))


def binary(column: ColumnSpec, connector: ConnectorSpec) -> Conversion:
    """Bytes of any subtype."""

    def convert(value: Column) -> Column:
        of_uuid = F.try_to_binary(F.replace(_part(value, _UUID, 1), F.lit("-")), F.lit("hex"))
        return F.coalesce(from_base64(_base64(value)), of_uuid)

    return Conversion('`{"$binary": ...}`', "binary", convert)


def uuid(column: ColumnSpec, connector: ConnectorSpec) -> Conversion:
    """A UUID (binary subtype 4) as text."""

    def convert(value: Column) -> Column:
        subtype = F.coalesce(_part(value, _BINARY, 2), _part(value, _STRICT_BINARY, 2))
        digits = F.lower(F.hex(from_base64(F.when(subtype.isin(*_OF_UUID), _base64(value)))))
        dashed = F.regexp_replace(digits, "^(.{8})(.{4})(.{4})(.{4})(.{12})$", "$1-$2-$3-$4-$5")
        return F.coalesce(F.when(F.length(digits) == 32, dashed), F.lower(_part(value, _UUID, 1)))

    return Conversion('`{"$binary": ...}` of subtype 04', "string", convert)


def timestamp(column: ColumnSpec, connector: ConnectorSpec) -> Conversion:
    """A BSON timestamp as its unsigned 64 bits: seconds since 1970 in the upper half, a count in the lower."""

    def convert(value: Column) -> Column:
        seconds, count = (_part(value, _TIMESTAMP, part).try_cast("decimal(10,0)") for part in (1, 2))
        return F.when(
            (seconds < 2**32) & (count < 2**32), (seconds * F.lit(2**32).cast("decimal(10,0)") + count)
        ).try_cast("decimal(20,0)")

    return Conversion('`{"$timestamp": {"t": ..., "i": ...}}`', "decimal(20,0)", convert)


def json(column: ColumnSpec, connector: ConnectorSpec) -> Conversion:
    """A value of any type as extended JSON, in the form in which the connector writes it."""

    def convert(value: Column) -> Column:
        return F.when(~F.startswith(value, F.lit("!")), extended_json.as_json(value))

    return Conversion("any value", "string", convert)


def _measured(value: Column) -> Column:
    """A number's digits and type."""
    return F.struct(_number(value).alias(_DIGITS), _kind(value).alias(_KIND))


def _number(value: Column) -> Column:
    """The digits of a number of any numeric type, or NaN or an infinity; null for any other value."""
    wrapped = _part(value, _WRAPPED, 2)
    return F.when(value.rlike(f"^{_NUMBER}$"), value).otherwise(wrapped)


def _kind(value: Column) -> Column:
    """The numeric type: Int, Long, Double, Decimal. A plain number with a fraction or an exponent is a double."""
    plain = F.when(value.rlike(r"^-?\d+$"), "Long").otherwise("Double")
    return F.coalesce(_part(value, _WRAPPED, 1), plain)


def _is_exact(measured: Column, scale: int) -> Column:
    """True if so many decimal places hold a number exactly; a double only if it is whole and all digits are known."""
    number = measured[_DIGITS]
    places = either(number.rlike(r"^-?\d+$"), F.lit(0), _places(number))
    is_small = F.abs(number.try_cast("double")) <= _ALL_DIGITS_OF_DOUBLE
    return (places <= scale) & ((measured[_KIND] != "Double") | ((places <= 0) & is_small))


def _places(number: Column) -> Column:
    """How many decimal places a number needs, at most 0 for a whole one.

    >>> [evaluate(_places(F.lit(text))) for text in ("-1.50", "5.00", "15E-1", "150E-1", "1.5e+3", "0E-9")]
    [1, 0, 1, 0, -2, 0]
    """
    digits = F.replace(F.regexp_extract(number, r"^-?([\d.]+)", 1), F.lit("."), F.lit(""))
    fraction = F.length(F.regexp_extract(number, r"\.(\d+)", 1))
    zeros = F.length(F.regexp_extract(digits, "0*$", 0))
    exponent = F.coalesce(F.regexp_extract(number, r"[eE]\+?(-?\d+)$", 1).try_cast("int"), F.lit(0))
    return either(digits.rlike("^0*$"), F.lit(0), fraction - zeros - exponent)


def _base64(value: Column) -> Column:
    """The base64 text, which is empty for no bytes."""
    patterns = (_BINARY, _STRICT_BINARY)
    return F.coalesce(*(F.when(value.rlike(each), F.regexp_extract(value, each, 1)) for each in patterns))


def _part(value: Column, pattern: str, group: int) -> Column:
    """What a group of a pattern matches; null if the value does not match, or the group takes no part."""
    return F.nullif(F.regexp_extract(value, pattern, group), F.lit(""))
