"""Source drift as one record shows it: fields, types and a record key that are not as in the spec.

No value of a column leaves this module, only its form: an unknown field may hold personal data, and whoever may read
the record finds it by its topic, partition and offset.
"""

import json
from collections.abc import Iterator

from pyspark.sql import Column
from pyspark.sql import functions as F

from cdc import names
from cdc.debezium import columns
from cdc.debezium.images import images_of
from cdc.debezium.parts import key_fields
from cdc.debezium.rejects import Reason
from cdc.spec.difference_kinds import Change
from cdc.spec.model import TableSpec

ABSENT, OTHER_KEY = "_absent", "_other_key"
"""Columns of a decoding step: the results of `absent` and `other_key`."""
KIND, FIELD, EXPECTED, FOUND, RECORD = "kind", "field", "expected", "found", "record"
"""The fields of a difference: a value of `Change`, the field's name at the source, what the spec says, what the record
shows, and the record as topic[partition]@offset."""
_BY_FAULT = {Reason.WRONG_TYPE: Change.TYPE, Reason.UNEXPECTED_NULL: Change.NULLABLE}
_OF_ROUTER = "__dbz__"
"""Prefix of fields that Debezium's topic router adds to record keys."""
_TEXTS, _TEXT_BY_NAME = "array<string>", "map<string,string>"


def absent(row: Column, in_order: Column, op: Column, table: TableSpec) -> Column:
    """The columns of the spec that a complete row image lacks altogether; null if it has all of them.

    Not those of the key, which a record may have in its key only, nor those of which the spec says that records may
    lack them.

    >>> row = F.create_map(F.lit("id"), F.lit("1"))
    >>> evaluate(absent(row, F.lit(True), F.lit("c"), orders)), evaluate(absent(row, F.lit(True), F.lit("d"), orders))
    (['note'], None)
    """
    wanted = [
        column.name
        for column in table.columns
        if not (column.key_only or column.may_be_absent or column.target in table.key)
    ]
    lacking = F.array_except(_constant(wanted, _TEXTS), F.map_keys(row))
    # Nearly every row image begins with all columns of the spec; only others are searched.
    is_whole = in_order & (F.size(row) >= len(columns.row_fields(table)))
    return F.when(op.isin(*names.WITH_ROW) & ~is_whole & (F.size(lacking) > 0), lacking)


def other_key(key: Column, table: TableSpec) -> Column:
    """The fields of a record key, sorted, if they are not those of the spec's key; else null.

    >>> evaluate(other_key(F.lit('{"region":"EU","id":1}'), orders)), evaluate(other_key(F.lit('{"id":1}'), orders))
    (['id', 'region'], None)
    """
    expected = key_fields(table)
    if not expected or images_of(table.connector).key_leads:
        # A key that is not made of the row's fields has no names to compare.
        return F.lit(None).cast(_TEXTS)
    text = key.cast("string")
    # Without parsing: as many names as the spec's key has, and each of them. A text that looks otherwise is parsed.
    content = F.substring_index(text, '"payload":', -1)
    marks = F.length(content) - F.length(F.replace(content, F.lit('":'), F.lit("")))
    looks_right = marks == 2 * len(expected)
    for name in expected:
        looks_right &= F.contains(content, F.lit(f"{json.dumps(name, ensure_ascii=False)}:"))
    at_top = F.json_object_keys(text)
    is_wrapped = F.array_contains(at_top, "payload") & F.array_contains(at_top, "schema")
    found = F.when(is_wrapped, F.json_object_keys(F.get_json_object(text, "$.payload"))).otherwise(at_top)
    others = [column.name for column in table.columns if column.key_only and column.name not in expected]
    own = F.array_sort(F.filter(found, lambda name: ~name.startswith(_OF_ROUTER) & ~name.isin(*others)))
    differs = (F.size(own) > 0) & (own != _constant(sorted(expected), _TEXTS))
    return F.when(~looks_right & differs, own)


def differences(table: TableSpec, verdict: Column, fault: Column) -> Column:
    """What the record and the spec differ in, as an array of structs (`KIND` ... `RECORD`); null for most records.

    Args:
        table: the spec.
        verdict: on the record; one that is ignored need not be of this table.
        fault: the record's first faulty value.
    """
    unknown, lacking, key = F.col(names.UNKNOWN), F.col(ABSENT), F.col(OTHER_KEY)
    outcome, reason = verdict.getField(names.OUTCOME), verdict.getField(names.REASON)
    by_fault = F.coalesce(*(F.when(reason == of_reject.name, kind.value) for of_reject, kind in _BY_FAULT.items()))
    # A NOT NULL column that the record lacks altogether is not null but absent.
    has_fault = by_fault.isNotNull() & ~F.coalesce(F.array_contains(lacking, fault.getField("column")), F.lit(False))
    differs = unknown.isNotNull() | lacking.isNotNull() | key.isNotNull() | has_fault
    return F.when((outcome != names.IGNORED) & differs, F.concat(*_each(table, by_fault, has_fault, fault)))


def form(text: Column) -> Column:
    """The form of a value, without the value.

    >>> [evaluate(form(F.lit(text))) for text in ("7", "-1.5e3", "true", "Ada", '{"a":1}')]
    ['whole number', 'number', 'boolean', 'text of length 3', 'object or list']
    >>> evaluate(form(F.lit(None).cast("string")))
    'null'
    """
    return (
        F.when(text.isNull(), "null")
        .when(text.rlike(r"^-?\d+$"), "whole number")
        .when(text.rlike(r"^-?\d+(\.\d+)?([eE][-+]?\d+)?$"), "number")
        .when(text.isin("true", "false"), "boolean")
        .when(text.rlike(r"^[\[{]"), "object or list")
        .otherwise(F.concat(F.lit("text of length "), F.length(text)))
    )


def _each(table: TableSpec, by_fault: Column, has_fault: Column, fault: Column) -> Iterator[Column]:
    """The differences of each kind; an empty array for a kind that the record does not show."""
    types = {
        column.name: f"{column.type}" if column.nullable else f"{column.type} not null" for column in table.columns
    }
    type_of = _constant(types, _TEXT_BY_NAME)
    none = F.array().cast(_differences())
    unknown = F.map_entries(names.UNKNOWN)
    yield F.coalesce(
        F.transform(
            unknown, lambda each: _difference(Change.ADDED, each.getField("key"), found=form(each.getField("value")))
        ),
        none,
    )
    yield F.coalesce(
        F.transform(ABSENT, lambda name: _difference(Change.GONE, name, expected=F.element_at(type_of, name))), none
    )
    column, masked = fault.getField("column"), [column.name for column in table.columns if column.mask]
    # Of a value that the spec hides not even the length is shown.
    shown = F.when(~column.isin(*masked), form(fault.getField("text"))) if masked else form(fault.getField("text"))
    yield F.when(
        has_fault, F.array(_difference(by_fault, column, expected=F.element_at(type_of, column), found=shown))
    ).otherwise(none)
    key = F.lit(f"[{', '.join(key_fields(table))}]")
    found_key = F.concat(F.lit("["), F.array_join(OTHER_KEY, ", "), F.lit("]"))
    of_key = _difference(Change.KEY, F.lit(None).cast("string"), expected=key, found=found_key)
    yield F.when(F.col(OTHER_KEY).isNotNull(), F.array(of_key)).otherwise(none)


def _difference(
    kind: Change | Column, field: Column, *, expected: Column | None = None, found: Column | None = None
) -> Column:
    nothing = F.lit(None).cast("string")
    record = F.concat(names.TOPIC, F.lit("["), names.PARTITION, F.lit("]@"), names.OFFSET)
    return F.struct(
        (F.lit(kind.value) if isinstance(kind, Change) else kind).alias(KIND),
        field.alias(FIELD),
        (nothing if expected is None else expected).alias(EXPECTED),
        (nothing if found is None else found).alias(FOUND),
        record.alias(RECORD),
    )


def _differences() -> str:
    return f"array<struct<{', '.join(f'{name}: string' for name in (KIND, FIELD, EXPECTED, FOUND, RECORD))}>>"


def _constant(value: object, type_: str) -> Column:
    """A list or mapping as one literal: one expression however many entries it has."""
    return F.from_json(F.lit(json.dumps(value, ensure_ascii=False)), type_)
