"""What a connector's records and the specs differ in, table by table and column by column."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from cdc.errors import Location
from cdc.spec.columns import excluded_columns
from cdc.spec.difference_kinds import Change
from cdc.spec.evidence import Evidence, SourceTable
from cdc.spec.kinds import DEFAULT, Kind, TypeFault
from cdc.spec.model import ColumnSpec, ConnectorSpec
from cdc.spec.reading import listed
from cdc.spec.reserved import allowed_target
from cdc.spec.scaffold import column_key, column_type, column_yaml
from cdc.spec.schema_faults import flow
from cdc.spec.table import ReadTable


@dataclass(frozen=True)
class Difference:
    """One difference between source and spec."""

    change: Change
    table: str
    """The source table."""
    detail: str
    to_do: str
    """The line for the spec, or what a person has to decide."""
    location: Location | None = None
    """The place in the spec; None for a new table."""
    column: str | None = None
    described: tuple[str, bool] | None = None
    """The column's type and nullability in the source."""
    kind: Kind = DEFAULT
    """Of the connector; its types are those of `described`."""

    @property
    def by_hand(self) -> bool:
        """True if the spec cannot follow without a decision of a person."""
        return self.change in (Change.KEY, Change.DROPPED)

    def __str__(self) -> str:
        """Three lines: what, where; detail; what to do."""
        place = f"  {self.location}" if self.location else ""
        return f"{self.change.value.upper()}{place}   table {self.table}\n  {self.detail}\n  spec: {self.to_do}"


def differences(found: Evidence, tables: Iterable[ReadTable]) -> tuple[Difference, ...]:
    """The differences between a connector's records and its specs, by table; tables not in the records have none."""
    specs = {str(table.reading.table): table for table in tables if table.reading.table}
    described = {table.source: table for table in found.tables}
    result: list[Difference] = []
    for source in sorted({*specs, *described}):
        if source not in specs:
            result.append(_new_table(described[source]))
        elif source in described:
            found_here = _of_table(described[source], specs[source])
            result += (replace(each, kind=described[source].kind) for each in found_here)
        elif source in found.dropped:
            result.append(_dropped(specs[source]))
    return tuple(result)


def _new_table(table: SourceTable) -> Difference:
    columns = listed([name for name, _, _ in table.columns])
    detail = f"the connector sends {table.source}, which has no spec; its columns: {columns}"
    return Difference(Change.NEW_TABLE, table.source, detail, "a new file; `--update` writes it.")


def _dropped(table: ReadTable) -> Difference:
    source = str(table.reading.table)
    detail = f"the source has dropped {source}"
    place = table.reading.document.place(("table",))
    return Difference(Change.DROPPED, source, detail, "remove the file, or keep it for the table's history.", place)


def _of_table(table: SourceTable, read: ReadTable) -> Iterator[Difference]:
    columns = {column.name: column for column in read.columns if not column.key_only and column.constant is None}
    excluded = excluded_columns(read.reading)
    described = {name: (type_, nullable) for name, type_, nullable in table.columns}
    for name, of_source in described.items():
        if name in columns:
            yield from _of_column(table, read, columns[name], of_source)
        elif name not in excluded:
            yield _added(table, read, name, of_source)
    for name in columns:
        # A key column that is gone has changed the key.
        # A document need not have every field, so the documents of a capture do not show that one is gone.
        if table.kind.has_documents:
            break
        if name not in described and name not in read.reading.data.get("key", ()) and not _is_settled(read, name):
            yield _gone(table, read, name)
    yield from _key(table, read, columns, described)


def _of_column(
    table: SourceTable, read: ReadTable, column: ColumnSpec, described: tuple[str, bool]
) -> Iterator[Difference]:
    type_text, nullable = described
    widths = table.kind.widths
    place = read.reading.document.place(("columns", column.name, "type"))
    try:
        source_type = table.kind.parse_type(type_text)[0]
    except TypeFault:
        return
    if table.is_exact:
        fits = widths.holds(column.type, source_type)
    else:
        connector = read.spec.connector if read.spec else ConnectorSpec("", "")
        fits = widths.may_be(source_type, column.type, connector)
    if not fits:
        detail = f"column `{column.name}` is {source_type} in the source and {column.type} in the spec"
        to_do = f"the type `{column_type(type_text, column.nullable, table.kind)}`"
        yield Difference(Change.TYPE, table.source, detail, to_do, place, column.name, (type_text, column.nullable))
    stated_key = read.reading.data.get("key") or ()
    # A spec may allow null where the source does not: nothing is rejected then.
    if nullable and not column.nullable and column.name not in stated_key:
        detail = f"column `{column.name}` may be null in the source and is `not null` in the spec: null is rejected"
        kept = str(column.type) if fits else type_text
        to_do = f"the type `{column_type(kept, True, table.kind)}`"
        yield Difference(Change.NULLABLE, table.source, detail, to_do, place, column.name, (kept, True))


def _added(table: SourceTable, read: ReadTable, name: str, described: tuple[str, bool]) -> Difference:
    detail = f"column `{name}` ({column_type(*described, table.kind)}) is not in the spec"
    place = read.reading.document.place(("columns",), of_key=True)
    line = added_line(name, *described, table.kind)
    return Difference(Change.ADDED, table.source, detail, f"`{line}`", place, name, described)


def added_line(name: str, type_text: str, nullable: bool, kind: Kind) -> str:
    """The line of a column that was added: records from before do not have it, which is neither wrong nor drift."""
    if type_text in kind.omitted:
        return column_yaml(name, type_text, nullable, kind)
    default = kind.target_of(name)
    target = allowed_target(default)
    renamed = {} if target == default else {"rename": target}
    settings = {"type": column_type(type_text, nullable, kind), **renamed, "on_missing": "as_null"}
    return f"{column_key(name)}: {flow(settings)}"


def _gone(table: SourceTable, read: ReadTable, name: str) -> Difference:
    place = read.reading.document.place(("columns", name), of_key=True)
    detail = f"column `{name}` is no longer in the source; earlier records have it"
    to_do = "`on_missing: as_null` keeps it for earlier rows; remove the column only if they need not have it."
    return Difference(Change.GONE, table.source, detail, to_do, place, name)


def _is_settled(read: ReadTable, name: str) -> bool:
    """True if the spec says of the column itself that records may lack it."""
    settings = read.reading.data["columns"][name]
    return isinstance(settings, dict) and settings.get("on_missing") == "as_null"


def _key(
    table: SourceTable, read: ReadTable, columns: Collection[str], described: Mapping[str, Any]
) -> Iterator[Difference]:
    """A key of other columns, in whatever order; a table without a primary key has the key that its spec states."""
    stated = tuple(read.reading.data.get("key") or ())
    of_parts = table.kind.has_documents and all(name.split(".")[0] in table.key for name in stated)
    if table.key and stated and set(stated) != set(table.key) and not of_parts:
        detail = f"the key is [{', '.join(table.key)}] in the source and [{', '.join(stated)}] in the spec"
        to_do = f"`key: [{', '.join(table.key)}]`, if it should follow; the table then needs a rebuild."
        place = read.reading.document.place(("key",))
        yield Difference(Change.KEY, table.source, detail, to_do, place)
    elif table.key and not stated:
        detail = f"the source has the primary key [{', '.join(table.key)}], and the spec none"
        to_do = f"`key: [{', '.join(table.key)}]` in place of `append_only: true`; the table then needs a rebuild."
        yield Difference(Change.KEY, table.source, detail, to_do, read.reading.document.place(("append_only",)))
