"""Row definition of a table: what its typed rows depend on, stored beside them, so that an edit cannot go unnoticed.

Silver's streaming tables keep their rows when a spec is edited. The definition says which edits leave them right; the
local engine refuses all others until the table is rebuilt, and `python -m cdc plan` explains them.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC

from cdc import names
from cdc.debezium.values import conversion_of
from cdc.spec.kinds import DEFAULT
from cdc.spec.model import ColumnSpec, TableSpec
from cdc.type_changes import earlier_types, with_policies

PROPERTY = "rows.definition"
"""Table property: the definition as a JSON object, part -> text or list. The rows stay right while no text changes and
no list gains an entry. A new part, or an entry that a list loses, concerns only the rows that `CONCERNED` finds."""
CONCERNED = "rows.concerned"
"""Table property: an SQL condition over the stored rows, in which `:part` is that part or entry."""
SAME = "rows.same"
"""Table property: a JSON object, part -> patterns (as of file names) of its earlier texts that give the same rows."""

ORIGIN = "rows.origin"
"""Table property: whose rows a dataset has, so that it is found under another name."""

SOURCES = "rows.sources"
"""Table property of a target that several tables flow into: a JSON object, source -> its table."""

NOT_NULL, IN_EVERY_RECORD = "NOT NULL", "in every record"
"""Lists of the columns in which a null, or that a record lacks, makes it a reject."""
SOURCE = "source of the rows"
"""List with the source's name, of a table that flows into a target which it shares."""
KIND = "connector kind"
"""Part that only tables of other kinds than the default one have, as those were built before there were others."""
KEY, KEEPS, TRACKED = "key columns", "history", "tracked columns"
ORDER = "order within a transaction"
"""`within_transaction`: each of its values makes a sequence of another type."""
QUARANTINE = "expectations that quarantine"
"""List of the expectations that make a change a reject."""
DROP, FILTER, DELETED, COMPUTED = "expectations that drop", "row filter", "deleted rows", "computed column "
"""Parts that only tables with these settings have; the last is followed by the column's name."""
RESTORED = "restored at "
"""Part with the moment of a restore, which raises the incarnation of the records from then on."""
_HAS_PART = f"coalesce(map_contains_key({names.UNKNOWN}, :part), false)"
_IS_RULE = f":part IN ('{DROP}', '{FILTER}', '{DELETED}') OR startswith(:part, '{COMPUTED}')"
"""Such a part that is new concerns every row."""
_IS_KIND = f":part = '{KIND}'"
"""Rows that were decoded as of another kind."""
_MOMENT = f"try_to_timestamp(substr(:part, {len(RESTORED) + 1}))"
_IS_AFTER = f"(startswith(:part, '{RESTORED}') AND {names.RECORDED_AT} >= {_MOMENT})"
"""A moment that is new concerns the records from then on that have been decoded without it."""

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
        **({KIND: table.connector.kind} if table.connector.kind != DEFAULT.name else {}),
        **({SOURCE: [f"{table.into.column} = {table.into.source}"]} if table.into else {}),
        **dict(_rules(table)),
    }


def is_rule(part: str) -> bool:
    """True for a part of a setting that decides about rows as a whole, or computes a column."""
    return part in (DROP, FILTER, DELETED, KIND) or part.startswith(COMPUTED)


def _rules(table: TableSpec) -> Iterator[tuple[str, str | list[str]]]:
    """The parts of settings that a table has only if its spec asks for them."""
    if quarantining := table.expected("quarantine"):
        yield QUARANTINE, [f"{name} ({sql})" for name, sql in sorted(quarantining.items())]
    if dropping := table.expected("drop"):
        yield DROP, ", ".join(f"{name} ({sql})" for name, sql in sorted(dropping.items()))
    if table.filter and table.append_only:
        yield FILTER, table.filter
    yield from _rules_of_target(table)


def _rules_of_target(table: TableSpec) -> Iterator[tuple[str, str]]:
    """Those on which all tables that flow into one target agree."""
    if table.keeps_deleted:
        yield DELETED, "kept with the time of their delete"
    for name, sql in table.computed.items():
        yield f"{COMPUTED}{name}", sql


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
    parts = {**definition(table), **restores(table)}
    of_rules, of_restores = any(map(is_rule, parts)), bool(restores(table))
    conditions = [_HAS_PART, *([_IS_RULE] if of_rules else []), *([_IS_AFTER] if of_restores else [])]
    conditions += [_IS_KIND] if KIND in parts else []
    return {PROPERTY: _text(parts), CONCERNED: " OR ".join(conditions), **_same(table)}


def restores(table: TableSpec) -> dict[str, str]:
    """The parts of the restores of the table's database, on which only the rows of changes depend."""
    moments = (moment.astimezone(UTC) for moment in table.connector.restored_at)
    return {f"{RESTORED}{moment:%Y-%m-%dT%H:%M:%SZ}": "the next incarnation" for moment in moments}


def of_versions(table: TableSpec) -> dict[str, str]:
    """Table properties of ``silver.<table>``; the same for all tables that flow into it."""
    parts = {**_of_target(table), **definition_of_versions(table)}
    conditions = [_IS_RULE, *([_IS_KIND] if KIND in parts else [])]
    concerned = {CONCERNED: " OR ".join(conditions)} if any(map(is_rule, parts)) else {}
    return {PROPERTY: _text(parts), **concerned, **({} if table.into else _same(table))}


def of_sources(tables: Iterable[TableSpec]) -> dict[str, str]:
    """Table property of a target: the sources that flow into it; empty for a target of one table."""
    sources = {table.into.source: table.source for table in tables if table.into}
    return {SOURCES: json.dumps(sources, sort_keys=True)} if sources else {}


def definition_of_versions(table: TableSpec) -> dict[str, str | list[str]]:
    """What the versions of an AUTO CDC target depend on besides the columns."""
    return {
        KEY: ", ".join(sorted(table.key)),
        keeps(table): "every version" if table.history else "current rows",
        TRACKED: ", ".join(sorted(table.track)) if table.history and table.track else "all columns",
        ORDER: table.connector.within_transaction,
        **({FILTER: table.filter} if table.filter and not table.append_only else {}),
    }


def keeps(table: TableSpec) -> str:
    """The part that says whether there is history; a column may have the name that it usually has."""
    return f"{KEEPS} of the rows" if KEEPS in _of_target(table) else KEEPS


def same_rows(table: TableSpec) -> dict[str, list[str]]:
    """Patterns of the earlier texts of a column's part that give the same rows, for the columns that have some."""
    return {column.name: same for column in table.columns if (same := _same_part(column, table))}


def _same(table: TableSpec) -> dict[str, str]:
    patterns = same_rows(table)
    return {SAME: _text(patterns)} if patterns else {}


def _same_part(column: ColumnSpec, table: TableSpec) -> list[str]:
    return with_policies(earlier_types(column, table), _column(column).removeprefix(str(column.type)))


def _of_target(table: TableSpec) -> dict[str, str | list[str]]:
    if not table.into:
        return definition(table)
    # What else a column's values depend on, each source's changes have in their definition.
    types = {column.target: conversion_of(column, table.connector).target for column in table.columns}
    return {**types, **dict(_rules_of_target(table))}


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
    if column.constant is not None:
        yield "from `into`"
    if column.key_only:
        yield "from the record key"
    if column.unavailable != "as_null":
        yield f"unavailable: {column.unavailable}"
    if column.null_is_unchanged:
        yield "large_nulls: unchanged"
    if column.may_be_left_out:
        yield "left out of updates of other columns"
    if column.overflow != "repair":
        yield f"overflow: {column.overflow}"
