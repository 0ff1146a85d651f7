"""Random histories of keys, as rows that a source delivers, and the flows that apply them.

A history is 10 to 50 keys of up to 40 events: upserts, deletes, reinserts, duplicates, ties, nulls. Its number
is part of the key, so one target can hold many histories. The random generator decides everything.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, Literal

from tests.support.auto_cdc_model import Event, Rules

Row = Mapping[str, Any]
KEYS = ("history", "id")
COLUMNS = (*KEYS, "a", "b", "s")
EXCEPT = ("seq", "lsn", "serial", "op", "changed")
DDL = (
    "history INT, id STRING, a STRING, b INT, s STRUCT<x: INT, y: STRING>, "
    "seq BIGINT, lsn STRING, serial INT, op STRING, changed ARRAY<STRING>"
)


@dataclass(frozen=True)
class Flow:
    """One target: the source of its events, its declaration and the model's rules for it."""

    name: str
    source: str
    scd_type: Literal[1, 2]
    sequence: Literal["seq", "struct"] = "seq"
    has_truncates: bool = False
    has_authors: bool = False
    tracked: frozenset[str] | None = None
    ignore_nulls: frozenset[str] = frozenset()
    arguments: Mapping[str, Any] = field(default_factory=dict)
    """Further arguments of the declaration."""

    @property
    def rules(self) -> Rules:
        """The model's rules."""
        return Rules(KEYS, COLUMNS, self.scd_type, self.tracked, self.ignore_nulls)

    def event(self, row: Row) -> Event:
        """A source row as an event of the model."""
        kinds: dict[str, Literal["delete", "truncate"]] = {"d": "delete"}
        if self.has_truncates:
            kinds["t"] = "truncate"
        sequence = row["seq"] if self.sequence == "seq" else {"lsn": row["lsn"], "serial": row["serial"]}
        authored = frozenset(row["changed"]) if self.has_authors else None
        selected = {name: row[name] for name in COLUMNS}
        return Event(kinds.get(row["op"], "upsert"), sequence, selected, authored)


_ALL = frozenset({"a", "b", "s"})
FLOWS = (
    Flow("scd1", "ties", 1),
    Flow("scd2", "ties", 2),
    Flow("current", "clean", 1),
    Flow("versions", "clean", 2),
    Flow("forward_rows", "forward", 1),
    Flow("forward_versions", "forward", 2),
    Flow("truncated", "truncates", 1, has_truncates=True),
    Flow(
        "tracked",
        "structs",
        2,
        "struct",
        tracked=frozenset("a"),
        arguments={"track_history_column_list": ["a"]},
    ),
    Flow("newest", "structs", 1, "struct"),
    Flow("filled", "nulls", 1, ignore_nulls=_ALL, arguments={"ignore_null_updates": True}),
    Flow(
        "refilled",
        "truncates",
        1,
        has_truncates=True,
        ignore_nulls=_ALL,
        arguments={"ignore_null_updates": True},
    ),
    Flow(
        "filled_versions",
        "nulls",
        2,
        tracked=frozenset({"a", "s"}),
        ignore_nulls=frozenset({"b", "s"}),
        arguments={
            "ignore_null_updates_column_list": ["b", "s"],
            "track_history_except_column_list": ["b"],
        },
    ),
    Flow("authored", "authors", 2, has_authors=True, arguments={"columns_to_update": "changed"}),
)
SOURCES = tuple(dict.fromkeys(flow.source for flow in FLOWS))


def deliveries(random: Random, source: str, histories: Sequence[int], batches: int) -> list[list[Row]]:
    """The rows of each batch of a source: the events of these histories, each history in its own arrival order."""
    delivered: list[list[Row]] = [[] for _ in range(batches)]
    for number in histories:
        rows = history(random, source, number)
        if source == "forward":
            _deliver_forward(delivered, rows)
            continue
        arrival = random.choice(("any", "in order", "reversed"))
        if arrival != "any":
            rows.sort(key=lambda row: row["seq"], reverse=arrival == "reversed")
        for number_in_order, row in enumerate(rows):
            index = random.randrange(batches) if arrival == "any" else number_in_order * batches // len(rows)
            delivered[index].append(row)
    if source == "truncates":
        for batch in delivered:
            batch.append(_row(random, None, None, random.randint(1, 12), "t"))
    for batch in delivered:
        random.shuffle(batch)
    return delivered


def _deliver_forward(delivered: list[list[Row]], rows: Sequence[Row]) -> None:
    """Deliver a higher range of sequences in each batch, as most sources do; duplicates come in the last one."""
    last, seen = len(delivered) - 1, set()
    for row in rows:
        position = (row["id"], row["seq"])
        in_order = min(row["seq"] * len(delivered) // 24, last)
        delivered[last if position in seen else in_order].append(row)
        seen.add(position)


def history(random: Random, source: str, number: int) -> list[Row]:
    """Events of 10 to 50 keys, each with up to 40 events; one in ten is delivered twice."""
    rows: list[Row] = []
    for key in range(random.randint(10, 50)):
        count = min(40, 1 + int(random.expovariate(1 / 6)))
        domain = range(1, 2 * count + 2)
        # No rule decides between two events at one sequence that set different columns; other ties have a rule.
        has_ties = source != "authors"
        sequences = random.choices(domain, k=count) if has_ties else random.sample(domain, count)
        operations: dict[int, str] = {}
        for sequence in sequences:
            operation = random.choices("ucd", (6, 2, 3))[0]
            # SCD1 and SCD2 decide a tie of an upsert and a delete differently, so a source for both has none.
            if source == "clean":
                operation = operations.setdefault(sequence, operation)
            rows.append(_row(random, number, f"k{key}", sequence, operation))
    return rows + random.sample(rows, len(rows) // 10)


def poison(random: Random, flow: Flow) -> Row:
    """An event that no batch may contain: a null in the key, in the sequence, or in one part of it."""
    row = _row(random, 0, "k0", 5, random.choice("ud"))
    parts = ("seq",) if flow.sequence == "seq" else ("lsn", "serial")
    return {**row, random.choice((*KEYS, *parts)): None}


def _row(random: Random, number: int | None, key: str | None, sequence: int, operation: str) -> Row:
    struct = {"x": random.choice((None, 1, 2)), "y": random.choice((None, "p"))}
    # Where nulls are ignored, a struct of nulls equals a null struct: only the latter is generated.
    is_empty = all(value is None for value in struct.values()) or random.random() < 0.2
    return {
        "history": number,
        "id": key,
        "a": random.choice((None, "x", "y")),
        "b": random.choice((None, 0, 1)),
        "s": None if is_empty else struct,
        "seq": sequence,
        "lsn": f"{sequence // 3:08X}",
        # Falls as the first part rises, so that sorting by the second part alone gives another order.
        "serial": 10 * (sequence % 3) - sequence // 3,
        "op": operation,
        "changed": sorted(random.sample(("a", "b", "s"), random.randint(0, 3))),
    }
