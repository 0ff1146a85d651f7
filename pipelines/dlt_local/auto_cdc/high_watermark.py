"""High watermark: the greatest sequence that a target's batches have had. A batch entirely above it needs no lookup."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql.types import ByteType, DataType, DateType, IntegerType, LongType, ShortType, StringType, StructType
from pyspark.sql.types import TimestampType as Instant

Position = tuple[str | int, ...]
"""A sequence as Python compares it: its parts, most significant first, none of them null."""

_WHOLE = (ByteType, ShortType, IntegerType, LongType)
_LEAST, _GREATEST = "least", "greatest"


@dataclass(frozen=True)
class SequenceRange:
    """The least and the greatest sequence of some events; None where Python does not share the type's order."""

    least: Position | None = None
    greatest: Position | None = None

    def is_above(self, watermark: Position | None) -> bool:
        """True if every event is known to be newer than the watermark."""
        return self.least is not None and watermark is not None and self.least > watermark


def range_aggregates(sequence: Column, type_: DataType) -> list[Column]:
    """Aggregates from which `range_of` makes a SequenceRange; none for a type whose order Python does not share."""
    parts = _parts(F.min(sequence), type_), _parts(F.max(sequence), type_)
    return [
        F.struct(*(part.alias(f"_{number}") for number, part in enumerate(each))).alias(name)
        for name, each in zip((_LEAST, _GREATEST), parts, strict=True)
        if each is not None
    ]


def range_of(aggregated: Mapping[str, Any]) -> SequenceRange:
    """What `range_aggregates` found."""
    return SequenceRange(_position(aggregated.get(_LEAST)), _position(aggregated.get(_GREATEST)))


def _position(row: Any) -> Position | None:
    parts = () if row is None else tuple(row)
    return parts if parts and None not in parts else None


def _parts(value: Column, type_: DataType) -> list[Column] | None:
    if isinstance(type_, StructType):
        parts = [_parts(value[field.name], field.dataType) for field in type_.fields]
        comparable = [part for part in parts if part is not None]
        return [column for part in comparable for column in part] if len(comparable) == len(parts) else None
    if isinstance(type_, StringType):
        # UTF-8 bytes sort by code point, as Python's strings do. Collations do not.
        return [value] if type_ == StringType() else None
    if isinstance(type_, _WHOLE):
        return [value]
    if isinstance(type_, DateType):
        return [F.unix_date(value)]
    return [F.unix_micros(value)] if isinstance(type_, Instant) else None
