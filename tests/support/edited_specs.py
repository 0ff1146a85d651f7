"""Random edits of table specs, and random changes of the source tables that the specs describe."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

from tests.support.records import Record, Topic

_CHANGES = 6
_KEYS = range(1, 5)

Options = Mapping[str, str]
"""Options of a column, such as ``{"type": "int", "rename": "number"}``."""


@dataclass(frozen=True)
class Spec:
    """A table's spec, as a mapping that `text` writes as YAML."""

    columns: Mapping[str, Options]
    key: tuple[str, ...] = ("id",)
    more: Mapping[str, str] = field(default_factory=dict)
    """Other fields of the table."""

    def text(self, table: str) -> str:
        """The file."""
        head = [f"table: shop.dbo.{table}", f"key: [{', '.join(self.key)}]"]
        fields = [f"{name}: {value}" for name, value in self.more.items()]
        columns = [f"  {name}: {{{_flow(options)}}}" for name, options in self.columns.items()]
        return "\n".join([*head, *fields, "columns:", *columns, ""])

    def column(self, name: str, **options: str | None) -> Spec:
        """The spec with other options of a column; None takes an option out."""
        merged = {**self.columns.get(name, {}), **options}
        kept = {option: value for option, value in merged.items() if value is not None}
        return replace(self, columns={**self.columns, name: kept})

    def field(self, name: str, value: str | None) -> Spec:
        """The spec with another field of the table; None takes it out."""
        merged = {**self.more, name: value}
        return replace(self, more={each: text for each, text in merged.items() if text is not None})


def _flow(options: Options) -> str:
    return ", ".join(f"{name}: '{value}'" if name == "type" else f"{name}: {value}" for name, value in options.items())


FIRST = Spec(
    {
        "id": {"type": "int"},
        "region": {"type": "nvarchar(10) not null"},
        "name": {"type": "nvarchar(20) not null"},
        "price": {"type": "decimal(9,2)"},
        "email": {"type": "nvarchar(50)"},
        "tier": {"type": "smallint", "nullable": "false"},
    }
)
"""The spec of every table at first. `seen` is in all records, and `note` in those from the second delivery on."""

EDITS: Mapping[str, Callable[[Spec], Spec]] = {
    "column that records have": lambda spec: spec.column("seen", type="int"),
    "new column": lambda spec: spec.column("note", type="nvarchar(10)"),
    "new column of another type": lambda spec: spec.column("placed", type="datetime2(7)"),
    "new NOT NULL column": lambda spec: spec.column("note", type="nvarchar(10) not null", nullable=None),
    "column left out": lambda spec: replace(
        spec, columns={name: options for name, options in spec.columns.items() if name != "price"}
    ),
    "wider decimal": lambda spec: spec.column("price", type="decimal(18,2)"),
    "widest decimal": lambda spec: spec.column("price", type="decimal(38,2)"),
    "more decimal places": lambda spec: spec.column("price", type="decimal(20,4)"),
    "wider integer": lambda spec: spec.column("tier", type="int"),
    "widest integer": lambda spec: spec.column("tier", type="bigint"),
    "longer text": lambda spec: spec.column("email", type="nvarchar(80)"),
    "null allowed": lambda spec: spec.column("tier", nullable=None),
    "null not allowed": lambda spec: spec.column("tier", nullable="false"),
    "renamed": lambda spec: spec.column("name", rename="title"),
    "masked": lambda spec: spec.column("email", mask="sha256", exclude=None),
    "masked otherwise": lambda spec: spec.column("email", mask="redacted", exclude=None),
    "excluded": lambda spec: spec.column("email", exclude="true", mask=None),
    "other key": lambda spec: replace(spec, key=("region", "id")),
    "key in another order": lambda spec: replace(spec, key=tuple(reversed(spec.key))),
    "no history": lambda spec: spec.field("history", "false"),
    "tracked columns": lambda spec: spec.field("history", "{track: [tier]}"),
    "all columns tracked": lambda spec: spec.field("history", None),
    "names of gold": lambda spec: spec.field("gold", "{history: versions_of_$table}"),
    "comment": lambda spec: spec.field("comment", "Other words"),
    "expectation": lambda spec: spec.field("expectations", "{known_tier: tier > 0}"),
    "clustering": lambda spec: spec.field("cluster_by", "[region]"),
    "filter": lambda spec: spec.field("filter", "tier > 1"),
    "another filter": lambda spec: spec.field("filter", "\"region = 'north'\""),
    "no filter": lambda spec: spec.field("filter", None),
    "computed column": lambda spec: spec.field("computed", "{twice: tier * 2}"),
    "computed otherwise": lambda spec: spec.field("computed", "{twice: tier * 3}"),
    "soft deletes": lambda spec: spec.field("deletes", "soft"),
    "hard deletes": lambda spec: spec.field("deletes", None),
    "expectation that drops": lambda spec: spec.field("expectations", "{low: {condition: tier < 3, action: drop}}"),
    "quarantine": lambda spec: spec.field("expectations", "{low: {condition: tier < 3, action: quarantine}}"),
    "as at first": lambda spec: FIRST,
}
"""What users do to a spec, by its name in messages. An edit that is already made changes nothing."""


@dataclass
class SourceTable:
    """A table at the source, and the spec that describes it."""

    name: str
    random: Random
    spec: Spec = FIRST
    edits: list[str] = field(default_factory=list)
    """What was done so far, for messages."""
    _rows: dict[int, dict[str, Any]] = field(default_factory=dict)
    _changes: int = 0
    _deliveries: int = 0
    _delivered: list[Record] = field(default_factory=list)

    def edit(self) -> None:
        """Make one random edit."""
        edit = self.random.choice(sorted(EDITS))
        self.spec = EDITS[edit](self.spec)
        self.edits.append(edit)

    def text(self) -> str:
        """The spec's file."""
        return self.spec.text(self.name).replace("$table", self.name)

    def deliver(self) -> list[Record]:
        """Changes since the last delivery, with records of earlier ones delivered again."""
        self._deliveries += 1
        new = list(self._change() for _ in range(_CHANGES))
        again = self.random.sample(self._delivered, min(2, len(self._delivered)))
        self._delivered += new
        return [*again, *new]

    def _change(self) -> Record:
        self._changes += 1
        key = self.random.choice(_KEYS)
        topic = Topic(f"shopserver.shop.dbo.{self.name}")
        is_new = key not in self._rows
        if not is_new and self.random.random() < 0.25:
            return self._at(topic.delete(**self._rows.pop(key)))
        # The region never changes: it may become part of the key.
        self._rows[key] = dict(self._row(key))
        record = topic.create if is_new else topic.update
        return self._at(record(**self._rows[key]))

    def _row(self, key: int) -> Iterator[tuple[str, Any]]:
        random = self.random
        yield "id", key
        yield "region", "north" if key % 2 else "south"
        yield "name", random.choice(("a", "b"))
        yield "price", random.choice((None, _decimal(100), _decimal(-5)))
        yield "email", random.choice((None, "a@b", "c@d"))
        yield "tier", random.choice((1, 2, 3, None))
        yield "seen", random.choice((None, 7, 8))
        if self._deliveries > 1:
            yield "note", random.choice(("x", "y"))
            yield "placed", random.choice((None, 1_772_366_400_000_000_000))

    def _at(self, record: Record) -> Record:
        return record.at(f"30:{self._changes:x}:1", serial=1)


def _decimal(unscaled: int) -> str:
    return base64.b64encode(unscaled.to_bytes(4, "big", signed=True)).decode()
