"""The keys of a batch as SQL text, for what takes its condition as text alone."""

import re
from collections.abc import Collection, Mapping

from pyspark.sql.types import (
    BooleanType,
    ByteType,
    DataType,
    DateType,
    DecimalType,
    IntegerType,
    LongType,
    ShortType,
    StringType,
)

from dlt_local.names import quote

LISTED = 50_000
"""Keys that are still listed; Delta keeps the text in its log, some ten bytes for each change."""
_INTEGRAL = (ByteType, ShortType, IntegerType, LongType)
_EXACT = (*_INTEGRAL, DecimalType, DateType, BooleanType)
# What ends a literal, escapes in one, begins a variable of the session's configuration, or stands for bytes that are no
# UTF-8, which Python is not told.
_NOT_PLAIN = re.compile("['\\\\$\0\ufffd]")


def told_by(keys: Mapping[str, DataType]) -> str | None:
    """SQL for one value that tells a row's key from every other; None for types of which the text does not.

    A key of one integer or text is told by the column itself, which lets Delta skip files by what their keys span.

    Args:
        keys: the columns' names and types, in the key's order.
    """
    # Of texts only those that are compared byte by byte: no collation, no padding.
    if not all(isinstance(type_, _EXACT) or type_ == StringType() for type_ in keys.values()):
        return None
    if len(keys) == 1:
        ((key, type_),) = keys.items()
        if isinstance(type_, (*_INTEGRAL, StringType)):
            return quote(key)
    texts = [f"CAST({quote(key)} AS STRING)" for key in keys]
    return f"concat_ws(',', {', '.join(f'CAST(length({text}) AS STRING), {text}' for text in texts)})"


def is_among(told: str, values: Collection[int | str]) -> str | None:
    """SQL, true for rows of which ``told`` is one of the values; None where one cannot stand in SQL text plainly."""
    if any(isinstance(value, str) and _NOT_PLAIN.search(value) for value in values):
        return None
    if not values:
        return "FALSE"
    listed = ",".join(f"'{value}'" if isinstance(value, str) else str(value) for value in values)
    return f"{told} IN ({listed})"
