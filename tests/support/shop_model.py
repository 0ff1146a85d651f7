"""The expected rows of the shop's gold tables, folded from its captures in plain Python, and their golden files.

Independent of the project's own code on purpose: it shares no line with ``pipelines/``, knows only the shop's
types, keeps everything in memory and sorts instead of merging.

Rules. A change's sequence is (commit_lsn, change_lsn or lowest, event_serial_no or 0, delete before the others,
source.ts_ms); a second change with the same sequence is a redelivery and has no effect. Per key, in that order:
consecutive equal rows are one version that starts with the first, a delete ends a version. ``valid_from`` and
``valid_to`` are the source.ts_ms of the changes that start and end a version.

Values are int, str, bool, Decimal (money has 4 decimal places), date, datetime without zone for datetime2
(microseconds, the seventh digit truncated), datetime in UTC for datetimeoffset and the history's times, and for
time(7) the text ``18:30:00.0000000``. In the golden files all but int, bool and null are text.

Checked by hand against demo/scenario/shop.json in the goldens of ``3-round``: the eight versions of order 1007
with their times, totals and tracking id; orders 1005 (deleted and inserted again), 1008 (cancelled and reinstated),
1011 and 1111 (a key change logged as a pair), 1014 and 1114 (a key change logged as an update), 1019 (deleted at the
end of round 2, redelivered in round 3), 1022 (three versions of zero duration) and 1024 (inserted and deleted in one
transaction); customers 103, 104, 204 and 112; products 3, 5, 6, 7 and 10; order lines (1009,2), (1009,3),
(1021,2), (1007,3), (1016,1) and (1022,3). In ``4-damaged``: that only order 1027 and customers 110 and 113
differ from ``3-round``.

    python -m tests.support.shop_model      rewrites the golden files; review the diff
"""

import base64
import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

CAPTURES = Path(__file__).resolve().parents[2] / "demo" / "captures"
GOLDEN = Path(__file__).with_name("golden")
STAGES = ("1-snapshot", "2-round", "3-round", "4-damaged")
"""The captures in their order; the golden files of a stage hold the tables after it and all stages before."""

Row = dict[str, Any]
Sequence = tuple[str, str, int, int, int]

KEYS = {
    "customers": ("customer_id",),
    "products": ("product_id",),
    "orders": ("order_id",),
    "order_lines": ("order_id", "line_no"),
}
COLUMNS = {
    "customers": {
        "customer_id": "int not null",
        "name": "text not null",
        "email": "text",
        "birth_date": "date",
        "is_business": "bit not null",
        "credit_limit": "decimal(19,4)",
        "registered_at": "datetime2 not null",
    },
    "products": {
        "product_id": "int not null",
        "sku": "text not null",
        "name": "text not null",
        "price": "decimal(19,4) not null",
        "weight_kg": "decimal(9,3)",
        "available_from": "date",
        "discontinued": "bit not null",
        "catalog_guid": "text not null",
    },
    "orders": {
        "order_id": "int not null",
        "customer_id": "int not null",
        "status": "text not null",
        "total": "decimal(18,2) not null",
        "placed_at": "datetime2 not null",
        "paid_at": "datetimeoffset",
        "deliver_after": "time",
        "tracking_id": "text",
        "channel": "text",
    },
    "order_lines": {
        "order_id": "int not null",
        "line_no": "int not null",
        "product_id": "int not null",
        "quantity": "int not null",
        "unit_price": "decimal(18,2) not null",
        "gift": "bit not null",
        "note": "text",
    },
}
_TOPIC = "shopserver.shop.dbo."
_LOWEST_LSN = "00000000:00000000:0000"
_LSN = re.compile(r"[0-9a-f]{8}:[0-9a-f]{8}:[0-9a-f]{4}")
_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001  a datetime2 has no zone


@dataclass(frozen=True)
class Change:
    """One change of one key; a delete's ``row`` is None."""

    key: tuple[Any, ...]
    sequence: Sequence
    committed_at: datetime
    row: Row | None


@dataclass
class Counts:
    """The outcomes of a table's records: ``records`` = ``changes`` + ``rejects`` + ``tombstones``."""

    records: int = 0
    changes: int = 0
    rejects: int = 0
    tombstones: int = 0
    duplicates: int = 0
    """Changes whose key and sequence came before."""


@dataclass
class Table:
    """Gold of one source table: rows sorted by key, versions by key and number."""

    rows: list[Row] = field(default_factory=list)
    history: list[Row] = field(default_factory=list)
    counts: Counts = field(default_factory=Counts)


def expected(captures: Iterable[Path]) -> dict[str, Table]:
    """The gold tables after all records of these captures, by source table."""
    lines = [json.loads(line) for capture in captures for line in capture.open(encoding="utf-8")]
    return {name: _table(name, [line for line in lines if line["topic"] == _TOPIC + name]) for name in KEYS}


def captures_until(stage: str) -> list[Path]:
    """The captures of a stage and of those before it."""
    return [CAPTURES / f"{name}.jsonl" for name in STAGES[: STAGES.index(stage) + 1]]


def golden(stage: str, dataset: str) -> list[Row]:
    """The rows of the golden file of ``orders`` or ``orders_history`` after a stage, in plain JSON."""
    file = GOLDEN / stage / f"{dataset}.jsonl"
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def golden_counts(stage: str) -> dict[str, dict[str, int]]:
    """Source table -> the fields of Counts."""
    counts: dict[str, dict[str, int]] = json.loads((GOLDEN / stage / "counts.json").read_text())
    return counts


def plain(row: Row) -> Row:
    """A row in the form of the golden files; a datetime in UTC ends in Z, one without zone does not."""
    return {name: _plain(value) for name, value in row.items()}


def _plain(value: Any) -> Any:
    match value:
        case None | bool() | int() | str():
            return value
        case datetime():
            text = value.replace(tzinfo=None).isoformat(sep=" ", timespec="microseconds")
            return text if value.tzinfo is None else f"{text}Z"
        case date() | Decimal():
            return str(value)
    raise TypeError(value)


def _table(name: str, lines: list[dict[str, Any]]) -> Table:
    table = Table(counts=Counts(records=len(lines)))
    events: dict[tuple[Any, ...], dict[Sequence, Change]] = {}
    for line in lines:
        value = _bytes(line, "payload")
        if value is None:
            table.counts.tombstones += 1
            continue
        try:
            change = _change(name, value, _bytes(line, "key"))
        except (ValueError, KeyError, TypeError):
            table.counts.rejects += 1
            continue
        table.counts.changes += 1
        history = events.setdefault(change.key, {})
        table.counts.duplicates += change.sequence in history
        history.setdefault(change.sequence, change)
    for key in sorted(events):
        versions = list(_versions([events[key][at] for at in sorted(events[key])]))
        table.history += versions
        table.rows += [{c: v[c] for c in COLUMNS[name]} for v in versions if v["is_current"]]
    return table


def _versions(changes: list[Change]) -> Iterator[Row]:
    """The versions of one key, from its changes in sequence order."""
    spans: list[tuple[Row, datetime, datetime | None]] = []
    current: tuple[Row, datetime] | None = None
    for change in changes:
        if current is not None and change.row == current[0]:
            continue
        if current is not None:
            spans.append((*current, change.committed_at))
        current = None if change.row is None else (change.row, change.committed_at)
    if current is not None:
        spans.append((*current, None))
    for number, (row, start, end) in enumerate(spans, 1):
        yield {**row, "valid_from": start, "valid_to": end, "is_current": end is None, "version": number}


def _change(table: str, value: bytes, key: bytes | None) -> Change:
    """Decode one record.

    Raises:
        ValueError, KeyError or TypeError: it is not a Debezium record, or a value does not fit its column's type.
    """
    envelope = json.loads(value.decode())
    rank = {"d": 0, "c": 1, "u": 1, "r": 1}[envelope["op"]]
    source = envelope["source"]
    sequence = (
        _lsn(source["commit_lsn"]),
        _lsn(source["change_lsn"]) if source["change_lsn"] is not None else _LOWEST_LSN,
        int(source["event_serial_no"] or 0),
        rank,
        int(source["ts_ms"]),
    )
    image = (envelope["after"] if rank else envelope["before"]) or {}
    key_source = {**(json.loads(key) if key else {}), **image}
    row = {name: _value(type_, image.get(name)) for name, type_ in COLUMNS[table].items()} if rank else None
    return Change(
        key=tuple(_value(COLUMNS[table][name], key_source[name]) for name in KEYS[table]),
        sequence=sequence,
        committed_at=datetime.fromtimestamp(0, UTC) + timedelta(milliseconds=source["ts_ms"]),
        row=row,
    )


def _lsn(text: Any) -> str:
    if not _LSN.fullmatch(text.lower() if isinstance(text, str) else ""):
        raise ValueError(text)
    return str(text).lower()


def _value(type_: str, value: Any) -> Any:
    """Decode a value that the shop's connector wrote in its default modes."""
    name, _, constraint = type_.partition(" ")
    if value is None:
        if constraint:
            raise ValueError(type_)
        return None
    if name.startswith("decimal"):
        return _decimal(name, value)
    return _READERS[name](value)


def _decimal(type_: str, value: str) -> Decimal:
    """``decimal(18,2)``: base64 of the unscaled number in big-endian two's complement."""
    precision, scale = (int(digits) for digits in type_[len("decimal(") : -1].split(","))
    unscaled = int.from_bytes(base64.b64decode(value, validate=True), "big", signed=True)
    if abs(unscaled) >= 10**precision:
        raise ValueError(value)
    return Decimal(unscaled).scaleb(-scale)


def _is(kind: type) -> Callable[[Any], Any]:
    def read(value: Any) -> Any:
        if type(value) is not kind:
            raise ValueError(value)
        return value

    return read


def _time(value: Any) -> str:
    """``18:30:00.0000000`` from nanoseconds since midnight."""
    seconds, nanoseconds = divmod(_is(int)(value), 1_000_000_000)
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}.{nanoseconds // 100:07}"


_READERS: dict[str, Callable[[Any], Any]] = {
    "int": _is(int),
    "text": _is(str),
    "bit": _is(bool),
    "date": lambda days: date(1970, 1, 1) + timedelta(days=_is(int)(days)),
    "datetime2": lambda nanoseconds: _EPOCH + timedelta(microseconds=_is(int)(nanoseconds) // 1000),
    "datetimeoffset": lambda text: datetime.fromisoformat(_is(str)(text)).astimezone(UTC),
    "time": _time,
}


def _bytes(line: dict[str, Any], name: str) -> bytes | None:
    if encoded := line.get(f"{name}_base64"):
        return base64.b64decode(encoded)
    text = line[name]
    return None if text is None else text.encode()


def _write_goldens() -> None:
    for stage in STAGES:
        tables = expected(captures_until(stage))
        folder = GOLDEN / stage
        folder.mkdir(parents=True, exist_ok=True)
        for name, table in tables.items():
            for dataset, rows in ((name, table.rows), (f"{name}_history", table.history)):
                lines = [json.dumps(plain(row), ensure_ascii=False) + "\n" for row in rows]
                (folder / f"{dataset}.jsonl").write_text("".join(lines), encoding="utf-8")
        counts = ",\n".join(f" {json.dumps(n)}: {json.dumps(vars(t.counts))}" for n, t in tables.items())
        (folder / "counts.json").write_text(f"{{\n{counts}\n}}\n")


if __name__ == "__main__":
    _write_goldens()
