"""What captured records show of a connector: its tables with columns, types and key, and its topics."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from cdc.spec.captures import NotACapture, captured_records, payload
from cdc.spec.document_types import DocumentTypes
from cdc.spec.kinds import DEFAULT, KINDS, Kind

_SIGNAL_COLUMNS = {"id", "type", "data"}
_SIGNALS = {
    "execute-snapshot",
    "stop-snapshot",
    "pause-snapshot",
    "resume-snapshot",
    "snapshot-window-open",
    "snapshot-window-close",
    "schema-changes",
    "log",
}


@dataclass(frozen=True)
class SourceTable:
    """A table as a connector's records describe it."""

    source: str
    """Full name: ``shop.dbo.orders``."""
    topic_prefix: str
    key: tuple[str, ...]
    columns: tuple[tuple[str, str, bool], ...]
    """Each column's name, its type as in DDL, and whether it is nullable."""
    is_exact: bool = True
    """False: from a schema block, which tells less than the DDL."""
    kind: Kind = field(default=DEFAULT, compare=False, repr=False)
    """The kind of the connector that described it."""
    others: Mapping[str, str] = field(default_factory=dict, hash=False)
    """Column -> another type that it may have as well, by its schema block."""
    doubts: tuple[str, ...] = ()
    """What columns may be that no schema block of the connector shows."""


@dataclass(frozen=True)
class Evidence:
    """What a capture shows."""

    tables: tuple[SourceTable, ...]
    """The last description of each table, by source name; without the signal tables."""
    topics: frozenset[str]
    topic_of: Mapping[str, str]
    """The topic of each source table that has changes in the capture."""
    dropped: frozenset[str]
    """Source tables that were dropped."""
    signals: frozenset[str]
    """Source tables that are signal tables."""
    notifications: str | None
    """The topic of notifications."""
    is_1x: bool
    """True if schema changes are of a connector before 2.0."""
    has_total_order: bool
    """True if all changes from the log carry the connector's count of their transaction's events, and there are any."""
    capture_mode: str | None = None
    """How updates of documents come that are without their documents; None if there are none."""
    kinds: Mapping[str, str] = field(default_factory=dict)
    """Topic prefix -> what the first record of its connector calls its kind (``source.connector``)."""
    modes: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Topic prefix -> the modes of its connector that schema blocks show, by field of a connector spec."""

    def kind(self, prefix: str) -> Kind:
        """The kind of the connector with a topic prefix; the default one for a name that is not known."""
        return KINDS.get(self.kinds.get(prefix, ""), DEFAULT)

    @property
    def prefixes(self) -> tuple[str, ...]:
        """The topic prefixes of the connectors that wrote the records."""
        return tuple(sorted({table.topic_prefix for table in self.tables}))


def source_tables(records: Iterable[Mapping[str, Any]]) -> tuple[SourceTable, ...]:
    """The tables in a capture, each as it was described last, by source name.

    Args:
        records: in the form of ``kcat -C -J``; records that describe no table are ignored.
    """
    return evidence(records).tables


def evidence(records: Iterable[Mapping[str, Any]]) -> Evidence:
    """What records show of the connector that wrote them, in one pass.

    Columns and keys are those of its schema-change records; for a table that has none in the capture, those of its
    records' schema blocks.
    """
    collected = _Collected()
    for record in records:
        collected.add(record)
    return collected.evidence()


def kind_in(captures: Iterable[Path], topic_prefix: str) -> str | None:
    """What the first record of a connector in some captures calls its kind; None if no record does."""
    try:
        return next(filter(None, (_stated_kind(record, topic_prefix) for record in captured_records(captures))), None)
    except NotACapture:
        # Reported where the captures are compared with the specs.
        return None


def _stated_kind(record: Mapping[str, Any], topic_prefix: str) -> str | None:
    value = payload(record)
    value = value["payload"] if isinstance(value, dict) and isinstance(value.get("payload"), dict) else value
    of = value.get("source") if isinstance(value, dict) else None
    stated = of.get("connector") if isinstance(of, dict) and of.get("name") == topic_prefix else None
    return stated.lower() if isinstance(stated, str) else None


class _Collected:
    """Facts of the records so far."""

    def __init__(self) -> None:
        self.topics: set[str] = set()
        self.changes: list[tuple[int, str, Mapping[str, Any], Kind]] = []
        self.blocks: dict[str, tuple[int, SourceTable]] = {}
        self.topic_of: dict[str, str] = {}
        self.signals: set[str] = set()
        self.notifications: str | None = None
        self.versions: set[str] = set()
        self.counted: dict[str, bool] = {}
        self.kinds: dict[str, str] = {}
        self.documents: dict[str, tuple[str, Kind, DocumentTypes]] = {}
        self.capture_mode: str | None = None
        self.modes: dict[str, dict[str, str]] = {}

    def add(self, record: Mapping[str, Any]) -> None:
        """Take in one record."""
        topic, offset = str(record.get("topic", "")), int(record.get("offset", 0))
        self.topics.add(topic)
        value = payload(record)
        block = value.get("schema") if isinstance(value, dict) and isinstance(value.get("payload"), dict) else None
        value = value["payload"] if isinstance(value, dict) and isinstance(value.get("payload"), dict) else value
        if not isinstance(value, dict):
            return
        stated = value.get("source")
        of: Mapping[str, Any] = stated if isinstance(stated, dict) else {}
        kind = self._kind(of)
        if isinstance(value.get("tableChanges"), list):
            # The connector's internal schema history, which has the same changes, calls its prefix `server`.
            prefix = str(of.get("name") or of.get("server"))
            self.versions.add(str(of.get("version", "")))
            self.changes += ((offset, prefix, change, kind) for change in value["tableChanges"])
        elif {"aggregate_type", "type"} <= value.keys():
            self.notifications = topic
        elif of and set(kind.table_fields) <= of.keys():
            self._add_change(record, value, block, kind)

    def _kind(self, of: Mapping[str, Any]) -> Kind:
        """The kind of the connector that wrote a record; by its first record, if it has written one before."""
        stated, prefix = of.get("connector"), of.get("name") or of.get("server")
        if isinstance(stated, str) and isinstance(prefix, str):
            stated = self.kinds.setdefault(prefix, stated.lower())
        return KINDS.get(str(stated), DEFAULT)

    def _add_change(self, record: Mapping[str, Any], value: Mapping[str, Any], block: object, kind: Kind) -> None:
        of = value["source"]
        source = ".".join(str(of[name]) for name in kind.table_fields)
        self.topic_of[source] = str(record.get("topic", ""))
        row = value.get("after") or value.get("before") or {}
        if isinstance(row, dict) and row.keys() == _SIGNAL_COLUMNS and row["type"] in _SIGNALS:
            self.signals.add(source)
        if of.get("snapshot") in (None, "false", False) and value.get("op") in ("c", "u", "d"):
            has_count = (value.get("transaction") or {}).get("total_order") is not None
            self.counted[source] = self.counted.get(source, True) and has_count
        if kind.has_documents:
            self._add_document(source, value, kind)
        offset = int(record.get("offset", 0))
        if isinstance(block, dict) and self.blocks.get(source, (-1,))[0] < offset:
            fields = _block_fields(block)
            if fields:
                self.blocks[source] = (offset, _block_table(source, record, fields, of, kind))
                modes = self.modes.setdefault(str(of["name"]), {})
                for part in fields:
                    modes.update(kind.block_modes(part))

    def _add_document(self, source: str, value: Mapping[str, Any], kind: Kind) -> None:
        _, _, types = self.documents.setdefault(source, (str(value["source"]["name"]), kind, DocumentTypes()))
        types.add(value.get("after"))
        if value.get("patch"):
            self.capture_mode = "oplog"
        elif value.get("op") == "u" and not value.get("after"):
            self.capture_mode = "change_streams"

    def evidence(self) -> Evidence:
        """What all of the records show."""
        tables = {source: self._with_doubts(table) for source, (_, table) in self.blocks.items()}
        tables |= {
            source: SourceTable(source, prefix, ("_id",), types.columns(), is_exact=False, kind=kind)
            for source, (prefix, kind, types) in self.documents.items()
            if types.columns()
        }
        dropped = set()
        for _, prefix, change, kind in sorted(self.changes, key=lambda each: each[0]):
            source = ".".join(re.findall(r'"([^"]*)"', change["id"]))
            tables.pop(source, None)
            dropped.add(source)
            if change["type"] != "DROP":
                tables[source] = _described_table(source, prefix, change["table"], kind)
                dropped.discard(source)
        signals = self.signals | {table.source for table in tables.values() if _is_signal_table(table)}
        return Evidence(
            tables=tuple(tables[source] for source in sorted(tables) if source not in signals),
            topics=frozenset(self.topics),
            topic_of=self.topic_of,
            dropped=frozenset(dropped),
            signals=frozenset(signals),
            notifications=self.notifications,
            is_1x=any(version.startswith("1.") for version in self.versions),
            kinds=dict(self.kinds),
            capture_mode=self.capture_mode,
            has_total_order={self.counted[source] for source in self.counted.keys() - signals} == {True},
            modes=self.modes,
        )

    def _with_doubts(self, table: SourceTable) -> SourceTable:
        types = {type_ for _, type_, _ in table.columns}
        return replace(table, doubts=tuple(table.kind.block_doubts(types, self.modes[table.topic_prefix])))


def _is_signal_table(table: SourceTable) -> bool:
    """A table of the signal table's form that is also called one: other tables can have these columns."""
    return {name for name, _, _ in table.columns} == _SIGNAL_COLUMNS and "signal" in table.source.lower()


def _described_table(source: str, prefix: str, table: Mapping[str, Any], kind: Kind) -> SourceTable:
    columns = tuple((each["name"], kind.described_type(each), bool(each["optional"])) for each in table["columns"])
    return SourceTable(source, prefix, tuple(table["primaryKeyColumnNames"]), columns, kind=kind)


def _block_fields(block: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The fields of a row in a schema block: those of `after` in an envelope."""
    images = {part.get("field"): part for part in block.get("fields") or ()}
    return list((images.get("after") or images.get("before") or {}).get("fields") or ())


def _block_table(
    source: str,
    record: Mapping[str, Any],
    fields: Sequence[Mapping[str, Any]],
    of: Mapping[str, Any],
    kind: Kind,
) -> SourceTable:
    """The table that a record with a schema block describes."""
    columns = tuple((part["field"], kind.block_type(part), bool(part.get("optional"))) for part in fields)
    others = {part["field"]: other for part in fields if (other := kind.block_other(part))}
    return SourceTable(source, str(of["name"]), _block_key(record), columns, is_exact=False, kind=kind, others=others)


def _block_key(record: Mapping[str, Any]) -> tuple[str, ...]:
    """The fields of the record key."""
    key = payload(record, "key")
    key = key["payload"] if isinstance(key, dict) and isinstance(key.get("payload"), dict) else key
    return tuple(key) if isinstance(key, dict) else ()
