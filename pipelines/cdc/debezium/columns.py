"""The table's own columns: from the texts of a row image and a record key to typed target columns."""

from collections.abc import Iterator

from pyspark.sql import Column
from pyspark.sql import functions as F

from cdc import names
from cdc.debezium.images import images_of
from cdc.debezium.parts import readable
from cdc.debezium.values import conversion_of
from cdc.debezium.values.binary import encoded
from cdc.debezium.values.temporal import offset_of_text
from cdc.spec.model import ColumnSpec, TableSpec

TEXTS = "_texts"
"""Struct of the row image's texts, named as at the source."""
KEY_TEXTS = "_key_texts"
"""Struct of the key columns' texts, named as at the source."""
MEASURES = "_measures"
"""Struct of the results of the conversions' first step, named as at the source."""


def row_fields(table: TableSpec) -> tuple[str, ...]:
    """The fields of a row image that are in the spec, in its order."""
    return tuple(column.name for column in table.columns if _is_in_rows(column))


def required_fields(table: TableSpec) -> tuple[str, ...]:
    """The fields that every row image must have; a key that the record key has need not be in the row."""
    in_key = table.key if images_of(table.connector).key_leads else ()
    wanted = (column for column in table.columns if _is_in_rows(column) and column.target not in in_key)
    return tuple(column.name for column in wanted if column.on_missing == "reject")


def key_columns(table: TableSpec) -> tuple[ColumnSpec, ...]:
    """The columns that the record key may have: those of the key, in its order, then key-only ones."""
    by_target = {column.target: column for column in table.columns}
    key = tuple(by_target[target] for target in table.key if by_target[target].constant is None)
    return (*key, *(column for column in table.columns if column.key_only and column not in key))


def key_texts(table: TableSpec, texts: Column, before: Column, record_key: Column) -> Column:
    """The key's texts: from the row (of a delete, the row before), else from the record key.

    The row comes first because a connector's configuration decides what record keys are: other columns
    (``message.key.columns``), not JSON, or null. Where both have a value they agree.
    """
    columns = key_columns(table)
    images, key = images_of(table.connector), readable(record_key, table)
    from_key = images.key_texts(key, tuple(column.name for column in columns))

    def text(column: ColumnSpec) -> Column:
        of_key = from_key.getField(column.name)
        of_row = () if column.key_only else (texts.getField(column.name), before.getField(column.name))
        return F.coalesce(*((of_key, *of_row) if images.key_leads else (*of_row, of_key))).alias(column.name)

    return F.struct(*map(text, columns))


def _is_in_rows(column: ColumnSpec) -> bool:
    """True if a row image can have the column."""
    return not column.key_only and column.constant is None


def text_of(column: ColumnSpec, table: TableSpec) -> Column:
    """A column's text as written, the connector's placeholder included."""
    if column.constant is not None:
        return F.lit(column.constant)
    is_in_key = column.key_only or column.target in table.key
    return F.col(KEY_TEXTS if is_in_key else TEXTS).getField(column.name)


def is_unavailable(column: ColumnSpec, table: TableSpec) -> Column | None:
    """True if the text is the connector's placeholder; None for a column whose type never has one."""
    if not column.type.is_large:
        return None
    placeholder, conversion = table.connector.placeholder, conversion_of(column, table.connector)
    if conversion.placeholders is not None:
        return text_of(column, table).isin(*conversion.placeholders(placeholder))
    if conversion.target == "binary":
        placeholder = encoded(placeholder, table.connector.binary_handling_mode)
    return text_of(column, table) == placeholder


def known_text(column: ColumnSpec, table: TableSpec) -> Column:
    """A column's text, null in place of the connector's placeholder and of texts that stand for null."""
    text, unavailable = text_of(column, table), is_unavailable(column, table)
    if nulls := conversion_of(column, table.connector).nulls:
        text = F.when(~text.isin(*nulls), text)
    return text if unavailable is None else F.when(~unavailable, text)


def columns_to_update(table: TableSpec, op: Column) -> Column:
    """The names of the columns of ``silver.<table>`` whose values the change carries.

    A delete that keeps the row sets the time of the delete only: a record of a delete may have nothing but the key.
    """
    carried = _carried(table, op)
    if not table.keeps_deleted:
        return carried
    of_delete = F.array(*map(F.lit, (*table.key, names.DELETED_AT)))
    return F.when(op == names.DELETE, of_delete).otherwise(carried)


def _carried(table: TableSpec, op: Column) -> Column:

    def name_if_carried(name: str, column: ColumnSpec | None) -> Column:
        unchanged = () if column is None else tuple(_unchanged(column, table, op))
        return F.when(~F.greatest(*unchanged, F.lit(False)), name) if unchanged else F.lit(name)

    merged = {column.target: column for column in table.columns if column.merges}
    carried = (name_if_carried(name, merged.get(name)) for name in names.version_columns(table))
    return F.array_compact(F.array(*carried))


def _unchanged(column: ColumnSpec, table: TableSpec, op: Column) -> Iterator[Column]:
    """The conditions under which the change does not carry a column's value."""
    if (left_out := is_left_out(column, table)) is not None:
        yield left_out
    unavailable = is_unavailable(column, table)
    if column.unavailable == "merge" and unavailable is not None:
        yield unavailable
    if column.null_is_unchanged:
        yield is_unchanged_null(column, table, op)


def is_left_out(column: ColumnSpec, table: TableSpec) -> Column | None:
    """True if the change is a partial update of other columns; None for a column that every change carries."""
    return images_of(table.connector).is_left_out(column, table) if column.may_be_left_out else None


def is_unchanged_null(column: ColumnSpec, table: TableSpec, op: Column) -> Column:
    """True for a null that means "unchanged": one in an update, in a column with `large_nulls: unchanged`."""
    return (op == names.UPDATE) & text_of(column, table).isNull()


def measures(table: TableSpec) -> Iterator[Column]:
    """The first step of the conversions that have two, under the columns' names at the source."""
    for column in table.columns:
        if measure := conversion_of(column, table.connector).measure:
            yield measure(known_text(column, table)).alias(column.name)


def typed(table: TableSpec) -> Iterator[Column]:
    """The table's columns under their target names; null for a text that cannot be converted."""
    for column in table.columns:
        conversion, text = conversion_of(column, table.connector), known_text(column, table)
        measured = F.col(MEASURES).getField(column.name)
        yield conversion.convert(measured if conversion.measure else text).alias(column.target)
        if column.offset_target:
            yield offset_of_text(text).alias(column.offset_target)


def masked(table: TableSpec) -> Iterator[Column]:
    """The columns from the source with the spec's masks applied."""
    masks = {column.target: column.mask for column in table.columns}
    for name in names.source_columns(table):
        mask = masks.get(name)
        yield F.expr(mask).alias(name) if mask else F.col(f"`{name}`")
