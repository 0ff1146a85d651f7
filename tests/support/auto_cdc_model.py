"""AUTO CDC as one page of plain Python: a target is a function of the set of its events.

No batches, no arrival order, no tombstones: a key's events are deduplicated by sequence, sorted and folded.
Values are JSON's; a dict is a struct, and a map is a tuple of pairs (nulls are ignored inside a struct, not a map).
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

Value = Any
Row = Mapping[str, Value]
START, END = "__START_AT", "__END_AT"


class Refused(Exception):
    """An event that no batch may contain: a null key, or a null in any part of the sequence."""


@dataclass(frozen=True)
class Rules:
    """A flow's rules for its target: ``columns`` are the target's, in its order, keys included."""

    keys: tuple[str, ...]
    columns: tuple[str, ...]
    scd_type: Literal[1, 2] = 1
    tracked: frozenset[str] | None = None  # None: every column that is not a key
    ignore_nulls: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Event:
    """One row of a source: ``row`` has the selected columns that were in the source.

    ``authored`` lists the columns that the event sets (``columns_to_update``); None means all of them.
    """

    kind: Literal["upsert", "delete", "truncate"]
    sequence: Value
    row: Row
    authored: frozenset[str] | None = None


@dataclass
class Version:
    """One state of a key, from its first event until ``end``; an open version has no end."""

    row: Row
    start: Value
    end: Value = None


def rank(value: Value) -> tuple[Any, ...]:
    """Spark's order of values: null before everything, structs and arrays element by element."""
    if value is None:
        return (0,)
    if isinstance(value, Mapping):
        return (1, *map(rank, value.values()))
    return (1, *map(rank, value)) if isinstance(value, list | tuple) else (1, value)


def target(events: Iterable[Event], rules: Rules) -> list[dict[str, Value]]:
    """Rows of the target after all events: one per key for SCD type 1, one per version for type 2."""
    histories: dict[str, dict[tuple[Any, ...], Event]] = defaultdict(dict)
    events = list(events)
    truncated = max((rank(event.sequence) for event in events if event.kind == "truncate"), default=(0,))
    for event in events:
        refuse(event, rules)
        at = rank(event.sequence)
        if event.kind != "truncate" and at >= truncated:
            history = histories[repr([event.row[key] for key in rules.keys])]
            history[at] = max(history.get(at, event), event, key=lambda tied: _precedence(tied, rules))
    folded = [_fold([history[at] for at in sorted(history)], rules) for history in histories.values()]
    return [_shown(version, rules) for versions in folded for version in versions if _visible(version, rules)]


def refuse(event: Event, rules: Rules) -> None:
    """Check an event; a truncate needs no key.

    Raises:
        Refused: the key or a part of the sequence is null.
    """
    parts = event.sequence.values() if isinstance(event.sequence, Mapping) else [event.sequence]
    if any(part is None for part in parts):
        message = f"null sequence: {event}"
        raise Refused(message)
    if event.kind != "truncate" and any(event.row[key] is None for key in rules.keys):
        message = f"null key: {event}"
        raise Refused(message)


def snapshot_events(snapshots: Sequence[tuple[Value, Sequence[Row]]], keys: tuple[str, ...]) -> list[Event]:
    """The events between (version, whole table) pairs: present rows are upserted, missing ones deleted."""
    events: list[Event] = []
    present: dict[str, Row] = {}
    for version, rows in snapshots:
        now = {repr([row[key] for key in keys]): row for row in rows}
        events += [Event("upsert", version, row) for row in now.values()]
        events += [Event("delete", version, row) for key, row in present.items() if key not in now]
        present = now
    return events


def _precedence(event: Event, rules: Rules) -> tuple[Any, ...]:
    """Sort key of events at one sequence; the last wins: SCD1 the upsert, SCD2 the delete, then the greatest row."""
    winner = "upsert" if rules.scd_type == 1 else "delete"
    return (event.kind == winner, tuple(rank(event.row.get(column)) for column in rules.columns))


def _fold(history: Sequence[Event], rules: Rules) -> list[Version]:
    tracked = set(rules.columns) - set(rules.keys) if rules.tracked is None else rules.tracked
    versions: list[Version] = []
    row: Row = {}
    for event in history:
        last = versions[-1] if versions and versions[-1].end is None else None
        if event.kind == "upsert":
            row = {column: _written(row, event, column, rules) for column in rules.columns}
            if last and all(last.row[column] == row[column] for column in tracked):
                last.row = row
                continue
            versions.append(Version(row, event.sequence))
        else:
            row = {}
        if last:
            last.end = event.sequence
    return versions


def _written(stored: Row, event: Event, column: str, rules: Rules) -> Value:
    old, new = stored.get(column), event.row.get(column)
    # A column missing from the source keeps its stored value in type 1 and is NULL in type 2's new version.
    if (column not in event.row and rules.scd_type == 1) or (
        event.authored is not None and column not in event.authored and column not in rules.keys
    ):
        return old
    return _leaves(old, new) if column in rules.ignore_nulls else new


def _leaves(old: Value, new: Value) -> Value:
    """``new`` with its nulls filled from ``old``, field by field."""
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        return {name: _leaves(old.get(name), value) for name, value in new.items()}
    return old if new is None else new


def _visible(version: Version, rules: Rules) -> bool:
    return rules.scd_type == 2 or version.end is None


def _shown(version: Version, rules: Rules) -> dict[str, Value]:
    return dict(version.row) | ({START: version.start, END: version.end} if rules.scd_type == 2 else {})
