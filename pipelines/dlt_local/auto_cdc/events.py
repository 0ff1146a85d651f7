"""A flow's source rows as events: key, sequence, kind, row. Pure: DataFrame -> DataFrame.

A *flat* event has the parts of key, sequence and row as columns of their own: Spark sorts and prunes those cheaply. An
*assembled* event has them as the structs KEY, SEQ and ROW.
"""

from collections.abc import Iterator

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import DataType, StructType

from dlt_local.auto_cdc.alignment import aligned_fields
from dlt_local.auto_cdc.args import ChangeArgs, column
from dlt_local.auto_cdc.names import ARRIVED, AUTHORED, DELETE, KEY, OP, ROW, SEQ, TRUNCATE, UPSERT
from dlt_local.delta.wider_types import with_types_of
from dlt_local.names import END_AT, quote


def to_flat_events(batch: DataFrame, args: ChangeArgs) -> DataFrame:
    """Source rows as flat events.

    Grain: one row per row of the batch that passes `where`.
    Columns: `flat_row` (filled for deletes too), `flat_sequence`, OP, AUTHORED. A condition that is null does not hold,
    so such a row is an upsert.

    Args:
        batch: the source's rows, or the stream of them. Apply this to the stream where possible: Spark prunes the
            columns of a stream, but not those of one of its microbatches.
        args: the flow's.
    """
    batch = with_types_of(batch, args.columns)
    if args.where is not None:
        batch = batch.where(column(args.where))
    op = F.lit(UPSERT)
    if args.apply_as_deletes is not None:
        op = F.when(column(args.apply_as_deletes), F.lit(DELETE)).otherwise(op)
    if args.apply_as_truncates is not None:
        op = F.when(column(args.apply_as_truncates), F.lit(TRUNCATE)).otherwise(op)
    row = F.struct(*[F.col(quote(name)) for name in args.source_columns.names])
    values = aligned_fields(row, args.source_columns, args.columns)
    sequence_parts = leaves(column(args.sequence_by), args.sequence_type)
    authored = F.lit(None) if args.columns_to_update is None else F.col(quote(args.columns_to_update))
    return batch.select(
        *[value.alias(name) for value, name in zip(values, flat_row(args), strict=True)],
        *[part.alias(name) for part, name in zip(sequence_parts, flat_sequence(args), strict=True)],
        op.alias(OP),
        authored.cast("array<string>").alias(AUTHORED),
    )


def with_arrival(flat: DataFrame) -> DataFrame:
    """Flat events with ARRIVED, which grows with a row's position in the batch."""
    return flat.withColumn(ARRIVED, F.monotonically_increasing_id())


def flat_row(args: ChangeArgs) -> list[str]:
    """Names of a flat event's columns for those of the target, in order."""
    return [f"{ROW}_{number}" for number in range(len(args.columns))]


def flat_key(args: ChangeArgs) -> list[str]:
    """Those of `flat_row` that are the key, in the key's order."""
    flat_names = {name.lower(): flat for name, flat in zip(args.columns.names, flat_row(args), strict=True)}
    return [flat_names[key.lower()] for key in args.keys]


def flat_sequence(args: ChangeArgs) -> list[str]:
    """Names of a flat event's columns for the parts of its sequence, most significant first."""
    return [f"{SEQ}_{number}" for number in range(len(leaves(F.lit(None), args.sequence_type)))]


def assembled(flat: DataFrame, args: ChangeArgs) -> DataFrame:
    """Flat events as KEY, SEQ, OP, ROW (null for deletes and truncates), then whatever other columns they have."""
    parts = [*flat_row(args), *flat_sequence(args)]
    names = dict(zip(args.columns.names, flat_row(args), strict=True))
    row = F.struct(*[F.col(part).alias(name) for name, part in names.items()])
    key = F.struct(*[F.col(part).alias(key) for key, part in zip(args.keys, flat_key(args), strict=True)])
    return flat.select(
        key.alias(KEY),
        sequence(args).alias(SEQ),
        OP,
        F.when(F.col(OP) == UPSERT, row).alias(ROW),
        *[name for name in flat.columns if name not in (*parts, OP)],
    )


def sequence(args: ChangeArgs) -> Column:
    """A flat event's sequence as one value."""
    return _sequence(map(F.col, flat_sequence(args)), args.sequence_type)


def _sequence(parts: Iterator[Column], type_: DataType) -> Column:
    if isinstance(type_, StructType):
        return F.struct(*[_sequence(parts, field.dataType).alias(field.name) for field in type_.fields])
    return next(parts)


def has_null_key(args: ChangeArgs) -> Column:
    """True for a flat event with a null in its key; a truncate has no key."""
    return (F.col(OP) != TRUNCATE) & _any_null(flat_key(args))


def has_null_sequence(args: ChangeArgs) -> Column:
    """True for a flat event with a null in its sequence."""
    return _any_null(flat_sequence(args))


def leaves(value: Column, type_: DataType) -> list[Column]:
    """The parts of a sequence, most significant first; those of a null struct are null."""
    if isinstance(type_, StructType):
        return [part for field in type_.fields for part in leaves(value[field.name], field.dataType)]
    return [value]


def is_open(args: ChangeArgs) -> str:
    """SQL, true for a row of the target that is a key's open version.

    No part of a sequence is null, so the first one decides: Spark reads no other, and Delta skips files without one.
    """
    part, type_ = END_AT, args.sequence_type
    while isinstance(type_, StructType):
        part, type_ = f"{part}.{quote(type_.fields[0].name)}", type_.fields[0].dataType
    return f"{part} IS NULL"


def key_of_row(args: ChangeArgs) -> Column:
    """KEY of a row of the target."""
    return F.struct(*[F.col(quote(key)).alias(key) for key in args.keys]).alias(KEY)


def _any_null(names: list[str]) -> Column:
    found = F.lit(False)
    for name in names:
        found = found | F.col(name).isNull()
    return found
