"""What becomes of a record: a change, a reject with its reason and message, or ignored by kind."""

from collections.abc import Iterator

from pyspark.sql import Column
from pyspark.sql import functions as F

from cdc import names
from cdc.debezium import columns, json_texts
from cdc.debezium.positions import position_of
from cdc.debezium.rejects import Reason, quoted
from cdc.debezium.values import conversion_of
from cdc.spec.model import ColumnSpec, TableSpec

CHANGE, REJECT, IGNORED = "change", "reject", "ignored"
_OPS = ("c", "u", "d", "r", "t")
_WITH_ROW = ("c", "u", "r")
Case = tuple[Column, Column]
"""A condition, and what is wrong where it holds."""


def verdict(
    table: TableSpec,
    *,
    value: Column,
    damaged: Column,
    kind: Column,
    op: Column,
    source: Column,
    total_order: Column,
    has_row: Column,
    fault: Column,
) -> Column:
    """A struct of outcome, reason and message.

    The first that applies decides, so the order goes from the record's form to its single values: what is
    wrong further out makes everything further in look wrong too.

    Args:
        table: whose record it is.
        value: the record's.
        damaged: whether it could not be read.
        kind: what the record is if it is no change of a row.
        op: the change's.
        source: where it comes from.
        total_order: its place in its transaction.
        has_row: whether there is a row image.
        fault: what `fault_of_columns` has found.
    """
    needs_row = op.isin(*_WITH_ROW)
    return F.coalesce(
        F.when(value.isNull(), _ignored(F.lit("tombstone"))),
        F.when(damaged, _damage(value)),
        F.when(kind.isNotNull(), _ignored(kind)),
        F.when(op.isNull(), _reject(Reason.NOT_AN_ENVELOPE, F.lit("the value has no `op`"))),
        *_of_another_table(table, source),
        F.when(~op.isin(*_OPS), _reject(Reason.UNKNOWN_OP, F.concat(F.lit("op is "), quoted(op)))),
        F.when(needs_row & ~has_row, _reject(Reason.MISSING_ROW, F.lit("`after` is null"))),
        *_position_faults(table, source, total_order),
        F.when(fault.isNotNull(), _of_column(fault)),
        _change(),
    )


def fault_of_columns(table: TableSpec, *, op: Column, missing_fields: Column) -> Column:
    """The first thing that is wrong with a single value, for `verdict`; null where there is none."""
    needs_row = op.isin(*_WITH_ROW)
    faults = (
        *((is_missing & (op != "t"), fault) for is_missing, fault in _missing_keys(table)),
        *_wrong_types(table),
        *((is_absent & needs_row, fault) for is_absent, fault in _absent_values(table, missing_fields, op)),
    )
    # Not a chain of `or`, nor a coalesce: generated as one method, that would be too long for the JVM to compile.
    is_any = F.greatest(*(is_one for is_one, _ in faults), F.lit(False), F.lit(False))
    first = F.get(F.array_compact(F.array(*(F.when(is_one, fault) for is_one, fault in faults))), F.lit(0))
    # Nearly every record is right; an array of faults is made for those that are not.
    return F.when(is_any, first)


def _change() -> Column:
    return _outcome(CHANGE, F.lit(None).cast("string"), F.lit(None).cast("string"))


def _ignored(kind: Column) -> Column:
    return _outcome(IGNORED, kind, F.lit(None).cast("string"))


def _reject(reason: Reason, message: Column) -> Column:
    return _outcome(REJECT, F.lit(reason.name), message)


def _outcome(outcome: str, reason: Column, message: Column) -> Column:
    return F.struct(F.lit(outcome).alias(names.OUTCOME), reason.alias(names.REASON), message.alias(names.MESSAGE))


def _damage(value: Column) -> Column:
    text = value.cast("string")
    shown = F.concat(F.lit("the value is "), quoted(F.make_valid_utf8(text)))
    # Only damaged records come here, so that theirs alone is read twice.
    return (
        F.when(~F.is_valid_utf8(text), _reject(Reason.NOT_UTF8, shown))
        .when(~json_texts.is_json(value), _reject(Reason.BROKEN_JSON, shown))
        .otherwise(_reject(Reason.NOT_AN_ENVELOPE, shown))
    )


def _of_another_table(table: TableSpec, source: Column) -> Iterator[Column]:
    if table.shared_topic:
        own_name = F.concat_ws(".", *(source.getField(part) for part in ("db", "schema", "table")))
        yield F.when(own_name != table.source, _ignored(F.lit("other_table")))


def _position_faults(table: TableSpec, source: Column, total_order: Column) -> Iterator[Column]:
    fault = position_of(table.connector).fault(source, total_order, table.connector)
    yield F.when(fault.isNotNull(), _reject(Reason.MISSING_POSITION, fault))


def _missing_keys(table: TableSpec) -> Iterator[Case]:
    for column in columns.key_columns(table):
        is_missing = columns.text_of(column, table).isNull()
        yield is_missing, _fault(Reason.MISSING_KEY, column, "null in the row and in the record key")


def _wrong_types(table: TableSpec) -> Iterator[Case]:
    """A text that its conversion made null: the only way in which one says that it cannot convert."""
    for column in table.columns:
        if conversion_of(column, table.connector).is_total:
            continue
        text = columns.known_text(column, table)
        is_wrong = text.isNotNull() & F.col(f"`{column.target}`").isNull()
        yield is_wrong, _fault(Reason.WRONG_TYPE, column, f" is no {column.type}", text)


def _absent_values(table: TableSpec, missing_fields: Column, op: Column) -> Iterator[Case]:
    for column in table.columns:
        text, unavailable = columns.text_of(column, table), columns.is_unavailable(column, table)
        if column.on_missing == "reject":
            is_missing = F.array_contains(missing_fields, column.name)
            yield is_missing, _fault(Reason.MISSING_FIELD, column, "the record has no such field")
        if not column.nullable and column.target not in table.key:
            what = f"null, and {column.type} NOT NULL at the source"
            is_null = text.isNull()
            if column.null_is_unchanged:
                is_null &= ~columns.is_unchanged_null(column, table, op)
            yield is_null, _fault(Reason.UNEXPECTED_NULL, column, what)
        if column.unavailable == "reject" and unavailable is not None:
            what = "the connector did not know the unchanged value"
            yield unavailable, _fault(Reason.UNAVAILABLE_VALUE, column, what)


def _fault(reason: Reason, column: ColumnSpec, what: str, text: Column | None = None) -> Column:
    """What is wrong with one column's value: only the first such becomes a message, so none is worded here."""
    shown = F.lit(None).cast("string") if text is None else text
    return F.struct(
        F.lit(reason.name).alias("reason"),
        F.lit(f"column {column.name}: ").alias("column"),
        shown.alias("text"),
        F.lit(what).alias("what"),
    )


def _of_column(fault: Column) -> Column:
    text = fault.getField("text")
    shown = F.when(text.isNotNull(), quoted(text)).otherwise("")
    message = F.concat(fault.getField("column"), shown, fault.getField("what"))
    return _outcome(REJECT, fault.getField("reason"), message)
