"""A flow's source rows as events: key, place in the order, kind, row. Pure: DataFrame -> DataFrame."""

from collections.abc import Iterator

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, DataType, MapType, StructType, VariantType

from dlt_local.auto_cdc.alignment import aligned_fields
from dlt_local.auto_cdc.args import ChangeArgs, column
from dlt_local.auto_cdc.names import ARRIVED, AUTHORED, DELETE, KEY, OP, ROW, SEQ, TRUNCATE, UPSERT
from dlt_local.names import END_AT, quote


def to_flat_events(batch: DataFrame, args: ChangeArgs) -> DataFrame:
    """One row per row of the batch that `where` lets pass, its columns side by side: what is dropped from these need
    never be put together.

    Columns: `flat_row` (filled for deletes too), `flat_sequence`, OP, AUTHORED. A condition that is null does not hold,
    so such a row is an upsert.

    Args:
        batch: the source's rows, or the stream of them: a stream brings the columns that it is asked for, and one batch
            of it is rows of which Spark drops nothing more.
        args: the flow's.
    """
    if args.where is not None:
        batch = batch.where(column(args.where))
    op = F.lit(UPSERT)
    if args.apply_as_deletes is not None:
        op = F.when(column(args.apply_as_deletes), F.lit(DELETE)).otherwise(op)
    if args.apply_as_truncates is not None:
        op = F.when(column(args.apply_as_truncates), F.lit(TRUNCATE)).otherwise(op)
    row = F.struct(*[F.col(quote(name)) for name in args.source_columns.names])
    values = aligned_fields(row, args.source_columns, args.columns)
    places = leaves(column(args.sequence_by), args.sequence_type)
    authored = F.lit(None) if args.columns_to_update is None else F.col(quote(args.columns_to_update))
    return batch.select(
        *[value.alias(name) for value, name in zip(values, flat_row(args), strict=True)],
        *[place.alias(name) for place, name in zip(places, flat_sequence(args), strict=True)],
        op.alias(OP),
        authored.cast("array<string>").alias(AUTHORED),
    )


def with_arrival(flat: DataFrame) -> DataFrame:
    """ARRIVED added: greater for a row that stands behind another in the batch."""
    return flat.withColumn(ARRIVED, F.monotonically_increasing_id())


def flat_row(args: ChangeArgs) -> list[str]:
    """Names of a flat event's columns for the target's, in order."""
    return [f"{ROW}_{number}" for number in range(len(args.columns))]


def flat_key(args: ChangeArgs) -> list[str]:
    """Those of them that are the key's, in the key's order."""
    places = {name.lower(): name_of_flat for name, name_of_flat in zip(args.columns.names, flat_row(args), strict=True)}
    return [places[key.lower()] for key in args.keys]


def flat_sequence(args: ChangeArgs) -> list[str]:
    """Names of a flat event's columns for the parts of its sequence, in the order in which they decide."""
    return [f"{SEQ}_{number}" for number in range(len(leaves(F.lit(None), args.sequence_type)))]


def assembled(flat: DataFrame, args: ChangeArgs) -> DataFrame:
    """Flat events with KEY, SEQ and ROW in place of their parts; a delete and a truncate have no ROW."""
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
    """True for a flat event without a whole key; a truncate has none."""
    return (F.col(OP) != TRUNCATE) & _any_null(flat_key(args))


def has_null_sequence(args: ChangeArgs) -> Column:
    """True for a flat event of whose place a part is not known."""
    return _any_null(flat_sequence(args))


def leaves(value: Column, type_: DataType) -> list[Column]:
    """The parts of a sequence, in the order in which they decide; a null struct's are null."""
    if isinstance(type_, StructType):
        return [part for field in type_.fields for part in leaves(value[field.name], field.dataType)]
    return [value]


def is_open(args: ChangeArgs) -> str:
    """SQL, true for a row of the target that is a key's present version.

    No part of a sequence is null, so one tells: the others are not read, and files that have none are skipped.
    """
    part, type_ = END_AT, args.sequence_type
    while isinstance(type_, StructType):
        part, type_ = f"{part}.{quote(type_.fields[0].name)}", type_.fields[0].dataType
    return f"{part} IS NULL"


def _any_null(names: list[str]) -> Column:
    found = F.lit(False)
    for name in names:
        found = found | F.col(name).isNull()
    return found


def rank(row: Column, columns: StructType) -> Column:
    """What decides between two different upserts of one key at one sequence: the greater row, column by column.

    Any rule that looks at the rows alone gives the same winner in every order of arrival.
    """
    return comparable(row, columns)


def fingerprint(row: Column, columns: StructType) -> Column:
    """bigint: a hash of the row by which a repeated event is told from a tie.

    Nulls count in it. Spark's own hash passes over them, so that (1, null) and (null, 1) would be the same.
    """
    return F.xxhash64(*_hashed(row, columns))


def _hashed(value: Column, type_: DataType) -> list[Column]:
    if isinstance(type_, StructType):
        return [value.isNull(), *(part for f in type_.fields for part in _hashed(value[f.name], f.dataType))]
    if isinstance(type_, ArrayType | MapType | VariantType):
        whole = F.struct(comparable(value, type_).alias("value"))
        return [F.to_json(whole, {"ignoreNullFields": "false"})]
    return [value.isNull(), value]


def comparable(value: Column, type_: DataType) -> Column:
    """The value in a form that has an order and equality: maps have neither, a variant no order."""
    if not has_no_order(type_):
        return value
    if isinstance(type_, StructType):
        fields = F.struct(*[comparable(value[f.name], f.dataType).alias(f.name) for f in type_.fields])
        return F.when(value.isNotNull(), fields)
    if isinstance(type_, MapType) and not has_no_order(type_.valueType):
        return F.array_sort(F.map_entries(value))
    return F.to_json(F.struct(value.alias("value")))


def has_no_order(type_: DataType) -> bool:
    """True for what cannot be compared as it is: a map, a variant, and what has one in it."""
    if isinstance(type_, StructType):
        return any(has_no_order(field.dataType) for field in type_.fields)
    if isinstance(type_, ArrayType):
        return has_no_order(type_.elementType)
    return isinstance(type_, MapType | VariantType)
