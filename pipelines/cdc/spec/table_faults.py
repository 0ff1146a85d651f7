"""What can be wrong with one table beyond what a JSON Schema sees: its key and its lists of columns."""

from collections.abc import Mapping, Sequence
from typing import Any

from cdc.errors import Condition, near_match
from cdc.spec.columns import excluded_columns
from cdc.spec.document import ValuePath
from cdc.spec.durations import check_retention
from cdc.spec.history import tracked_targets, tracking
from cdc.spec.model import ColumnSpec
from cdc.spec.policies import check_zone
from cdc.spec.reading import Reading, listed

_NEEDS_A_KEY = ("key", "history", "gold", "tombstone_retention", "physical_table")

_LISTS: Mapping[ValuePath, tuple[Condition, str]] = {
    ("key",): (Condition.UNKNOWN_KEY_COLUMN, "key column"),
    ("cluster_by",): (Condition.UNKNOWN_CLUSTER_COLUMN, "clustering column"),
    ("history", "track"): (Condition.UNKNOWN_TRACKED_COLUMN, "tracked column"),
    ("history", "track_except"): (Condition.UNKNOWN_TRACKED_COLUMN, "column that is not tracked,"),
}
"""Where a table names columns, what an unknown one is, and what it is called."""


def check_table(reading: Reading, said: Mapping[str, Any], columns: Mapping[str, ColumnSpec]) -> None:
    """Report what is wrong with the table by itself.

    Args:
        reading: the table's file.
        said: what the file says over what defaults.yml says.
        columns: by source name, without those excluded.
    """
    check_zone(reading, reading.data)
    check_retention(reading, said)
    if said.get("append_only"):
        _check_append_only(reading)
    elif reading.document.readable and not {"key"} & (reading.document.data.keys() | reading.misspelt):
        _missing_key(reading, columns)
    if said.get("history") is False and "history" in said.get("gold", {}):
        detail = "`gold` names a history table, and the table keeps no history"
        fix = "take out `gold.history`, or `history: false`."
        reading.fault(Condition.MISPLACED_FIELD, ("gold", "history"), detail, fix, of_key=True)
    if "columns" in said:
        _check_lists(reading, said, columns)
        _check_something_left(reading, said, columns)


def _check_append_only(reading: Reading) -> None:
    detail = "the table is append-only: silver has its changes, and there are no versions and no current rows"
    fix = "nothing, if no columns identify a row; else give the table a `key:`."
    reading.fault(Condition.NO_KEY, ("append_only",), detail, fix, severity="warning", of_key=True)
    for field in _NEEDS_A_KEY:
        if field in reading.data:
            detail = f"`{field}` means nothing for a table without a key, and `append_only: true` says that"
            fix = f"take out `{field}`, or `append_only`."
            reading.fault(Condition.MISPLACED_FIELD, (field,), detail, fix, of_key=True)


def _missing_key(reading: Reading, columns: Mapping[str, ColumnSpec]) -> None:
    not_null = [name for name, column in columns.items() if not column.nullable]
    likely = (not_null or list(columns) or ["id"])[0]
    known = f"; its columns are: {listed(list(columns))}" if columns else ""
    detail = f"the table has no `key`{known}"
    fix = f"write the primary key, such as `key: [{likely}]`; a table that has none: `append_only: true`."
    reading.fault(Condition.MISSING_KEY, (), detail, fix)


def _check_lists(reading: Reading, said: Mapping[str, Any], columns: Mapping[str, ColumnSpec]) -> None:
    """Report names in the key and in the lists that are none of the columns, and masked keys."""
    lists: dict[ValuePath, Sequence[str]] = {(name,): said.get(name, ()) for name in ("key", "cluster_by")}
    lists |= {("history", way): names for way, names in tracking(said).items()}
    for path, names in lists.items():
        for index, name in enumerate(names):
            if name not in columns:
                _unknown_column(reading, (*path, index), name, columns)
            elif path == ("key",) and columns[name].mask:
                _masked_key(reading, name)


def _unknown_column(reading: Reading, path: ValuePath, name: str, columns: Mapping[str, ColumnSpec]) -> None:
    condition, what = _LISTS[path[:-1]]
    source_of = {column.target: source for source, column in columns.items()}
    near = source_of.get(name) or near_match(name, columns)
    detail = f"{what} `{name}` is not among the table's columns: {listed(list(columns))}"
    fix = f"correct `{path[-2]}:` here, or add the column to `columns:`."
    if name in source_of:
        detail = f"{what} `{name}` is what column `{near}` is renamed to; `{path[-2]}` has the source's names"
    elif name in excluded_columns(reading):
        near, detail = None, f"{what} `{name}` is excluded"
        fix = f"take out its `exclude: true`, or `{name}` in `{path[-2]}:`."
        condition = Condition.EXCLUDED_KEY_COLUMN if path[0] == "key" else condition
    reading.fault(condition, path, detail, fix, value=name, near=near)


def _masked_key(reading: Reading, name: str) -> None:
    detail = f"key column `{name}` is masked: rows whose keys are masked alike would become one"
    fix = "take out the mask; a view over gold can hide the value from people."
    reading.fault(Condition.MASKED_KEY_COLUMN, ("columns", name, "mask"), detail, fix, value=name)


def _check_something_left(reading: Reading, said: Mapping[str, Any], columns: Mapping[str, ColumnSpec]) -> None:
    if not columns:
        detail, fix = "every column is excluded", "leave at least the key's columns."
        reading.fault(Condition.NO_COLUMN_LEFT, ("columns",), detail, fix, of_key=True)
    elif "track_except" in tracking(said) and not tracked_targets(said, columns):
        detail = "`track_except` names every column, so that no change would ever make a version"
        fix = "leave one out, or write `history: false`."
        reading.fault(Condition.NO_COLUMN_LEFT, ("history", "track_except"), detail, fix, of_key=True)
