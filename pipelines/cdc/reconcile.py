"""Reconciliation: whether gold has the source's rows, by counts and hashes of key ranges, and which keys differ.

    both = sides(source, gold, table)
    found = summary(by_range(both)).first()
    differences(in_ranges(both, [each[RANGE] for each in found.differing])).show()

A hash is a sum over the rows of a range, so it does not depend on their order: equal rows have equal hashes, and
different ones differ unless two sums of 64-bit hashes happen to be equal. Only ranges that differ are compared row by
row.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from cdc import names
from cdc.debezium.values import conversion_of
from cdc.errors import RunCondition, RunError, near_match
from cdc.spec.model import ColumnSpec, TableSpec

RANGE, REASON, SOURCE, GOLD = "_range", "_reason", "_source", "_gold"
"""Columns beside the table's own; no target column starts with ``_``."""
_SOURCE_ROWS, _GOLD_ROWS, _SOURCE_HASH, _GOLD_HASH = "source_rows", "gold_rows", "source_hash", "gold_hash"
_WHOLE_NUMBERS = ("tinyint", "smallint", "int", "bigint")
_NUMBERS = (*_WHOLE_NUMBERS, "decimal", "float", "double")
_SUM = "decimal(38,0)"
"""Type of a range's hash: the sum of 64-bit hashes of 10^19 rows fits."""
_MOST_LISTED = 1_000
"""The most ranges that a condition lists by name."""


@dataclass(frozen=True)
class Sides:
    """Source and gold with the same columns and types, and how their keys are divided into ranges."""

    source: DataFrame
    gold: DataFrame
    key: tuple[str, ...]
    number: str | None = None
    """The first key column of whole numbers, if there is one: its values make the ranges."""
    size: int = 10_000
    """How many values of that column a range has."""
    buckets: int = 1_000
    """Without such a column: how many buckets there are, into which a hash of the key puts the rows."""


class ColumnsNotComparable(RunError):
    """The rows to compare with gold lack columns of the table's spec."""

    def __init__(self, table: TableSpec, missing: Sequence[str], found: Sequence[str]) -> None:
        def named(name: str) -> str:
            near = near_match(name, found)
            return f"`{name}` (did you mean `{near}`?)" if near else f"`{name}`"

        super().__init__(
            RunCondition.COLUMNS_NOT_COMPARABLE,
            table.source,
            f"the source's rows have no column {', '.join(map(named, missing))}; they have {', '.join(found)}",
            "select it under its name at the source or in gold, or leave it out of the comparison (`leave_out`).",
        )


def sides(source: DataFrame, gold: DataFrame, table: TableSpec, leave_out: Collection[str] = ()) -> Sides:
    """Both sides as they should be equal: the spec's filter, masks, renames and types applied to the source's rows.

    Compared are the columns from the source. The others of gold follow from them: computed ones, offsets, times of
    deletes. Of gold, rows of other sources and rows that a soft delete keeps are left out.

    Args:
        source: the source table's rows, or those of another copy of it; columns by their names at the source or in
            gold, in any order and of any type that Spark can cast. Other columns are ignored.
        gold: ``gold.<table>``, or `rows_at` of ``gold.<table>_history``.
        table: the spec; it has a key.
        leave_out: columns not to compare, by their names in gold; the key always is.

    Raises:
        ColumnsNotComparable: the source's rows lack a column.
    """
    columns = [column for column in table.columns if column.target not in leave_out or column.target in table.key]
    needed = [column for column in columns if column.constant is None]
    if missing := [column.name for column in needed if _found(column, source) is None]:
        raise ColumnsNotComparable(table, missing, source.columns)
    typed = source.select(*(_typed(column, source, table) for column in columns))
    masked = typed.select(*(F.expr(c.mask).alias(c.target) if c.mask else _column(c.target) for c in columns))
    if table.filter:
        masked = masked.select("*", *(F.expr(sql).alias(name) for name, sql in table.computed.items()))
        masked = masked.where(F.expr(table.filter))
    compared = masked.select(*(_column(column.target) for column in columns))
    types = {column.target: conversion_of(column, table.connector).target for column in columns}
    number = next((name for name in table.key if types[name] in _WHOLE_NUMBERS), None)
    return Sides(compared, _typed_like(compared, _living(gold, table)), table.key, number)


def rows_at(history: DataFrame, moment: datetime) -> DataFrame:
    """The rows of the source at one moment, by the commit times of their versions.

    Grain: one row per key that had a version then. Columns: those of ``gold.<table>``.
    """
    began = F.col(names.VALID_FROM) <= F.lit(moment)
    lasts = F.col(names.VALID_TO).isNull() | (F.col(names.VALID_TO) > F.lit(moment))
    return history.where(began & lasts).drop(*names.HISTORY_COLUMNS)


def by_range(both: Sides) -> DataFrame:
    """Counts and hashes of both sides.

    Grain: one row per range in which a side has rows. Columns: `_range` (the least key value of the range, or the
    number of the bucket), `source_rows`, `gold_rows`, `source_hash`, `gold_hash`.
    """
    tagged = _tagged(both, _range(both).alias(RANGE), _hash(both.source.columns).alias("_hash"))
    of_source, of_gold = F.col(SOURCE), ~F.col(SOURCE)
    total = F.sum(F.when(of_source, F.col("_hash"))), F.sum(F.when(of_gold, F.col("_hash")))
    zero = F.lit(0).cast(_SUM)
    return tagged.groupBy(RANGE).agg(
        F.count_if(of_source).alias(_SOURCE_ROWS),
        F.count_if(of_gold).alias(_GOLD_ROWS),
        F.coalesce(total[0], zero).alias(_SOURCE_HASH),
        F.coalesce(total[1], zero).alias(_GOLD_HASH),
    )


def summary(ranges: DataFrame) -> DataFrame:
    """The totals of `by_range`, from one pass over both sides.

    Grain: one row. Columns: `source_rows`, `gold_rows`, `ranges` (how many), `differing`: an array of the ranges in
    which the sides differ, each with its `_range`, `source_rows` and `gold_rows`.
    """
    counts = F.col(_SOURCE_ROWS) != F.col(_GOLD_ROWS)
    differs = counts | (F.col(_SOURCE_HASH) != F.col(_GOLD_HASH))
    return ranges.agg(
        F.coalesce(F.sum(_SOURCE_ROWS), F.lit(0)).alias(_SOURCE_ROWS),
        F.coalesce(F.sum(_GOLD_ROWS), F.lit(0)).alias(_GOLD_ROWS),
        F.count("*").alias("ranges"),
        F.array_sort(F.collect_list(F.when(differs, F.struct(RANGE, _SOURCE_ROWS, _GOLD_ROWS)))).alias("differing"),
    )


def in_ranges(both: Sides, ranges: Collection[int | None]) -> Sides:
    """The rows of some ranges.

    A range of whole numbers is also a condition on the column itself, which a database or a Delta table evaluates
    before rows are read.
    """
    known = sorted(number for number in ranges if number is not None)
    condition = F.lit(True)
    if both.number and known and len(known) == len(ranges):
        first, after = F.lit(known[0]), F.lit(known[-1] + both.size)
        condition = (_column(both.number) >= first) & (_column(both.number) < after)
    if len(known) <= _MOST_LISTED:
        listed = _range(both).isin(known) if known else F.lit(False)
        condition &= (listed | _range(both).isNull()) if len(known) < len(ranges) else listed
    return replace(both, source=both.source.where(condition), gold=both.gold.where(condition))


def differences(both: Sides) -> DataFrame:
    """The keys for which the sides differ.

    Grain: one row per key. Columns: the key; `_reason`: missing in gold, missing in the source, more than once in
    either, or the columns that differ; `_source` and `_gold`, structs of the compared columns, null where there is no
    row.
    """
    every = both.source.columns
    row = F.struct(*map(_column, every))
    tagged = _tagged(both, *map(_column, both.key), row.alias("_row"))
    grouped = tagged.groupBy(*map(_column, both.key)).agg(
        F.count_if(F.col(SOURCE)).alias(_SOURCE_ROWS),
        F.count_if(~F.col(SOURCE)).alias(_GOLD_ROWS),
        F.first(F.when(F.col(SOURCE), F.col("_row")), ignorenulls=True).alias("_of_source"),
        F.first(F.when(~F.col(SOURCE), F.col("_row")), ignorenulls=True).alias("_of_gold"),
    )
    unequal = F.array_compact(F.array(*(_if_unequal(name) for name in every)))
    found = grouped.select(*map(_column, both.key), _reason(unequal), "_of_source", "_of_gold")
    return found.where(F.col(REASON).isNotNull()).select(
        *map(_column, both.key), REASON, F.col("_of_source").alias(SOURCE), F.col("_of_gold").alias(GOLD)
    )


def _reason(unequal: Column) -> Column:
    source, gold = F.col(_SOURCE_ROWS), F.col(_GOLD_ROWS)
    text = (
        F.when(source > 1, F.lit("more than once in the source"))
        .when(gold > 1, F.lit("more than once in gold"))
        .when(source == 0, F.lit("missing in the source"))
        .when(gold == 0, F.lit("missing in gold"))
        .when(F.size(unequal) > 0, F.concat(F.lit("differs in "), F.array_join(unequal, ", ")))
    )
    return text.alias(REASON)


def _if_unequal(name: str) -> Column:
    source, gold = F.col("_of_source").getField(name), F.col("_of_gold").getField(name)
    return F.when(~source.eqNullSafe(gold), F.lit(name))


def _tagged(both: Sides, *columns: Column) -> DataFrame:
    """These columns of both sides, and `_source`: true for the source's rows."""
    source = both.source.select(*columns, F.lit(True).alias(SOURCE))
    return source.unionAll(both.gold.select(*columns, F.lit(False).alias(SOURCE)))


def _range(both: Sides) -> Column:
    """The least key value of a row's range, or the number of its bucket; null for a key too close to the least."""
    if both.number is None:
        return F.pmod(F.xxhash64(*map(_column, both.key)), F.lit(both.buckets))
    value = _column(both.number).cast("bigint")
    return F.try_subtract(value, F.pmod(value, F.lit(both.size)))


def _hash(columns: Sequence[str]) -> Column:
    """A row's hash. The nulls come first, because xxhash64 passes over them: (null, 1) must not equal (1, null)."""
    nulls = F.concat(*(F.when(_column(name).isNull(), F.lit("1")).otherwise(F.lit("0")) for name in columns))
    return F.xxhash64(nulls, *map(_column, columns)).cast(_SUM)


def _living(gold: DataFrame, table: TableSpec) -> DataFrame:
    """Without the rows that a soft delete keeps, and those of the target's other sources."""
    rows = gold.where(F.col(names.GOLD_DELETED_AT).isNull()) if table.keeps_deleted else gold
    return rows.where(_column(table.into.column) == F.lit(table.into.source)) if table.into else rows


def _typed(column: ColumnSpec, rows: DataFrame, table: TableSpec) -> Column:
    """A column of the source's rows under its target name and type; the query fails for a value that does not fit."""
    name, target = _found(column, rows), conversion_of(column, table.connector).target
    if name is None:
        return F.lit(column.constant).alias(column.target)
    value, type_ = _column(name), dict(rows.dtypes)[name]
    if type_ == target:
        # As it is, so that the source can evaluate conditions on it.
        return value.alias(column.target)
    typed = value.try_cast(target)
    changed = typed.cast(type_) != value if type_.startswith(_NUMBERS) else F.lit(False)
    text = F.concat(F.lit(f"column {name} of the source: `"), value.cast("string"), F.lit(f"` is not a {target}"))
    unfit = value.isNotNull() & (typed.isNull() | changed)
    return F.when(unfit, F.raise_error(text).cast(target)).otherwise(typed).alias(column.target)


def _typed_like(compared: DataFrame, rows: DataFrame) -> DataFrame:
    """The compared columns of rows in the same types, because a hash tells 1 from 1.00."""
    return rows.select(*(_column(name).cast(type_).alias(name) for name, type_ in compared.dtypes))


def _found(column: ColumnSpec, rows: DataFrame) -> str | None:
    """The name of a spec's column among the source's rows, in any letter case; None if they lack it."""
    present = {name.lower(): name for name in rows.columns}
    return present.get(column.name.lower(), present.get(column.target.lower()))


def _column(name: str) -> Column:
    return F.col(f"`{name}`")
