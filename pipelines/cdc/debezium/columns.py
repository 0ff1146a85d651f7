"""The table's own columns: from the texts of a row image and a record key to typed target columns."""

from collections.abc import Iterator

from pyspark.sql import Column
from pyspark.sql import functions as F

from cdc import names
from cdc.debezium import json_texts
from cdc.debezium.values import conversion_of
from cdc.debezium.values.binary import encoded
from cdc.debezium.values.temporal import offset_of_text
from cdc.spec.model import ColumnSpec, TableSpec

TEXTS = "_texts"
"""Struct of the row image's texts, named as at the source."""
KEY_TEXTS = "_key_texts"
"""Struct of the key columns' texts, named as at the source."""
MEASURES = "_measures"
"""Struct of what the first of two steps gave, named as at the source."""


def row_fields(table: TableSpec) -> tuple[str, ...]:
    """The fields of a row image that the table takes, in the spec's order."""
    return tuple(column.name for column in table.columns if not column.key_only)


def required_fields(table: TableSpec) -> tuple[str, ...]:
    """The fields that every row image has to have."""
    return tuple(column.name for column in table.columns if column.on_missing == "reject" and not column.key_only)


def key_columns(table: TableSpec) -> tuple[ColumnSpec, ...]:
    """The columns whose values the record key can have: those of the key, in its order, and key-only ones."""
    by_target = {column.target: column for column in table.columns}
    key = tuple(by_target[target] for target in table.key)
    return (*key, *(column for column in table.columns if column.key_only and column not in key))


def key_texts(table: TableSpec, texts: Column, before: Column, record_key: Column) -> Column:
    """The key's texts: from the row, a delete's from its row before, else from the record key.

    The row comes first because record keys are what connectors are configured to: other columns
    (``message.key.columns``), no JSON, none. Where both have a value they agree.
    """
    wanted = key_columns(table)
    from_key = json_texts.key_texts(record_key, tuple(column.name for column in wanted))

    def text(column: ColumnSpec) -> Column:
        images = () if column.key_only else (texts.getField(column.name), before.getField(column.name))
        return F.coalesce(*images, from_key.getField(column.name)).alias(column.name)

    return F.struct(*map(text, wanted))


def text_of(column: ColumnSpec, table: TableSpec) -> Column:
    """A column's text as it came, the connector's placeholder included."""
    of_key = column.key_only or column.target in table.key
    return F.col(KEY_TEXTS if of_key else TEXTS).getField(column.name)


def is_unavailable(column: ColumnSpec, table: TableSpec) -> Column | None:
    """True where the text is the connector's placeholder; None where the column's type never has one."""
    if not column.type.is_large:
        return None
    placeholder = table.connector.placeholder
    if conversion_of(column, table.connector).target == "binary":
        placeholder = encoded(placeholder, table.connector.binary_handling_mode)
    return text_of(column, table) == placeholder


def known_text(column: ColumnSpec, table: TableSpec) -> Column:
    """A column's text, null where the connector did not know the value."""
    text, unavailable = text_of(column, table), is_unavailable(column, table)
    return text if unavailable is None else F.when(~unavailable, text)


def columns_to_update(table: TableSpec, op: Column) -> Column:
    """The target columns, by name, whose values the change knows."""

    def known(name: str, column: ColumnSpec | None) -> Column:
        left_out = () if column is None else tuple(_unchanged(column, table, op))
        return F.when(~F.greatest(*left_out, F.lit(False)), name) if left_out else F.lit(name)

    merged = {column.target: column for column in table.columns if column.merges}
    every = (known(name, merged.get(name)) for name in names.target_columns(table))
    return F.array_compact(F.array(*every))


def _unchanged(column: ColumnSpec, table: TableSpec, op: Column) -> Iterator[Column]:
    """The conditions under which the change says nothing about a column."""
    unavailable = is_unavailable(column, table)
    if column.unavailable == "merge" and unavailable is not None:
        yield unavailable
    if column.null_is_unchanged:
        yield is_unchanged_null(column, table, op)


def is_unchanged_null(column: ColumnSpec, table: TableSpec, op: Column) -> Column:
    """True for a null that stands for the value of before: an update's, of a column whose spec says so."""
    return (op == "u") & text_of(column, table).isNull()


def measures(table: TableSpec) -> Iterator[Column]:
    """The first step of the conversions that have two, each under its column's name at the source."""
    for column in table.columns:
        if measure := conversion_of(column, table.connector).measure:
            yield measure(known_text(column, table)).alias(column.name)


def typed(table: TableSpec) -> Iterator[Column]:
    """The table's columns under their target names; a text that does not fit its type is null."""
    for column in table.columns:
        conversion, text = conversion_of(column, table.connector), known_text(column, table)
        measured = F.col(MEASURES).getField(column.name)
        yield conversion.convert(measured if conversion.measure else text).alias(column.target)
        if column.offset_target:
            yield offset_of_text(text).alias(column.offset_target)


def masked(table: TableSpec) -> Iterator[Column]:
    """The table's columns as they leave decoding, masks applied."""
    masks = {column.target: column.mask for column in table.columns}
    for name in names.target_columns(table):
        mask = masks.get(name)
        yield F.expr(mask).alias(name) if mask else F.col(f"`{name}`")
