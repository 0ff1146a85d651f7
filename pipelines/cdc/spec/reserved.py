"""Names that a spec must not use: reserved, not allowed by Delta, or used twice."""

import re
from collections.abc import Collection

from cdc.errors import Condition
from cdc.names import HISTORY_COLUMNS
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


def check_targets(reading: Reading, columns: Collection[ColumnSpec], *, with_history: bool) -> None:
    """Report target names that are reserved, not allowed by Delta, or duplicates (Spark ignores letter case)."""
    first_with: dict[str, str] = {}
    for column in columns:
        _check_target(reading, column, column.target, with_history=with_history)
        _check_twice(reading, column, column.target, f"column `{column.name}`", first_with)
        if column.offset_target:
            _check_target(reading, column, column.offset_target, with_history=with_history)
            _check_twice(reading, column, column.offset_target, f"the offset of `{column.name}`", first_with)


def allowed_target(name: str) -> str:
    """A valid target name, as close to the source's name as possible.

    >>> [allowed_target(name) for name in ("Order No", "_op", "Version", "total")]
    ['Order_No', 'op', 'source_Version', 'total']
    """
    plain = _NOT_IN_DELTA.sub("_", name).lstrip(OWNED_PREFIX)
    return f"source_{plain}" if plain.lower() in HISTORY_COLUMNS or not plain else plain


def _check_target(reading: Reading, column: ColumnSpec, target: str, *, with_history: bool) -> None:
    path, fix = _place(reading, column, target), _fix(column, target, allowed_target(target))
    reason = None
    if target.startswith(OWNED_PREFIX):
        reason = f"names that start with `{OWNED_PREFIX}` are reserved for the pipeline"
    elif with_history and target.lower() in HISTORY_COLUMNS:
        reason = "gold's history table adds a column of that name"
    if reason:
        detail = f"column `{column.name}` cannot be called `{target}`: {reason}"
        reading.report(Fault(Condition.RESERVED_COLUMN, path, detail, fix, value=target, of_key=True))
    elif bad := _NOT_IN_DELTA.search(target):
        detail = f"column `{column.name}` cannot be called `{target}`: Delta does not allow `{bad[0]}` in names"
        reading.report(Fault(Condition.BAD_COLUMN_NAME, path, detail, fix, value=target, of_key=True))


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
    settings = reading.data["columns"][column.name]
    field = "keep_offset" if target == column.offset_target else "rename"
    stated = isinstance(settings, dict) and field in settings
    return ("columns", column.name, field) if stated else ("columns", column.name)


def _fix(column: ColumnSpec, target: str, better: str) -> str:
    if column.constant is not None:
        return f"choose another name: `column: {better}`."
    if column.key_only:
        return f"choose another name: `physical_table: {better}`."
    field = "keep_offset" if target == column.offset_target else "rename"
    return f"choose another name: `{column.name}: {{type: {column.type}, {field}: {better}}}`."
