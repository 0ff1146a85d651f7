"""Names that a spec may not give: what the pipeline owns, what Delta refuses, what stands twice."""

import re
from collections.abc import Collection

from cdc.errors import Condition
from cdc.names import HISTORY_COLUMNS
from cdc.spec.document import ValuePath
from cdc.spec.model import ColumnSpec
from cdc.spec.reading import Reading
from cdc.spec.schema import field_schema

OWNED_PREFIX = "_"
"""Columns of the pipeline (``_op``), of Databricks (``__START_AT``) and of the engine begin with it."""

_REFUSED_BY_DELTA = re.compile(r"[ ,;{}()\n\t=.`]")


def check_dataset_name(reading: Reading, name: str | None) -> None:
    """Report a dataset name made from the source's that no lakehouse table can have."""
    if name is not None and not re.fullmatch(field_schema("table", ("name",))["pattern"], name):
        reading.fault(
            Condition.BAD_DATASET_NAME,
            ("table",),
            f"`{name}`, the source table's own name, cannot be the name of the datasets",
            "write a `name:` of lower-case letters, digits and underscores.",
            value=name,
        )


def check_targets(reading: Reading, columns: Collection[ColumnSpec], *, with_history: bool) -> None:
    """Report target column names that are owned, refused, or given twice (Spark knows no letter case)."""
    first_with: dict[str, str] = {}
    for column in columns:
        _check_target(reading, column, column.target, with_history=with_history)
        _check_twice(reading, column, column.target, f"column `{column.name}`", first_with)
        if column.offset_target:
            _check_target(reading, column, column.offset_target, with_history=with_history)
            _check_twice(reading, column, column.offset_target, f"the offset of `{column.name}`", first_with)


def allowed_target(name: str) -> str:
    """A name that a target column may have, as like the source's as can be.

    >>> [allowed_target(name) for name in ("Order No", "_op", "Version", "total")]
    ['Order_No', 'op', 'source_Version', 'total']
    """
    plain = _REFUSED_BY_DELTA.sub("_", name).lstrip(OWNED_PREFIX)
    return f"source_{plain}" if plain.lower() in HISTORY_COLUMNS or not plain else plain


def _check_target(reading: Reading, column: ColumnSpec, target: str, *, with_history: bool) -> None:
    path, fix = _place(reading, column, target), _fix(column, target, allowed_target(target))
    owner = None
    if target.startswith(OWNED_PREFIX):
        owner = f"names that begin with `{OWNED_PREFIX}` belong to the pipeline"
    elif with_history and target.lower() in HISTORY_COLUMNS:
        owner = "gold's history table has a column of its own of that name"
    if owner:
        detail = f"column `{column.name}` cannot be called `{target}`: {owner}"
        reading.fault(Condition.RESERVED_COLUMN, path, detail, fix, value=target, of_key=True)
    elif refused := _REFUSED_BY_DELTA.search(target):
        detail = f"column `{column.name}` cannot be called `{target}`: Delta allows no `{refused[0]}` in it"
        reading.fault(Condition.BAD_COLUMN_NAME, path, detail, fix, value=target, of_key=True)


def _check_twice(reading: Reading, column: ColumnSpec, target: str, what: str, first_with: dict[str, str]) -> None:
    first = first_with.setdefault(target.casefold(), what)
    if first != what:
        reading.fault(
            Condition.DUPLICATE_COLUMN,
            _place(reading, column, target),
            f"{first} and {what} both become `{target}` (letter case does not count)",
            _fix(column, target, f"{target}_2"),
            value=target,
            of_key=True,
        )


def _place(reading: Reading, column: ColumnSpec, target: str) -> ValuePath:
    """Where the file gives the column its target name."""
    if column.key_only:
        return ("physical_table",)
    said = reading.data["columns"][column.name]
    field = "keep_offset" if target == column.offset_target else "rename"
    stated = isinstance(said, dict) and field in said
    return ("columns", column.name, field) if stated else ("columns", column.name)


def _fix(column: ColumnSpec, target: str, better: str) -> str:
    if column.key_only:
        return f"give it another name: `physical_table: {better}`."
    field = "keep_offset" if target == column.offset_target else "rename"
    return f"give it another name: `{column.name}: {{type: {column.type}, {field}: {better}}}`."
