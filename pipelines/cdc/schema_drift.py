"""Source drift by a connector's schema changes: the last schema of each table, compared with its spec."""

import json
from collections.abc import Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from cdc import names
from cdc.debezium.drift import EXPECTED, FIELD, FOUND, KIND, RECORD
from cdc.spec.difference_kinds import Change
from cdc.spec.kinds import kind_of
from cdc.spec.kinds.comparison import Widths
from cdc.spec.model import ColumnSpec, SourceType, TableSpec

_MAX = 2**31 - 1
"""The length of a (max) type; the connector reports the driver's, which depends on the type."""
_TYPE = "struct<name: string, size: int, scale: int, text: string, nullable: boolean>"
_SPEC = (
    f"array<struct<table: string, key: array<string>, absent: array<string>, excluded: array<string>,"
    f" columns: map<string, {_TYPE}>>>"
)


def schema_drift(schema_changes: DataFrame, tables: Sequence[TableSpec]) -> DataFrame:
    """What the last schemas that the connector reported and the specs differ in; tables without one have no rows.

    Grain: one row per source table, kind and field. Columns: `table`, `kind` (a value of `Change`), `field` (empty for
    a difference of the table itself), `expected`, `found`, `record` (topic[partition]@offset), `recorded_at`.
    """
    record = F.concat(names.TOPIC, F.lit("["), names.PARTITION, F.lit("]@"), names.OFFSET)
    described = F.struct(
        "change", "key", "columns", record.alias(RECORD), F.col(names.RECORDED_AT).alias("recorded_at")
    )
    latest = (
        schema_changes.where(F.col("table").isNotNull())
        .groupBy("table")
        .agg(F.max_by(described, F.struct(names.PARTITION, names.OFFSET)).alias("source"))
        .select("table", "source.*")
    )
    specs = F.explode(F.from_json(F.lit(json.dumps([_spec(table) for table in tables])), _SPEC)).alias("spec")
    known = schema_changes.sparkSession.range(1).select(specs).select(F.col("spec.table"), "spec")
    found = latest.join(F.broadcast(known), "table", "left")
    differences = F.explode(_differences(kind_of(tables[0].connector).widths)).alias("difference")
    each = found.select("table", RECORD, "recorded_at", differences)
    return each.select(
        "table", *(F.col(f"difference.{name}") for name in (KIND, FIELD, EXPECTED, FOUND)), RECORD, "recorded_at"
    )


def _differences(widths: Widths) -> Column:
    """All differences of one table, as an array of structs."""
    spec, is_dropped = F.col("spec"), F.col("change") == "DROP"
    columns = F.transform("columns", lambda column: _source_type(column, widths))
    of_spec = spec.getField("columns")
    hidden = spec.getField("excluded")
    described = F.transform("columns", lambda each: each.getField("name"))
    none = F.array().cast("array<struct<kind: string, field: string, expected: string, found: string>>")

    def of_column(each: Column) -> Column:
        name, source = each.getField("column"), each.getField("type")
        declared = F.element_at(of_spec, name)
        added = ~F.map_contains_key(of_spec, name) & ~F.array_contains(hidden, name)
        kind = (
            F.when(added, Change.ADDED.value)
            .when(~_holds(declared, source, widths), Change.TYPE.value)
            .when(_may_be_null(declared, source, spec, name), Change.NULLABLE.value)
        )
        expected = F.when(~added, _with_null(declared))
        return _difference(kind, name, expected, _with_null(source))

    def gone(name: Column) -> Column:
        return _difference(F.lit(Change.GONE.value), name, _with_null(F.element_at(of_spec, name)), F.lit(None))

    of_columns = F.filter(F.transform(columns, of_column), lambda each: each.getField(KIND).isNotNull())
    lacking = F.array_except(F.map_keys(of_spec), F.concat(described, spec.getField("absent"), spec.getField("key")))
    key = F.array_sort("key") != F.array_sort(spec.getField("key"))
    of_key = _difference(F.lit(Change.KEY.value), F.lit(""), _list(spec.getField("key")), _list(F.col("key")))
    of_new = _difference(F.lit(Change.NEW_TABLE.value), F.lit(""), F.lit(None), _list(described))
    of_dropped = _difference(F.lit(Change.DROPPED.value), F.lit(""), F.lit(None), F.lit(None))
    is_signal = (F.array_sort(described) == F.array(*map(F.lit, ("data", "id", "type")))) & F.lower("table").contains(
        "signal"
    )
    return (
        F.when(spec.isNull() & (is_dropped | is_signal), none)
        .when(spec.isNull(), F.array(of_new))
        .when(is_dropped, F.array(of_dropped))
        .otherwise(
            F.concat(
                of_columns,
                F.transform(lacking, gone),
                F.when((F.size("key") > 0) & key, F.array(of_key)).otherwise(none),
            )
        )
    )


def _difference(kind: Column, field: Column, expected: Column, found: Column) -> Column:
    parts = {KIND: kind, FIELD: field, EXPECTED: expected, FOUND: found}
    return F.struct(*(part.cast("string").alias(name) for name, part in parts.items()))


def _holds(spec: Column, source: Column, widths: Widths) -> Column:
    """Whether a column of the spec's type reads every value of the source's, as `Widths.holds` has it."""
    name, other = spec.getField("name"), source.getField("name")
    ranks = F.array(*map(F.lit, widths.whole_numbers)).cast("array<string>")
    fits = spec.getField("size") >= source.getField("size")
    same_scale = spec.getField("scale") == source.getField("scale")
    return (
        F.when(
            name.isin(*widths.whole_numbers) & other.isin(*widths.whole_numbers),
            F.array_position(ranks, name) >= F.array_position(ranks, other),
        )
        .when(name.isin(*widths.decimals) & other.isin(*widths.decimals), same_scale & fits)
        .when(name.isin(*widths.sized) & (name == other), fits)
        .otherwise((spec.getField("text") == source.getField("text")) | _also_held(name, other, widths))
    )


def _also_held(name: Column, other: Column, widths: Widths) -> Column:
    held = F.lit(False)
    for spec, sources in widths.also_held.items():
        held = held | ((name == spec) & other.isin(*sources))
    return held


def _may_be_null(declared: Column, source: Column, spec: Column, name: Column) -> Column:
    is_key = F.array_contains(spec.getField("key"), name)
    return source.getField("nullable") & ~declared.getField("nullable") & ~is_key


def _source_type(column: Column, widths: Widths) -> Column:
    """A column's name, and its type in the form of `_TYPE`."""
    name = F.regexp_replace(F.lower(column.getField("type")), widths.ignored or "$^", "")
    if widths.aliases:
        known = F.create_map(*(F.lit(each) for pair in widths.aliases.items() for each in pair))
        name = F.coalesce(F.element_at(known, name), name)
    length, scale = column.getField("length"), F.coalesce(column.getField("scale"), F.lit(0))
    digits = F.coalesce(length, F.lit(0)) if widths.digits_are_length else scale
    is_max = F.lit(False) if widths.longest is None else length > widths.longest
    size = F.when(is_max, _MAX).otherwise(length)
    arguments = (
        F.when(name.isin(*widths.sized), F.when(is_max, "max").otherwise(length.cast("string")))
        .when(name.isin(*widths.decimals), F.concat(length.cast("string"), F.lit(","), scale.cast("string")))
        .when(name.isin(*widths.fractions), digits.cast("string"))
        .when(name.isin(*widths.with_length), length.cast("string"))
    )
    text = F.concat(name, F.coalesce(F.concat(F.lit("("), arguments, F.lit(")")), F.lit("")))
    nullable = F.coalesce(column.getField("nullable"), F.lit(True))
    type_ = F.struct(
        name.alias("name"), size.alias("size"), scale.alias("scale"), text.alias("text"), nullable.alias("nullable")
    )
    return F.struct(column.getField("name").alias("column"), type_.alias("type"))


def _with_null(type_: Column) -> Column:
    return F.concat(type_.getField("text"), F.when(type_.getField("nullable"), "").otherwise(" not null"))


def _list(columns: Column) -> Column:
    return F.concat(F.lit("["), F.array_join(columns, ", "), F.lit("]"))


def _spec(table: TableSpec) -> dict[str, object]:
    by_target = {column.target: column.name for column in table.columns}
    return {
        "table": table.source,
        "key": [by_target[target] for target in table.key],
        "absent": [column.name for column in table.columns if column.may_be_absent],
        "excluded": list(table.excluded),
        "columns": {column.name: _type(column) for column in table.columns if not column.key_only},
    }


def _type(column: ColumnSpec) -> dict[str, object]:
    type_: SourceType = column.type
    size = _MAX if type_.is_max else type_.length if type_.length is not None else type_.precision
    return {
        "name": type_.name,
        "size": size,
        "scale": type_.scale or 0,
        "text": str(type_),
        "nullable": column.nullable,
    }
