"""Row definitions: a table says what its stored rows depend on, and an edit that they do not survive is refused.

A streaming table keeps its rows when its query changes. Only its author knows which edits leave them right, and says so
in table properties:

- `rows.definition` is a JSON object, part -> text or list of texts. The stored rows stay right while every text stays
  the same and no list gains an entry. A new part, or an entry that a list loses, concerns only rows that
- `rows.concerned` is true for: an SQL condition over the stored rows in which `:part` is that part or entry. Without it
  no stored row is concerned.
- `rows.same` is a JSON object, part -> pattern (as of file names), or list of patterns, of earlier texts of the part
  that give the same rows. Text and pattern are compared word by word, so no wildcard matches a space.

A column may get a wider type in place if the edit passes: the definition vouches for the values that it has.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from dlt_local.declarations.elements import Table
from dlt_local.declarations.row_definition import DEFINITION, SAME, Parts, read_definition
from dlt_local.declarations.spark_errors import line_of
from dlt_local.delta import delta_log, tables
from dlt_local.errors import DeclarationError
from dlt_local.names import literal

CONCERNED = "rows.concerned"


@dataclass(frozen=True)
class Edit:
    """A difference between two row definitions."""

    text: str
    """For people: ``email: nvarchar(200) -> nvarchar(200) masked by sha2(email, 256)``."""
    concerns: str | None
    """The `:part` that finds the stored rows it concerns; None if it concerns all of them."""


def edits(before: Parts, after: Parts, same: Parts | None = None) -> Iterator[Edit]:
    """How a row definition has changed, without texts that give the same rows.

    >>> [edit.text for edit in edits({"a": "int", "not null": ["a"]}, {"a": "bigint", "b": "int", "not null": []})]
    ['a: int -> bigint', 'not null: no longer a', 'b: int (new)']
    >>> same = {"a": ["char(*)", "text"]}
    >>> [list(edits({"a": old}, {"a": "char(4)"}, same)) for old in ("char(2)", "text")]
    [[], []]
    >>> [edit.text for edit in edits({"a": "char(2) as upper(a)"}, {"a": "char(4)"}, same)]
    ['a: char(2) as upper(a) -> char(4)']
    """
    patterns = same or {}
    for part in [*before, *(part for part in after if part not in before)]:
        old, new = before.get(part), after.get(part)
        if isinstance(old, list) or isinstance(new, list):
            yield from _entries(part, old or [], new or [])
        elif old is None:
            yield Edit(f"{part}: {new} (new)", part)
        elif old != new and not _is_same(str(old), patterns.get(part, [])):
            yield Edit(f"{part}: {old} -> {'gone' if new is None else new}", None)


def _is_same(old: str, patterns: str | list[str]) -> bool:
    words = old.split(" ")
    for pattern in [patterns] if isinstance(patterns, str) else patterns:
        expected = pattern.split(" ")
        if len(words) == len(expected) and all(map(fnmatchcase, words, expected)):
            return True
    return False


def _entries(part: str, old: str | list[str], new: str | list[str]) -> Iterator[Edit]:
    yield from (Edit(f"{part}: also {entry}", None) for entry in new if entry not in old)
    yield from (Edit(f"{part}: no longer {entry}", entry) for entry in old if entry not in new)


def can_compare(session: SparkSession, table: Table, path: Path) -> bool:
    """True if both the declaration and the stored table have a row definition."""
    return DEFINITION in table.table_properties and DEFINITION in tables.stored_properties(session, path)


def check(session: SparkSession, table: Table, path: Path) -> None:
    """Compare a table's row definition with the one that its stored rows were made by.

    Raises:
        DeclarationError: stored rows differ from those that the present definition would give, or which of them do
            cannot be found out.
    """
    declared, stored = table.table_properties.get(DEFINITION), tables.stored_properties(session, path).get(DEFINITION)
    if declared is None or stored is None or declared == stored or not delta_log.has_rows(path):
        return
    same = read_definition(table.table_properties.get(SAME, "{}"))
    found = _edits(stored, declared, same)
    refused = [edit for edit in found if edit.concerns is None]
    refused += _concerning(session, table, path, [edit for edit in found if edit.concerns is not None])
    if refused:
        changed = "".join(f"\n    {edit.text}" for edit in refused)
        raise DeclarationError(
            "ROW_DEFINITION_CHANGED",
            f"the rows of {table.name} were made by another definition, and would differ by this one:{changed}",
            table.location,
            f"undo the change, or build the rows again with --rebuild {table.name}",
        )


def _edits(stored: str, declared: str, same: Parts) -> list[Edit]:
    try:
        return list(edits(read_definition(stored), read_definition(declared), same))
    except ValueError as error:
        # That of the declaration was read when it was made: it is the stored one.
        return [Edit(f"the stored definition cannot be read: {error}", None)]


def _concerning(session: SparkSession, table: Table, path: Path, found: list[Edit]) -> list[Edit]:
    """Those of the edits that concern stored rows; one query for all."""
    condition = table.table_properties.get(CONCERNED)
    if condition is None or not found:
        return []
    # As literals: parameters of a query are not bound where Delta's own parser comes first.
    conditions = [condition.replace(":part", literal(edit.concerns or "")) for edit in found]
    each = [f"coalesce(bool_or({condition}), false) AS `{number}`" for number, condition in enumerate(conditions)]
    stored = session.read.format("delta").load(str(path))
    try:
        row = stored.selectExpr(*each).head()
    except AnalysisException as error:
        message = f"the table property `{CONCERNED}` of {table.name}, `{condition}`, fails: {line_of(error)}"
        fix = "write an SQL condition over the table's columns, with :part in place of a part's name"
        raise DeclarationError("ROW_DEFINITION_NOT_VALID", message, table.location, fix) from error
    assert row is not None
    return [edit for edit, concerns in zip(found, row, strict=True) if concerns]
