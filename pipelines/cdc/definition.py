"""Row definition of a table: what its typed rows depend on, stored beside them, so that an edit cannot go unnoticed.

Silver's streaming tables keep their rows when a spec is edited. The definition says which edits leave them right; the
local engine refuses all others until the table is rebuilt, and `python -m cdc plan` explains them.
"""

import json
from collections.abc import Iterable, Iterator, Mapping

from cdc import names
from cdc.debezium.values import conversion_of
from cdc.spec.model import ColumnSpec, TableSpec

PROPERTY = "rows.definition"
"""Table property: the definition as a JSON object, part -> text or list. The rows stay right while no text changes and
no list gains an entry. A new part, or an entry that a list loses, concerns only the rows that `CONCERNED` finds."""
CONCERNED = "rows.concerned"
"""Table property: an SQL condition over the stored rows, in which `:part` is that part or entry."""

ORIGIN = "rows.origin"
"""Table property: whose rows a dataset has, so that it is found under another name."""

SOURCES = "rows.sources"
"""Table property of a target that several tables flow into: a JSON object, source -> its table."""

NOT_NULL, IN_EVERY_RECORD = "NOT NULL", "in every record"
"""Lists of the columns in which a null, or that a record lacks, makes it a reject."""
SOURCE = "source"
"""List with the source's name, of a table that flows into a target which it shares."""
KEY, KEEPS, TRACKED = "key columns", "history", "tracked columns"
_HAS_PART = f"coalesce(map_contains_key({names.UNKNOWN}, :part), false)"


Parts = Mapping[str, str | list[str]]
"""A definition."""


def definition(table: TableSpec) -> dict[str, str | list[str]]:
    """What the rows of silver's tables depend on: one part per column, by its name at the source, and the lists."""
    required = [column for column in table.columns if column.target not in table.key]
    return {
        **{column.name: _column(column) for column in table.columns},
        **dict.fromkeys(table.excluded, "excluded"),
        NOT_NULL: [column.name for column in required if not column.nullable],
        IN_EVERY_RECORD: [column.name for column in table.columns if column.nullable and column.on_missing == "reject"],
        **({SOURCE: [f"{table.into.column} = {table.into.source}"]} if table.into else {}),
    }


def origin(table: TableSpec, what: str) -> dict[str, str]:
    """Table property of a dataset that says whose rows it has; ``what`` is what a row is: ``records``, ``changes``.

    What several tables flow into has the rows of all of them.

    >>> from cdc.spec.model import ConnectorSpec
    >>> origin(TableSpec("shop.dbo.t", "t", ConnectorSpec("eu", "p"), "p.t", (), (), append_only=True), "records")
    {'rows.origin': 'records of shop.dbo.t by connector eu'}
    """
    if table.into and what in ("versions", "rows", "history"):
        return {ORIGIN: f"{what} of {table.into.table} by {table.into.column}"}
    return {ORIGIN: f"{what} of {table.source} by connector {table.connector.name}"}


def of_changes(table: TableSpec) -> dict[str, str]:
    """Table properties of ``silver.<table>_decoded`` and ``silver.<table>_changes``.

    Records that were rejected for a null stay rejects when the column may be null: a replay decodes them again.
    """
    return {PROPERTY: _text(definition(table)), CONCERNED: _HAS_PART}


def of_versions(table: TableSpec) -> dict[str, str]:
    """Table properties of ``silver.<table>``; the same for all tables that flow into it."""
    columns = _target_types(table) if table.into else definition(table)
    return {PROPERTY: _text({**columns, **definition_of_versions(table)})}


def of_sources(tables: Iterable[TableSpec]) -> dict[str, str]:
    """Table property of a target: the sources that flow into it; empty for a target of one table."""
    sources = {table.into.source: table.source for table in tables if table.into}
    return {SOURCES: json.dumps(sources, sort_keys=True)} if sources else {}


def definition_of_versions(table: TableSpec) -> dict[str, str | list[str]]:
    """What the versions of an AUTO CDC target depend on besides the columns."""
    return {
        KEY: ", ".join(sorted(table.key)),
        KEEPS: "every version" if table.history else "current rows",
        TRACKED: ", ".join(sorted(table.track)) if table.history and table.track else "all columns",
    }


def _target_types(table: TableSpec) -> dict[str, str | list[str]]:
    # What else a column's values depend on, each source's changes have in their definition.
    return {column.target: conversion_of(column, table.connector).target for column in table.columns}


def _text(parts: dict[str, str | list[str]]) -> str:
    return json.dumps(parts, sort_keys=True)


def _column(column: ColumnSpec) -> str:
    return " ".join((str(column.type), *_policies(column)))


def _policies(column: ColumnSpec) -> Iterator[str]:
    if column.target != column.name:
        yield f"as {column.target}"
    if column.offset_target is not None:
        yield f"with its offset as {column.offset_target}"
    if column.zone is not None:
        yield f"in {column.zone}"
    if column.mask is not None:
        yield f"masked by {column.mask}"
    if column.constant is not None:
        yield "from `into`"
    if column.key_only:
        yield "from the record key"
    if column.unavailable != "as_null":
        yield f"unavailable: {column.unavailable}"
    if column.null_is_unchanged:
        yield "large_nulls: unchanged"
    if column.overflow != "repair":
        yield f"overflow: {column.overflow}"
