"""How far a target has come: the greatest sequence that any of its batches had. A batch that lies wholly behind it is
newer than all that is known, so that nothing known need be looked up.
"""

from collections.abc import Mapping
from typing import Any

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql.types import ByteType, DataType, DateType, IntegerType, LongType, ShortType, StringType, StructType
from pyspark.sql.types import TimestampType as Instant

Place = list[str | int]
"""A sequence as Python can keep it: its parts in the order in which they decide, none of them null."""

_WHOLE = (ByteType, ShortType, IntegerType, LongType)


def place(sequence: Column, type_: DataType) -> Column | None:
    """A sequence as an array-like struct that `told` makes a `Place` of; None for a type whose order Python has not."""
    parts = _parts(sequence, type_)
    return None if parts is None else F.struct(*(part.alias(f"_{n}") for n, part in enumerate(parts)))


def told(row: Mapping[str, Any] | None) -> Place | None:
    """The place that `place` gave, None where it gave none."""
    values: Place = [] if row is None else list(row)
    return values if values and None not in values else None


def greatest(*places: Place | None) -> Place | None:
    """The last of all in order; None where one is not known."""
    known = [each for each in places if each is not None]
    return max(known) if len(known) == len(places) else None


def _parts(value: Column, type_: DataType) -> list[Column] | None:
    if isinstance(type_, StructType):
        parts = [_parts(value[field.name], field.dataType) for field in type_.fields]
        known = [part for part in parts if part is not None]
        return [column for part in known for column in part] if len(known) == len(parts) else None
    if isinstance(type_, StringType):
        # Bytes of UTF-8 stand in the order of their code points, which is Python's.
        return [value] if type_ == StringType() else None
    if isinstance(type_, _WHOLE):
        return [value]
    if isinstance(type_, DateType):
        return [F.unix_date(value)]
    return [F.unix_micros(value)] if isinstance(type_, Instant) else None
