"""Row definition of a table: what its typed rows depend on, stored beside them, so that an edit cannot go unnoticed.

Silver's streaming tables keep their rows when a spec is edited. The definition says which edits leave them right; the
local engine refuses all others until the table is rebuilt, and `python -m cdc plan` explains them.
"""

import json
from collections.abc import Iterator, Mapping
from glob import escape

from cdc import names
from cdc.spec.model import ColumnSpec, TableSpec

PROPERTY = "rows.definition"
"""Table property: the definition as a JSON object, part -> text or list. The rows stay right while no text changes and
no list gains an entry. A new part, or an entry that a list loses, concerns only the rows that `CONCERNED` finds."""
CONCERNED = "rows.concerned"
"""Table property: an SQL condition over the stored rows, in which `:part` is that part or entry."""
SAME = "rows.same"
"""Table property: a JSON object, part -> pattern (as of file names) of its earlier texts that give the same rows."""

NOT_NULL, IN_EVERY_RECORD = "NOT NULL", "in every record"
"""Lists of the columns in which a null, or that a record lacks, makes it a reject."""
_OF_ANY_LENGTH = {"char": "*char", "binary": "*binary"}
"""Ending of a type's name -> pattern of the types whose values of any length decode to the same."""
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
    }


def of_changes(table: TableSpec) -> dict[str, str]:
    """Table properties of ``silver.<table>_decoded`` and ``silver.<table>_changes``.

    Records that were rejected for a null stay rejects when the column may be null: a replay decodes them again.
    """
    return {PROPERTY: _text(definition(table)), CONCERNED: _HAS_PART, SAME: _text(same_rows(table))}


def of_versions(table: TableSpec) -> dict[str, str]:
    """Table properties of ``silver.<table>``."""
    return {PROPERTY: _text({**definition(table), **definition_of_versions(table)}), SAME: _text(same_rows(table))}


def definition_of_versions(table: TableSpec) -> dict[str, str | list[str]]:
    """What the versions of an AUTO CDC target depend on besides the columns."""
    return {
        KEY: ", ".join(sorted(table.key)),
        KEEPS: "every version" if table.history else "current rows",
        TRACKED: ", ".join(sorted(table.track)) if table.history and table.track else "all columns",
    }


def same_rows(table: TableSpec) -> dict[str, str]:
    """Pattern of the earlier texts of a column's part that give the same rows: texts and bytes of any length.

    Not of `max`, for which the log, and so a record, may omit the value.
    """
    return {column.name: pattern for column in table.columns if (pattern := _any_length(column))}


def _any_length(column: ColumnSpec) -> str | None:
    types = next((each for ending, each in _OF_ANY_LENGTH.items() if column.type.name.endswith(ending)), None)
    if types is None or column.type.length is None:
        return None
    return f"{types}([0-9]*)" + escape(_column(column).removeprefix(str(column.type)))


def _text(parts: Mapping[str, str | list[str]]) -> str:
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
    if column.key_only:
        yield "from the record key"
    if column.unavailable != "as_null":
        yield f"unavailable: {column.unavailable}"
    if column.null_is_unchanged:
        yield "large_nulls: unchanged"
    if column.overflow != "repair":
        yield f"overflow: {column.overflow}"
