"""The numeric types: booleans, integers, floating-point numbers and exact decimals."""

from decimal import Decimal

from pyspark.sql import Column
from pyspark.sql import functions as F

from cdc.debezium.values.binary import from_base64
from cdc.debezium.values.conversion import Conversion, casted, within
from cdc.spec.model import ColumnSpec, ConnectorSpec

_TWO_TO_64 = Decimal(2**64)
_NOT_FINITE = ("NaN", "Infinity", "-Infinity")


def boolean(column: ColumnSpec, connector: ConnectorSpec) -> Conversion:
    """A boolean."""
    return Conversion(
        "true or false", "boolean", lambda text: F.when(text == "true", True).when(text == "false", False)
    )


def integer(target: str, bounds: tuple[int, int] | None = None) -> Conversion:
    """A whole number of a Spark type, null outside the bounds if there are any."""
    if bounds is None:
        return casted("number", target)
    return Conversion("number", target, lambda text: within(text.try_cast(target), *bounds))


def floating(target: str) -> Conversion:
    """A float or double; a number too large for the type becomes null, not infinite."""

    def convert(text: Column) -> Column:
        value = text.try_cast(target)
        is_finite = F.abs(value) < float("inf")
        return F.when(is_finite | text.isin(*_NOT_FINITE), value)

    return Conversion("number", target, convert)


def decimal(precision: int, scale: int, connector: ConnectorSpec) -> Conversion:
    """A decimal(precision,scale), exact to the last of 38 digits."""
    target = f"decimal({precision},{scale})"
    mode = connector.decimal_handling_mode
    if mode == "double":
        return casted("number with the 53 bits of a double, rounded to the scale", target)
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
    """The number; null if the scale would round it (as far as 38 digits show)."""
    value = text.try_cast(f"decimal({precision},{scale})")
    unrounded = text.try_cast(f"decimal(38,{38 - precision + scale})")
    return F.when(value == unrounded, value)


def _scaled(unscaled: Column, scale: int) -> Column:
    """Text of unscaled * 10^-scale: a product of two decimals would lose digits after the 38th."""
    return F.concat(unscaled, F.lit(f"E-{scale}"))


def _unscaled(digits: Column, *, is_long: bool) -> Column:
    """The whole number, as text, of up to 16 (long: 32) hex digits in two's complement; null for more digits."""
    short = F.when(F.length(digits).between(1, 16), _short(digits).cast("string"))
    return F.coalesce(short, F.when(F.length(digits) <= 32, _long(digits))) if is_long else short


def _short(digits: Column) -> Column:
    # `conv` reads the sign of 16 digits; with fewer, the first digit (in upper-case hex) has it.
    is_negative = (digits >= "8") & (F.length(digits) < 16)
    beyond = F.when(is_negative, F.call_function("shiftleft", F.lit(1).cast("bigint"), F.length(digits) * 4))
    return F.conv(digits, 16, -10).cast("bigint") - F.coalesce(beyond, F.lit(0))


def _long(digits: Column) -> Column:
    is_negative = digits >= "8"
    high = _short(F.substr(digits, F.lit(1), F.length(digits) - 16)).cast("decimal(20,0)")
    low = _unsigned(F.right(digits, F.lit(16)))
    # Round the high part towards zero, not down: a negative 38-digit number would have a product of 39 digits.
    towards_zero = F.when(is_negative, 1).otherwise(0)
    whole = F.try_multiply(high + towards_zero, F.lit(_TWO_TO_64))
    return F.try_add(whole, low - towards_zero * F.lit(_TWO_TO_64)).cast("string")


def _unsigned(digits: Column) -> Column:
    """16 hex digits as a whole number from 0 to 2^64 - 1."""
    return F.conv(digits, 16, 10).cast("decimal(20,0)")
