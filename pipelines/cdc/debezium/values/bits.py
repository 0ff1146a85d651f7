"""Bit strings: bytes from the last bit to the first; some connectors leave out zeros at the string's front."""

from pyspark.sql import Column
from pyspark.sql import functions as F

from cdc.debezium.values.binary import from_base64
from cdc.debezium.values.conversion import Conversion

_DIGITS, _LETTERS = "0123456789ABCDEF", "GHIJKLMNOPQRSTUV"


def bits(length: int | None) -> Conversion:
    """A bit string as a text of zeros and ones; without a fixed length it starts with its first one."""

    def convert(digits: Column) -> Column:
        shown = F.ltrim(_binary(digits), F.lit("0"))
        if length is None:
            return shown
        return F.when(F.length(shown) <= length, F.lpad(shown, length, "0"))

    # Not in `binary.handling.mode`: the converter writes these bytes in base64 in every mode.
    return Conversion("base64, last bits first", "string", convert, measure=_hex, placeholders=lambda _: ())


def _hex(text: Column) -> Column:
    return F.hex(from_base64(text))


def _binary(digits: Column) -> Column:
    """Hex digits of bytes in the opposite order, as zeros and ones."""
    turned = F.regexp_replace(F.reverse(digits), "(.)(.)", "$2$1")
    # Letters that are no digits first, so that no zero or one is replaced again.
    shown = F.translate(turned, _DIGITS, _LETTERS)
    for number, letter in enumerate(_LETTERS):
        shown = F.replace(shown, F.lit(letter), F.lit(f"{number:04b}"))
    return shown
