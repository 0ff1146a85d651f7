"""The numeric types: booleans, integers, floating-point numbers and exact decimals."""

from decimal import Decimal

from pyspark.sql import Column
from pyspark.sql import functions as F

from cdc.debezium.values.binary import from_base64
from cdc.debezium.values.conversion import Conversion, bound, casted, within
from cdc.spec.model import ColumnSpec, ConnectorSpec

_TWO_TO_64 = Decimal(2**64)
_NOT_FINITE = ("NaN", "Infinity", "-Infinity")
_WITH_EXPONENT = r"^(-?\d{1,1000})\.?(\d{0,1000})[eE]([+-]?\d{1,6})$"
_SPECIAL = {
    "NaN": ("NaN", "NAN"),
    "Infinity": ("Infinity", "POSITIVE_INFINITY"),
    "-Infinity": ("-Infinity", "NEGATIVE_INFINITY"),
}
"""Text of a number that is not finite -> how connectors write it."""


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


def decimal_of_any_scale(precision: int, scale: int, connector: ConnectorSpec) -> Conversion:
    """A decimal(precision,scale), in precise mode also of a value that is written with a scale of its own."""
    fixed = decimal(precision, scale, connector)
    if connector.decimal_handling_mode != "precise":
        return fixed

    def measure(text: Column) -> Column:
        plain = F.when(~text.startswith("{"), text)
        return F.struct(
            (fixed.measure(plain) if fixed.measure else plain).alias("plain"),
            F.when(text.startswith("{"), _number_of(_of_own_scale(text))).alias("number"),
        )

    return Conversion(
        fixed.wire,
        fixed.target,
        lambda parts: F.coalesce(
            fixed.convert(parts.getField("plain")), _exactly(parts.getField("number"), precision, scale)
        ),
        measure=measure,
    )


def number_text(scale: int | None, connector: ConnectorSpec) -> Conversion:
    """A number of any size as text: its digits without an exponent, and without zeros at the end of a fraction.

    In precise mode up to 38 digits are read. ``scale`` is that of the column; None: each value has one of its own.
    """
    mode = connector.decimal_handling_mode
    if mode == "double":
        wire = "number with the 53 bits of a double"
        return Conversion(wire, "string", lambda text: F.when(text.try_cast("double").isNotNull(), text))
    if mode == "string" or (scale is not None and connector.decimal_format == "numeric"):
        return Conversion("text of the number", "string", _plain_number)

    def measure(text: Column) -> Column:
        if scale is None:
            return F.when(text.startswith("{"), _of_own_scale(text))
        return F.struct(F.hex(from_base64(text)).alias("digits"), F.lit(scale).alias("scale"))

    wire = "object with scale and value" if scale is None else "base64 of the unscaled number"
    return Conversion(wire, "string", _number_of, measure=measure)


def _of_own_scale(text: Column) -> Column:
    """Hex digits and scale of `{"scale": 1, "value": "Dw=="}`."""
    return bound(
        F.from_json(text, "scale string, value string"),
        lambda parts: F.struct(
            F.hex(from_base64(parts.getField("value"))).alias("digits"),
            parts.getField("scale").try_cast("int").alias("scale"),
        ),
    )


def _number_of(parts: Column) -> Column:
    """The text of a number from hex digits and scale."""
    unscaled = bound(parts.getField("digits"), lambda digits: _unscaled(digits, is_long=True))
    return bound(F.struct(unscaled.alias("unscaled"), parts.getField("scale").alias("scale")), _with_point)


def _with_point(parts: Column) -> Column:
    """The text of a whole number and a scale as that of the number."""
    unscaled, scale = parts.getField("unscaled"), parts.getField("scale")
    sign = F.when(unscaled.startswith("-"), "-").otherwise("")
    zeros = F.repeat(F.lit("0"), -F.least(scale, F.lit(0)))
    places = F.greatest(scale, F.lit(0))
    digits = F.lpad(
        F.concat(F.ltrim(unscaled, F.lit("-")), zeros),
        F.greatest(F.length(unscaled) + F.length(zeros), places + 1),
        "0",
    )
    # As long as the digits of a numeric may be; a larger scale would only make a text of zeros.
    return F.when(
        scale.between(-131_072, 16_383),
        bound(
            digits,
            lambda digits: _without_zeros(
                F.concat(
                    sign,
                    F.regexp_replace(F.substr(digits, F.lit(1), F.length(digits) - places), "^0+(?=.)", ""),
                    F.lit("."),
                    F.right(digits, places),
                )
            ),
        ),
    )


def _plain_number(text: Column) -> Column:
    """A number's text in the one form that it has here; null if it is none."""
    shown = F.when(text.rlike(r"^-?\d++(\.\d*+)?$"), _without_zeros(text))
    exponent = F.when(text.rlike(_WITH_EXPONENT), bound(F.upper(text), _expanded))
    special = [F.when(text.isin(*names), number) for number, names in _SPECIAL.items()]
    return F.coalesce(shown, exponent, *special)


def _without_zeros(text: Column) -> Column:
    """A number without the zeros that end its fraction."""
    return F.when(F.contains(text, F.lit(".")), F.rtrim(F.rtrim(text, F.lit("0")), F.lit("."))).otherwise(text)


def _expanded(text: Column) -> Column:
    """`-1.5E-3` as `-0.0015`."""
    fraction, power = F.regexp_extract(text, _WITH_EXPONENT, 2), F.regexp_extract(text, _WITH_EXPONENT, 3)
    digits = F.concat(F.regexp_extract(text, _WITH_EXPONENT, 1), fraction)
    scale = F.length(fraction) - power.try_cast("int")
    return bound(F.struct(digits.alias("unscaled"), scale.alias("scale")), _with_point)


def _exactly(text: Column, precision: int, scale: int) -> Column:
    """The number; null if the scale would round it (as far as 38 digits show)."""
    value = text.try_cast(f"decimal({precision},{scale})")
    unrounded = text.try_cast(f"decimal(38,{38 - precision + scale})")
    return F.when(value == unrounded, value)


def _scaled(unscaled: Column, scale: int) -> Column:
    """Text of unscaled * 10^-scale: a product of two decimals would lose digits after the 38th."""
    return F.concat(unscaled, F.lit(f"E-{scale}"))


def unscaled(digits: Column) -> Column:
    """The whole number, as text, of up to 32 upper-case hex digits in two's complement; null for more digits.

    >>> evaluate(unscaled(F.lit("0463"))), evaluate(unscaled(F.lit("FB2E")))
    ('1123', '-1234')
    """
    return _unscaled(digits, is_long=True)


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
