"""Faults of tables that flow into one target: what its rows have in common, their specs must agree on."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cdc import names
from cdc.debezium.values import conversion_of
from cdc.errors import Condition
from cdc.spec.document import ValuePath
from cdc.spec.model import TableSpec
from cdc.spec.reading import Fault
from cdc.spec.schema_faults import flow
from cdc.spec.table import ReadTable


@dataclass(frozen=True)
class _Common:
    """Something that all sources of a target have in common."""

    what: str
    path: ValuePath
    """The field that sets it."""
    of: Callable[[TableSpec], object]


def check_sources(tables: Iterable[ReadTable]) -> None:
    """Report tables of one target that disagree, or have the same source."""
    first_of: dict[str, ReadTable] = {}
    first_with: dict[tuple[str, str], ReadTable] = {}
    for table in tables:
        if table.into is None:
            continue
        same = first_with.setdefault((table.into.table, table.into.source), table)
        if same is not table:
            detail = (
                f"`{table.into.source}` is also the source of {_named(same)}, which flows into `{table.into.table}`"
            )
            fix = "give each source a name of its own: it tells their rows apart."
            table.reading.report(
                Fault(Condition.DUPLICATE_SOURCE, ("into", "source"), detail, fix, value=table.into.source)
            )
        first = first_of.setdefault(table.into.table, table)
        if first is not table and first.spec and table.spec:
            _compare(first, first.spec, table, table.spec)


def _compare(first: ReadTable, expected: TableSpec, table: ReadTable, found: TableSpec) -> None:
    for path, what, theirs, own in _differences(expected, found):
        detail = (
            f"{what} is {_shown(own)} here and {_shown(theirs)} for {_named(first)}, which flows into the same target"
        )
        fix = "make them agree, or let the tables have targets of their own."
        table.reading.report(Fault(Condition.SOURCES_DISAGREE, path, detail, fix))


def _differences(first: TableSpec, table: TableSpec) -> Iterator[tuple[ValuePath, str, object, object]]:
    """Where the specs differ: the field, what it is, the first table's value, this one's."""
    theirs, own = _types(first), _types(table)
    for target in dict.fromkeys((*theirs, *own)):
        if theirs.get(target) != own.get(target):
            source = next((column.name for column in table.columns if column.target == target), None)
            path: ValuePath = ("columns", source) if source else ("columns",)
            yield path, f"column `{target}` of the target", theirs.get(target), own.get(target)
    for each in _COMMON:
        if each.of(first) != each.of(table):
            yield each.path, each.what, each.of(first), each.of(table)


def _types(table: TableSpec) -> Mapping[str, str]:
    """Target column -> its type, without the source's column."""
    own = [column for column in table.columns if column.constant is None]
    types = {column.target: conversion_of(column, table.connector).target for column in own}
    return types | {column.offset_target: "string" for column in own if column.offset_target}


def _own_key(table: TableSpec) -> set[str]:
    return set(table.key) - {column.target for column in table.columns if column.constant is not None}


def _of_versions(table: TableSpec) -> str:
    return "false" if not table.history else ", ".join(sorted(table.track)) if table.track else "all columns"


_COMMON: Sequence[_Common] = (
    _Common("the connector's kind", ("into",), lambda table: table.connector.kind),
    _Common("`within_transaction` of the connector", ("into",), lambda table: table.connector.within_transaction),
    _Common("`column`", ("into", "column"), lambda table: table.into and table.into.column),
    _Common("the key", ("key",), lambda table: sorted(_own_key(table))),
    _Common("what makes a version", ("history",), _of_versions),
    _Common("`cluster_by`", ("cluster_by",), lambda table: list(table.cluster_by)),
    _Common("the tombstone retention in seconds", ("tombstone_retention",), lambda t: t.tombstone_retention_seconds),
    _Common("`filter`", ("filter",), lambda table: table.filter),
    _Common("`computed`", ("computed",), lambda table: dict(table.computed)),
    _Common("`deletes`", ("deletes",), lambda table: "soft" if table.keeps_deleted else "hard"),
    _Common("whether values can be left unchanged", ("unavailable",), lambda table: table.merges),
    _Common("the table of versions", ("target_schemas",), names.versions_dataset),
    _Common("the table of current rows", ("gold",), names.rows_dataset),
    _Common("the history table", ("gold",), names.history_dataset),
    *(
        _Common(
            f"what `table_properties` sets in {layer}",
            ("table_properties",),
            lambda table, layer=layer: table.table_properties.of(layer),  # type: ignore[misc]
        )
        for layer in ("silver", "gold")
    ),
)


def _named(table: ReadTable) -> str:
    place = table.reading.document.place(("into",), of_key=True)
    return f"`{table.name}` ({place.file}:{place.line})"


def _shown(value: Any) -> str:
    if value is None:
        return "missing"
    return f"`{flow(value)}`"
