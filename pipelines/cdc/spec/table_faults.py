"""Faults of one table that a JSON Schema cannot express: its key and its lists of columns."""

from collections.abc import Mapping, Sequence
from typing import Any

from cdc.errors import Condition, near_match
from cdc.spec.columns import excluded_columns
from cdc.spec.document import ValuePath
from cdc.spec.durations import check_retention
from cdc.spec.history import tracked_targets, tracking
from cdc.spec.kinds import Kind
from cdc.spec.model import ColumnSpec
from cdc.spec.policies import check_zone
from cdc.spec.reading import Fault, Reading, listed

_NEEDS_A_KEY = ("key", "history", "gold", "tombstone_retention", "physical_table", "deletes", "into")

_LISTS: Mapping[ValuePath, tuple[Condition, str]] = {
    ("key",): (Condition.UNKNOWN_KEY_COLUMN, "key column"),
    ("cluster_by",): (Condition.UNKNOWN_CLUSTER_COLUMN, "clustering column"),
    ("history", "track"): (Condition.UNKNOWN_TRACKED_COLUMN, "tracked column"),
    ("history", "track_except"): (Condition.UNKNOWN_TRACKED_COLUMN, "untracked column"),
}
"""Field with column names -> the condition of an unknown name, and what such a column is called."""


def check_table(
    reading: Reading, fields: Mapping[str, Any], columns: Mapping[str, ColumnSpec], kind: Kind | None
) -> None:
    """Report the faults of a table on its own.

    Args:
        reading: the table's file.
        fields: the file's fields over those of defaults.yml.
        columns: by source name, without the excluded ones.
        kind: of the connector; None if it is not known.
    """
    check_zone(reading, reading.data)
    check_retention(reading, fields)
    if fields.get("append_only"):
        _check_append_only(reading)
        if kind and kind.document_key:
            _report_other_key(reading, ("append_only",), "`append_only` is for rows without a key", kind)
    elif reading.document.readable and not {"key"} & (reading.document.data.keys() | reading.misspelt):
        _missing_key(reading, columns)
    if fields.get("history") is False and "history" in fields.get("gold", {}):
        detail = "`gold` names a history table, but the table keeps no history"
        fix = "remove `gold.history`, or `history: false`."
        reading.report(Fault(Condition.MISPLACED_FIELD, ("gold", "history"), detail, fix, of_key=True))
    left_out = [name for name, column in columns.items() if column.merges]
    if "filter" in fields and left_out and not fields.get("append_only"):
        _filter_with(reading, left_out[0])
    if "columns" in fields:
        _check_lists(reading, fields, columns)
        _check_something_left(reading, fields, columns)
    if kind and kind.document_key:
        for index, name in enumerate(fields.get("key", ())):
            if name in columns and not f"{name}.".startswith(f"{kind.document_key}."):
                detail = f"key column `{name}` is not of the key of a document"
                _report_other_key(reading, ("key", index), detail, kind)


def check_name(reading: Reading, kind: Kind | None) -> None:
    """Report a source table that is not named by the parts that its kind of database has, and remove the name."""
    name = reading.data.get("table")
    if kind and name is not None and kind.parts_of(name) is None:
        detail = f"`table` is `{name}`, which does not have the expected form"
        fix = f"write {kind.table_words} separated by dots, such as `table: {kind.table_example}`."
        reading.report(Fault(Condition.BAD_TABLE_NAME, ("table",), detail, fix, value=name))
        del reading.data["table"]


def _check_append_only(reading: Reading) -> None:
    detail = "the table is append-only: silver has its changes, but there are no versions and no current rows"
    fix = "none needed if no columns identify a row; otherwise add a `key:`."
    reading.report(Fault(Condition.NO_KEY, ("append_only",), detail, fix, severity="warning", of_key=True))
    for field in _NEEDS_A_KEY:
        if field in reading.data:
            detail = f"`{field}` contradicts `append_only: true`, which is for tables without a key"
            fix = f"remove `{field}`, or `append_only`."
            reading.report(Fault(Condition.MISPLACED_FIELD, (field,), detail, fix, of_key=True))


def _report_other_key(reading: Reading, path: ValuePath, what: str, kind: Kind) -> None:
    detail = f"{what}: {kind.title} identifies documents by `{kind.document_key}`, and a delete has nothing else"
    reading.report(Fault(Condition.MISPLACED_FIELD, path, detail, f"write `key: [{kind.document_key}]`."))


def _filter_with(reading: Reading, column: str) -> None:
    detail = (
        f"`filter` contradicts column `{column}`, which a change may leave out (`large_nulls: unchanged`,"
        " `unavailable: merge`, `capture_mode` of the connector):"
        " a row that has left the filter and comes back by such a change has lost the value"
    )
    fix = f"exclude `{column}` or remove that setting; without `filter`, a view over gold can leave rows out."
    reading.report(Fault(Condition.MISPLACED_FIELD, ("filter",), detail, fix, of_key=True))


def _missing_key(reading: Reading, columns: Mapping[str, ColumnSpec]) -> None:
    not_null = [name for name, column in columns.items() if not column.nullable]
    likely = (not_null or list(columns) or ["id"])[0]
    known = f"; its columns are: {listed(list(columns))}" if columns else ""
    detail = f"the table has no `key`{known}"
    fix = f"add the primary key, such as `key: [{likely}]`; if there is none, add `append_only: true`."
    reading.report(Fault(Condition.MISSING_KEY, (), detail, fix))


def _check_lists(reading: Reading, fields: Mapping[str, Any], columns: Mapping[str, ColumnSpec]) -> None:
    """Report names of unknown columns in the key and the other lists, and masked key columns."""
    lists: dict[ValuePath, Sequence[str]] = {(name,): fields.get(name, ()) for name in ("key", "cluster_by")}
    lists |= {("history", way): names for way, names in tracking(fields).items()}
    for path, names in lists.items():
        for index, name in enumerate(names):
            is_computed = name in fields.get("computed", {})
            if name not in columns and (path == ("key",) or not is_computed):
                _unknown_column(reading, (*path, index), name, columns)
            elif path == ("key",) and columns[name].mask:
                _masked_key(reading, name)


def _unknown_column(reading: Reading, path: ValuePath, name: str, columns: Mapping[str, ColumnSpec]) -> None:
    condition, what = _LISTS[path[:-1]]
    source_of = {column.target: source for source, column in columns.items()}
    near = source_of.get(name) or near_match(name, columns)
    detail = f"{what} `{name}` is not one of the table's columns: {listed(list(columns))}"
    fix = f"correct `{path[-2]}:` here, or add the column to `columns:`."
    if name in source_of:
        detail = f"{what} `{name}` is the new name of column `{near}`; `{path[-2]}` uses the source's names"
    elif name in reading.data.get("computed", {}):
        near, detail = None, f"{what} `{name}` is computed; a record's key has the source's columns only"
        fix = "name the columns that it is computed from."
    elif name in excluded_columns(reading):
        near, detail = None, f"{what} `{name}` is excluded"
        fix = f"remove its `exclude: true`, or `{name}` from `{path[-2]}:`."
        condition = Condition.EXCLUDED_KEY_COLUMN if path[0] == "key" else condition
    reading.report(Fault(condition, path, detail, fix, value=name, near=near))


def _masked_key(reading: Reading, name: str) -> None:
    detail = f"key column `{name}` is masked: rows whose masked keys are equal would become one"
    fix = "remove the mask; a view over gold can hide the value instead."
    reading.report(Fault(Condition.MASKED_KEY_COLUMN, ("columns", name, "mask"), detail, fix, value=name))


def _check_something_left(reading: Reading, fields: Mapping[str, Any], columns: Mapping[str, ColumnSpec]) -> None:
    if not columns:
        detail, fix = "every column is excluded", "keep at least the key columns."
        reading.report(Fault(Condition.NO_COLUMN_LEFT, ("columns",), detail, fix, of_key=True))
    elif "track_except" in tracking(fields) and not tracked_targets(fields, columns):
        detail = "`track_except` names every column, so no change would ever make a version"
        fix = "remove a column from it, or set `history: false`."
        reading.report(Fault(Condition.NO_COLUMN_LEFT, ("history", "track_except"), detail, fix, of_key=True))
