"""bit, the integers, real and float, and the exact decimals."""

from decimal import Decimal

from pyspark.sql import Column
from pyspark.sql import functions as F

from cdc.debezium.values.binary import from_base64
from cdc.debezium.values.conversion import Conversion, casted, within
from cdc.spec.model import ColumnSpec, ConnectorSpec

_TWO_TO_64 = Decimal(2**64)
_MONEY = {"money": (19, 4), "smallmoney": (10, 4)}
_NOT_FINITE = ("NaN", "Infinity", "-Infinity")


def bit(column: ColumnSpec, connector: ConnectorSpec) -> Conversion:
    """A boolean."""
    return Conversion(
        "true or false", "boolean", lambda text: F.when(text == "true", True).when(text == "false", False)
    )


def integer(column: ColumnSpec, connector: ConnectorSpec) -> Conversion:
    """smallint, int and bigint as themselves; tinyint, which has no sign, as smallint."""
    if column.type.name == "tinyint":
        return Conversion("number", "smallint", lambda text: within(text.try_cast("smallint"), 0, 255))
    return casted("number", column.type.name)


def floating(column: ColumnSpec, connector: ConnectorSpec) -> Conversion:
    """Real and float as float and double; a number too large for the type does not become infinite."""
    target = "float" if column.type.name == "real" else "double"

    def convert(text: Column) -> Column:
        value = text.try_cast(target)
        is_finite = F.abs(value) < float("inf")
        return F.when(is_finite | text.isin(*_NOT_FINITE), value)

    return Conversion("number", target, convert)


def decimal(column: ColumnSpec, connector: ConnectorSpec) -> Conversion:
    """Decimal, numeric, money and smallmoney as decimal(p,s), exact to the last of 38 digits."""
    precision, scale = _MONEY.get(column.type.name, (column.type.precision or 18, column.type.scale or 0))
    target = f"decimal({precision},{scale})"
    mode = connector.decimal_handling_mode
    if mode == "double":
        return casted("number, as far as 53 bits hold it; rounded to the scale", target)
    if mode == "string" or connector.decimal_format == "numeric":
        wire = "text of the number" if mode == "string" else "number"
        return Conversion(wire, target, lambda text: _exactly(text, precision, scale))
    return Conversion(
        "base64 of the unscaled number, big-endian two's complement",
        target,
        lambda digits: _scaled(_unscaled(digits, is_long=precision > 18), scale).try_cast(target),
        measure=lambda text: F.hex(from_base64(text)),
    )


def _exactly(text: Column, precision: int, scale: int) -> Column:
    """The number, or null where the scale would round it (as far as 38 digits can tell)."""
    value = text.try_cast(f"decimal({precision},{scale})")
    unrounded = text.try_cast(f"decimal(38,{38 - precision + scale})")
    return F.when(value == unrounded, value)


def _scaled(unscaled: Column, scale: int) -> Column:
    """Text of unscaled * 10^-scale: a product of two decimals would lose digits behind the 38th."""
    return F.concat(unscaled, F.lit(f"E-{scale}"))


def _unscaled(digits: Column, *, is_long: bool) -> Column:
    """The whole number, as text, of up to 16 (long: 32) hex digits in two's complement; of more: null."""
    short = F.when(F.length(digits).between(1, 16), _short(digits).cast("string"))
    return F.coalesce(short, F.when(F.length(digits) <= 32, _long(digits))) if is_long else short


def _short(digits: Column) -> Column:
    # 16 digits have their sign already; the sign of fewer is in the first, in upper-case hex.
    is_negative = (digits >= "8") & (F.length(digits) < 16)
    beyond = F.when(is_negative, F.call_function("shiftleft", F.lit(1).cast("bigint"), F.length(digits) * 4))
    return F.conv(digits, 16, -10).cast("bigint") - F.coalesce(beyond, F.lit(0))


def _long(digits: Column) -> Column:
    is_negative = digits >= "8"
    high = _short(F.substr(digits, F.lit(1), F.length(digits) - 16)).cast("decimal(20,0)")
    low = _unsigned(F.right(digits, F.lit(16)))
    # Towards zero, not down: else the first product of a negative 38-digit number has 39 digits.
    towards_zero = F.when(is_negative, 1).otherwise(0)
    whole = F.try_multiply(high + towards_zero, F.lit(_TWO_TO_64))
    return F.try_add(whole, low - towards_zero * F.lit(_TWO_TO_64)).cast("string")


def _unsigned(digits: Column) -> Column:
    """16 hex digits as a whole number from 0 to 2^64 - 1."""
    return F.conv(digits, 16, 10).cast("decimal(20,0)")
