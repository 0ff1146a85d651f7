"""Decimals of more than 38 digits, which no numeric type of Spark holds: exact, as text."""

import math

from pyspark.sql import Column
from pyspark.sql import functions as F

from cdc.debezium.values.binary import from_base64
from cdc.debezium.values.conversion import Conversion, within
from cdc.spec.model import ConnectorSpec

_LIMB = 10**13
"""The number is computed in parts of 13 decimal digits: 16 bits more of one fit into a bigint."""
_BITS = 2**16
_NUMBER = r"^(-?)(\d+)(\.(\d+))?([eE]([+-]?\d{1,9}))?$"
"""A number as Java and JSON write it: ``-1.5``, ``1E-30``."""


def large_decimal(precision: int, scale: int, connector: ConnectorSpec) -> Conversion:
    """A decimal(precision,scale) as text with all its decimal places: ``-1.50``."""
    mode = connector.decimal_handling_mode
    if mode == "double":
        wire = "number with the 53 bits of a double"
        return Conversion(wire, "string", lambda text: F.when(text.try_cast("double").isNotNull(), text))
    if mode == "string" or connector.decimal_format == "numeric":
        wire = "text of the number" if mode == "string" else "number"
        return Conversion(wire, "string", lambda text: _of_text(text, precision, scale))
    return Conversion(
        "base64 of the unscaled number, big-endian two's complement",
        "string",
        lambda digits: _of_hex(digits, precision, scale),
        measure=lambda text: F.hex(from_base64(text)),
    )


def _of_text(text: Column, precision: int, scale: int) -> Column:
    """The number with all decimal places; null if it has more of them, or more digits than the type."""
    whole, places = F.regexp_extract(text, _NUMBER, 2), F.regexp_extract(text, _NUMBER, 4)
    exponent = F.coalesce(F.regexp_extract(text, _NUMBER, 6).try_cast("int"), F.lit(0))
    # Every number of the type has its point inside so many digits; further zeros on both sides make room for it.
    room = precision + 1
    digits = F.concat(F.repeat(F.lit("0"), room), whole, places, F.repeat(F.lit("0"), room))
    point = F.lit(room) + F.length(whole) + within(exponent, -room, room)
    before = F.regexp_replace(F.left(digits, point), "^0+(?=.)", "")
    after = F.substr(digits, point + 1)
    kept, cut = F.left(after, F.lit(scale)), F.substr(after, F.lit(scale + 1))
    fits = text.rlike(_NUMBER) & (F.length(before) <= max(precision - scale, 1)) & cut.rlike("^0*$")
    sign = F.regexp_extract(text, _NUMBER, 1)
    return F.when(fits, F.concat(sign, before, F.lit("."), kept) if scale else F.concat(sign, before))


def _of_hex(digits: Column, precision: int, scale: int) -> Column:
    """The number of so many hex digits in two's complement; null if it has more digits than the type."""
    # One bit more than those of the digits is the sign.
    longest = 2 * math.ceil((precision * math.log2(10) + 1) / 8)
    is_negative = digits >= "8"
    # Extended to a whole number of 16 bits; of a negative number the complement is read, and one added at the end.
    filler = F.when(is_negative, "F").otherwise("0")
    extended = F.lpad(digits, longest + (-longest) % 4, filler)
    plain = F.when(is_negative, F.translate(extended, "0123456789ABCDEF", "FEDCBA9876543210")).otherwise(extended)
    whole = _decimal_digits(plain, precision, F.when(is_negative, 1).otherwise(0))
    padded = F.lpad(whole, F.greatest(F.length(whole), F.lit(scale + 1)), F.lit("0"))
    shown = padded
    if scale:
        point = F.length(padded) - scale
        shown = F.concat(F.left(padded, point), F.lit("."), F.right(padded, F.lit(scale)))
    signed = F.concat(F.when(is_negative, "-").otherwise(""), shown)
    fits = F.length(digits).between(1, longest) & (F.length(whole) <= precision)
    return F.when(fits, signed)


def _decimal_digits(hex_digits: Column, precision: int, plus: Column) -> Column:
    """A whole number from groups of four hex digits, as decimal digits without leading zeros."""
    count = -(-(precision + 4) // 13)
    zeros = F.array(*(F.lit(0).cast("bigint") for _ in range(count)))
    groups = F.filter(F.split(hex_digits, "(?<=\\G.{4})"), lambda group: group != "")

    def with_group(limbs: Column, group: Column) -> Column:
        return _times(limbs, _BITS, F.conv(group, 16, 10).cast("bigint"))

    limbs = _times(F.aggregate(groups, zeros, with_group), 1, plus.cast("bigint"))
    # The lowest limb is the first.
    texts = F.transform(F.reverse(limbs), lambda limb: F.lpad(limb.cast("string"), 13, "0"))
    return F.regexp_replace(F.array_join(texts, ""), "^0+(?=.)", "")


def _times(limbs: Column, factor: int, plus: Column) -> Column:
    """The number of some limbs, the lowest first, multiplied by a factor, plus a number."""
    nothing = F.array().cast("array<bigint>")
    start = F.struct(plus.alias("carry"), nothing.alias("limbs"))

    def step(so_far: Column, limb: Column) -> Column:
        value = limb * F.lit(factor).cast("bigint") + so_far.getField("carry")
        carry = F.call_function("div", value, F.lit(_LIMB).cast("bigint"))
        return F.struct(
            carry.alias("carry"),
            F.concat(so_far.getField("limbs"), F.array(value % F.lit(_LIMB).cast("bigint"))).alias("limbs"),
        )

    return F.aggregate(limbs, start, step, lambda end: end.getField("limbs"))
