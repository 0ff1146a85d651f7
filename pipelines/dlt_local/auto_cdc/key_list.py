"""Keys as SQL text, for Delta's `replaceWhere`, which takes its condition as text only."""

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
"""The most keys that are listed; Delta keeps the text in its log, some ten bytes per change."""
_INTEGRAL = (ByteType, ShortType, IntegerType, LongType)
_EXACT = (*_INTEGRAL, DecimalType, DateType, BooleanType)
# What ends a literal, escapes in one, starts a variable of the session's conf, or replaces bytes that are not UTF-8.
_NOT_PLAIN = re.compile("['\\\\$\0\ufffd]")


def key_sql(keys: Mapping[str, DataType]) -> str | None:
    """SQL for one value that identifies a row's key; None for types whose text is not exact.

    A key of one integer or string is the column itself, so Delta can skip files by their key range.

    Args:
        keys: the columns' names and types, in the key's order.
    """
    # Only strings that are compared byte by byte: no collation, no padding.
    if not all(isinstance(type_, _EXACT) or type_ == StringType() for type_ in keys.values()):
        return None
    if len(keys) == 1:
        ((key, type_),) = keys.items()
        if isinstance(type_, (*_INTEGRAL, StringType)):
            return quote(key)
    texts = [f"CAST({quote(key)} AS STRING)" for key in keys]
    return f"concat_ws(',', {', '.join(f'CAST(length({text}) AS STRING), {text}' for text in texts)})"


def is_among(key: str, values: Collection[int | str]) -> str | None:
    """SQL, true for rows whose ``key`` (from `key_sql`) is one of the values; None if one needs escaping."""
    if any(isinstance(value, str) and _NOT_PLAIN.search(value) for value in values):
        return None
    if not values:
        return "FALSE"
    listed = ",".join(f"'{value}'" if isinstance(value, str) else str(value) for value in values)
    return f"{key} IN ({listed})"
