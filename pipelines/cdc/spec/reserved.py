"""Names that a spec must not use: reserved, not allowed by Delta, or used twice."""

import re
from collections.abc import Collection

from cdc.errors import Condition
from cdc.names import GOLD_DELETED_AT, HISTORY_COLUMNS
from cdc.spec.document import ValuePath
from cdc.spec.model import ColumnSpec
from cdc.spec.reading import Fault, Reading
from cdc.spec.schema import field_schema

OWNED_PREFIX = "_"
"""Prefix of the columns of the pipeline (``_op``), of Databricks (``__START_AT``) and of the engine."""

_NOT_IN_DELTA = re.compile(r"[ ,;{}()\n\t=.`]")


def check_dataset_name(reading: Reading, name: str | None) -> None:
    """Report a dataset name, derived from the source table, that is not valid for a lakehouse table."""
    if name is not None and not re.fullmatch(field_schema("table", ("name",))["pattern"], name):
        reading.report(
            Fault(
                Condition.BAD_DATASET_NAME,
                ("table",),
                f"`{name}`, derived from the source table, is not a valid dataset name",
                "add a `name:` of lower-case letters, digits and underscores.",
                value=name,
            )
        )


def added_by_gold(*, with_history: bool, keeps_deleted: bool) -> tuple[str, ...]:
    """The columns that gold's tables have beside the table's own."""
    return (*(HISTORY_COLUMNS if with_history else ()), *((GOLD_DELETED_AT,) if keeps_deleted else ()))


def check_targets(reading: Reading, columns: Collection[ColumnSpec], added: Collection[str]) -> None:
    """Report target names that are reserved, not allowed by Delta, or duplicates (Spark ignores letter case).

    Args:
        reading: the table's file.
        columns: without the excluded ones.
        added: the columns that gold adds.
    """
    first_with: dict[str, str] = {}
    for column in columns:
        _check_target(reading, column, column.target, added)
        _check_twice(reading, column, column.target, f"column `{column.name}`", first_with)
        if column.offset_target:
            _check_target(reading, column, column.offset_target, added)
            _check_twice(reading, column, column.offset_target, f"the offset of `{column.name}`", first_with)


def check_computed(reading: Reading, columns: Collection[ColumnSpec], added: Collection[str]) -> None:
    """Report names of computed columns that are reserved, not allowed by Delta, or those of other columns."""
    taken = {each.name.casefold(): f"column `{each.name}`" for each in columns}
    taken |= {each.target.casefold(): f"column `{each.name}`" for each in columns}
    taken |= {each.offset_target.casefold(): f"the offset of `{each.name}`" for each in columns if each.offset_target}
    for name in reading.data.get("computed", {}):
        what, path = f"computed column `{name}`", ("computed", name)
        first = taken.setdefault(name.casefold(), what)
        if reserved := _unusable(name, added):
            condition, why = reserved
            detail, better = f"{what} cannot be called so: {why}", allowed_target(name, added)
        elif first != what:
            condition, better = Condition.DUPLICATE_COLUMN, f"{name}_2"
            detail = f"{first} and {what} have the same name (names are case-insensitive)"
        else:
            continue
        fix = f"choose another name, such as `{better}`."
        reading.report(Fault(condition, path, detail, fix, value=name, of_key=True))


def allowed_target(name: str, added: Collection[str] = HISTORY_COLUMNS) -> str:
    """A valid target name, as close to the source's name as possible.

    >>> [allowed_target(name) for name in ("Order No", "_op", "Version", "total")]
    ['Order_No', 'op', 'source_Version', 'total']
    """
    plain = _NOT_IN_DELTA.sub("_", name).lstrip(OWNED_PREFIX)
    return f"source_{plain}" if plain.lower() in added or not plain else plain


def _check_target(reading: Reading, column: ColumnSpec, target: str, added: Collection[str]) -> None:
    if unusable := _unusable(target, added):
        condition, why = unusable
        detail = f"column `{column.name}` cannot be called `{target}`: {why}"
        path, fix = _place(reading, column, target), _fix(column, target, allowed_target(target, added))
        reading.report(Fault(condition, path, detail, fix, value=target, of_key=True))


def _unusable(target: str, added: Collection[str]) -> tuple[Condition, str] | None:
    """Why no target column can have this name; None if one can."""
    if target.startswith(OWNED_PREFIX):
        return Condition.RESERVED_COLUMN, f"names that start with `{OWNED_PREFIX}` are reserved for the pipeline"
    if target.lower() in added:
        table = "history table adds" if target.lower() in HISTORY_COLUMNS else "tables add"
        return Condition.RESERVED_COLUMN, f"gold's {table} a column of that name"
    if bad := _NOT_IN_DELTA.search(target):
        return Condition.BAD_COLUMN_NAME, f"Delta does not allow `{bad[0]}` in names"
    return None


def _check_twice(reading: Reading, column: ColumnSpec, target: str, what: str, first_with: dict[str, str]) -> None:
    first = first_with.setdefault(target.casefold(), what)
    if first != what:
        reading.report(
            Fault(
                Condition.DUPLICATE_COLUMN,
                _place(reading, column, target),
                f"{first} and {what} are both called `{target}` (names are case-insensitive)",
                _fix(column, target, f"{target}_2"),
                value=target,
                of_key=True,
            )
        )


def _place(reading: Reading, column: ColumnSpec, target: str) -> ValuePath:
    """The path of the value that sets the column's target name."""
    if column.constant is not None:
        return ("into", "column")
    if column.key_only:
        return ("physical_table",)
    if column.is_whole:
        return ("document",)
    settings = reading.data["columns"][column.name]
    field = "keep_offset" if target == column.offset_target else "rename"
    stated = isinstance(settings, dict) and field in settings
    return ("columns", column.name, field) if stated else ("columns", column.name)


def _fix(column: ColumnSpec, target: str, better: str) -> str:
    if column.constant is not None:
        return f"choose another name: `column: {better}`."
    if column.key_only:
        return f"choose another name: `physical_table: {better}`."
    if column.is_whole:
        return f"choose another name: `document: {better}`."
    field = "keep_offset" if target == column.offset_target else "rename"
    return f"choose another name: `{column.name}: {{type: {column.type}, {field}: {better}}}`."
