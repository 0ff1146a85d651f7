"""The verdict on a record: a change, a reject with its reason and message, or ignored by kind."""

from collections.abc import Iterator
from dataclasses import dataclass

from pyspark.sql import Column
from pyspark.sql import functions as F

from cdc import names
from cdc.debezium import columns, hints, json_texts
from cdc.debezium.images import images_of
from cdc.debezium.parts import CONNECTOR_FIELD
from cdc.debezium.positions import position_of
from cdc.debezium.rejects import Reason, quoted
from cdc.debezium.values import conversion_of
from cdc.spec.kinds import kind_of
from cdc.spec.model import ColumnSpec, TableSpec
from cdc.spec.schema import every_kind

_OPS = (*names.WITH_ROW, names.DELETE, names.TRUNCATE)
Case = tuple[Column, Column]
"""A condition, and the fault of a record for which it is true."""


@dataclass(frozen=True)
class Evidence:
    """The columns of a parsed record that its verdict depends on."""

    value: Column
    """The record's value."""
    damaged: Column
    """True if the value could not be parsed."""
    kind: Column
    """The kind of a record that is not a change of a row; else null."""
    op: Column
    source: Column
    total_order: Column
    """Position in the transaction, as the connector counts."""
    has_row: Column
    """True if there is a row image."""
    fault: Column
    """The result of `fault_of_columns`."""


def verdict(table: TableSpec, record: Evidence) -> Column:
    """A struct of outcome, reason and message."""
    needs_row = record.op.isin(*names.WITH_ROW)
    # The first case that applies decides. They go from the outside in, since a fault further out makes everything
    # inside it look wrong too; records of other kinds and tables are ignored before the checks that they would fail.
    return F.coalesce(
        F.when(record.value.isNull(), _ignored(F.lit("tombstone"))),
        # A field of another form than the kind's is no damage in a record of another kind.
        F.when(record.damaged, F.coalesce(_other_kind(table, record.source), _damage(record.value))),
        F.when(record.kind.isNotNull(), _ignored(record.kind)),
        F.when(record.op.isNull(), _reject(Reason.NOT_AN_ENVELOPE, _no_op(table))),
        *_other_table(table, record.source),
        _other_kind(table, record.source),
        F.when(~record.op.isin(*_OPS), _reject(Reason.UNKNOWN_OP, F.concat(F.lit("op is "), quoted(record.op)))),
        *_truncate(table, record.op),
        F.when(needs_row & ~record.has_row, _reject(Reason.MISSING_ROW, F.lit(images_of(table.connector).missing_row))),
        *_position_faults(table, record),
        F.when(record.fault.isNotNull(), _column_fault(record.fault, table)),
        _change(),
    )


def fault_of_columns(table: TableSpec, *, op: Column, missing_fields: Column) -> Column:
    """The first fault of a single value, for `verdict`; null if there is none."""
    needs_row = op.isin(*names.WITH_ROW)
    # Of several faults the first is reported: a missing key, which leaves the row unknown, before faults of its values.
    faults = (
        *((is_missing & (op != names.TRUNCATE), fault) for is_missing, fault in _missing_keys(table)),
        *_untold_values(table),
        *_wrong_types(table),
        *((is_absent & needs_row, fault) for is_absent, fault in _absent_values(table, missing_fields, op)),
    )
    # Neither a chain of `or` nor a coalesce: generated as one method, that would be too long for the JVM to compile.
    is_any = F.greatest(*(is_fault for is_fault, _ in faults), F.lit(False), F.lit(False))
    first = F.get(F.array_compact(F.array(*(F.when(is_fault, fault) for is_fault, fault in faults))), F.lit(0))
    # Nearly every record is right; the array of faults is made only for those that are not.
    return F.when(is_any, first)


def _change() -> Column:
    return _outcome(names.CHANGE, F.lit(None).cast("string"), F.lit(None).cast("string"))


def _ignored(kind: Column) -> Column:
    return _outcome(names.IGNORED, kind, F.lit(None).cast("string"))


def _reject(reason: Reason, message: Column) -> Column:
    return _outcome(names.REJECT, F.lit(reason.name), message)


def _outcome(outcome: str, reason: Column, message: Column) -> Column:
    return F.struct(F.lit(outcome).alias(names.OUTCOME), reason.alias(names.REASON), message.alias(names.MESSAGE))


def _damage(value: Column) -> Column:
    text = value.cast("string")
    shown = F.concat(F.lit("the value is "), quoted(F.make_valid_utf8(text)))
    # Only a damaged value is parsed a second time, to find the reason.
    return (
        F.when(~F.is_valid_utf8(text), _reject(Reason.NOT_UTF8, shown))
        .when(~json_texts.is_json(value), _reject(Reason.BROKEN_JSON, shown))
        .otherwise(_reject(Reason.NOT_AN_ENVELOPE, shown))
    )


def _no_op(table: TableSpec) -> Column:
    return F.lit(f"the value has no `op`{hints.of_missing_op(table.connector)}")


def _other_table(table: TableSpec, source: Column) -> Iterator[Column]:
    if table.shared_topic:
        changed_table = F.concat_ws(".", *map(source.getField, kind_of(table.connector).table_fields))
        yield F.when(changed_table != table.source, _ignored(F.lit("other_table")))


def _other_kind(table: TableSpec, source: Column) -> Column:
    """A record of another kind of connector; forks write names of their own, which are as good as none."""
    stated = F.lower(source.getField(CONNECTOR_FIELD))
    kind = table.connector.kind
    others = [name for name in every_kind() if name != kind]
    message = F.concat(
        F.lit("the record is of a connector of kind "),
        quoted(stated),
        F.lit(f", and the spec of `{table.connector.name}` has `kind: {kind}`; correct one of the two, or the topic"),
    )
    return F.when(stated.isin(*others), _reject(Reason.WRONG_CONNECTOR, message))


def _truncate(table: TableSpec, op: Column) -> Iterator[Column]:
    """APPLY CHANGES removes all rows of a target only if it has neither history nor rows of other tables."""
    if table.key and not table.applies_truncates:
        message = F.lit(f"{table.source} was truncated, and its rows stay: only a table of its own without history can")
        yield F.when(op == names.TRUNCATE, _reject(Reason.TRUNCATED, F.concat(message, F.lit(" apply it"))))


def _position_faults(table: TableSpec, record: Evidence) -> Iterator[Column]:
    fault = position_of(table.connector).fault(record.source, record.total_order)
    message = hints.of_position(fault, table.connector)
    yield F.when(fault.isNotNull(), _reject(Reason.MISSING_POSITION, message))


def _missing_keys(table: TableSpec) -> Iterator[Case]:
    for column in columns.key_columns(table):
        is_missing = columns.text_of(column, table).isNull()
        yield is_missing, _fault(Reason.MISSING_KEY, column, "null in both the row and the record key")


def _untold_values(table: TableSpec) -> Iterator[Case]:
    """Values that are in the record as a note of why they are not, before those that are of the wrong type."""
    images = images_of(table.connector)
    for column in table.columns:
        text = columns.text_of(column, table)
        for is_untold, reason, what in images.untold(column, text, table):
            yield F.coalesce(is_untold, F.lit(False)), _fault(reason, column, what, text)


def _wrong_types(table: TableSpec) -> Iterator[Case]:
    """A text that became null: a conversion's only sign that it cannot convert."""
    for column in table.columns:
        if conversion_of(column, table.connector).is_total:
            continue
        text = columns.known_text(column, table)
        is_wrong = text.isNotNull() & F.col(f"`{column.target}`").isNull()
        yield is_wrong, _fault(Reason.WRONG_TYPE, column, f" is not of type {column.type}", text)


def _absent_values(table: TableSpec, missing_fields: Column, op: Column) -> Iterator[Case]:
    for column in table.columns:
        text, unavailable = columns.text_of(column, table), columns.is_unavailable(column, table)
        left_out = columns.is_left_out(column, table)
        if column.on_missing == "reject":
            is_missing = F.array_contains(missing_fields, column.name)
            if left_out is not None:
                is_missing &= ~left_out
            yield is_missing, _fault(Reason.MISSING_FIELD, column, "the record has no such field")
        if not column.nullable and column.target not in table.key:
            what = f"null, but {column.type} NOT NULL at the source"
            is_null = text.isNull()
            if column.null_is_unchanged:
                is_null &= ~columns.is_unchanged_null(column, table, op)
            if left_out is not None:
                is_null &= ~left_out
            yield is_null, _fault(Reason.UNEXPECTED_NULL, column, what)
        if column.unavailable == "reject" and unavailable is not None:
            what = "the connector's placeholder instead of the unchanged value"
            yield unavailable, _fault(Reason.UNAVAILABLE_VALUE, column, what)


def _fault(reason: Reason, column: ColumnSpec, what: str, text: Column | None = None) -> Column:
    """The fault of one column's value, in parts: only the first fault of a record becomes a message."""
    shown = F.lit(None).cast("string") if text is None else text
    return F.struct(
        F.lit(reason.name).alias("reason"),
        F.lit(column.name).alias("column"),
        shown.alias("text"),
        F.lit(what).alias("what"),
    )


def _column_fault(fault: Column, table: TableSpec) -> Column:
    text, what = fault.getField("text"), fault.getField("what")
    shown = F.when(text.isNotNull(), quoted(text)).otherwise("")
    column = F.concat(F.lit("column "), fault.getField("column"), F.lit(": "))
    message = F.concat(column, shown, what, hints.of_type(what, text, table.connector))
    return _outcome(names.REJECT, fault.getField("reason"), message)
