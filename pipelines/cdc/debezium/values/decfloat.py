"""Decimal floating-point numbers (DECFLOAT), whose scale is each value's own."""

from pyspark.sql import Column
from pyspark.sql import functions as F

from cdc.debezium.json_texts import texts_of
from cdc.debezium.values.binary import from_base64
from cdc.debezium.values.conversion import Conversion
from cdc.debezium.values.numbers import unscaled
from cdc.spec.model import ColumnSpec, ConnectorSpec

_NUMBER = r"^-?\d+(\.\d+)?([eE][-+]?\d+)?$"
_FRACTION = r"^-?\d+\.\d*0$"
_PARTS = texts_of(("scale", "value"))


def decfloat(column: ColumnSpec, connector: ConnectorSpec) -> Conversion:
    """The number as text: no decimal of Spark has room for exponents to 6144.

    In mode `precise` the connector writes a number and its scale, without trailing zeros; a number of 39 digits and
    more, of which most are zeros, cannot be read from it.
    """
    if connector.decimal_handling_mode == "precise":
        wire = "object of the scale and base64 of the unscaled number, big-endian two's complement"
        return Conversion(wire, "string", _text_of_parts, measure=_parts)
    number = "text of the number" if connector.decimal_handling_mode == "string" else "number with the bits of a double"
    return Conversion(number, "string", lambda text: F.when(text.rlike(_NUMBER), _without_last_zeros(text)))


def _without_last_zeros(text: Column) -> Column:
    """One text for a number, whichever of its equal forms the database holds."""
    return F.when(text.rlike(_FRACTION), F.regexp_replace(text, r"\.?0+$", "")).otherwise(text)


def _parts(text: Column) -> Column:
    """Scale and hexadecimal digits of ``{"scale": 2, "value": "BGM="}``."""
    parts = F.from_json(text, _PARTS)
    return F.struct(
        parts.getField("scale").try_cast("int").alias("scale"), F.hex(from_base64(parts.getField("value"))).alias("hex")
    )


def _text_of_parts(parts: Column) -> Column:
    return number_text(unscaled(parts.getField("hex")), parts.getField("scale"))


def number_text(whole: Column, scale: Column) -> Column:
    """The text of a whole number * 10^-scale, as databases write numbers; null if either is.

    >>> [evaluate(number_text(F.lit(whole), F.lit(scale))) for whole, scale in (("-1234", 2), ("-5", 3), ("7", 0))]
    ['-12.34', '-0.005', '7']
    """
    sign = F.when(whole.startswith("-"), "-").otherwise("")
    digits = F.regexp_replace(whole, "^-", "")
    padded = F.lpad(digits, F.greatest(F.length(digits), scale + 1), "0")
    point = F.length(padded) - scale
    with_point = F.concat(sign, F.substr(padded, F.lit(1), point), F.lit("."), F.substr(padded, point + 1))
    return F.when(scale > 0, with_point).when(scale == 0, whole)
