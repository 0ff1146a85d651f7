"""A table as an import reads it from a data flow, and its spec as YAML."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from cdc.spec.kinds import kind_of
from cdc.spec.model import Action, ConnectorSpec, WithinTransaction
from cdc.spec.scaffold import column_key

_PLAIN = re.compile(r"[A-Za-z_][\w.-]*( ([\w.()]+|[<>=]+))*", re.ASCII)
_NOT_STRINGS = ("true", "false", "null")


@dataclass(frozen=True)
class Imported:
    """One table; column names are the source's."""

    source: str
    name: str
    topic: str
    schemas: Mapping[str, str] = field(default_factory=dict)
    """Layer -> schema, of bronze and silver."""
    key: tuple[str, ...] = ()
    """Empty: append-only."""
    history: bool | Mapping[str, list[str]] = True
    expectations: Mapping[str, tuple[str, Action]] = field(default_factory=dict)
    row_filter: str | None = None
    comment: str | None = None
    cluster_by: tuple[str, ...] = ()
    tombstone_seconds: int | None = None
    properties: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Layer -> table properties."""
    renames: Mapping[str, str] = field(default_factory=dict)
    excluded: tuple[str, ...] = ()
    within_transaction: WithinTransaction | None = None
    """What the sequence says of the connector; None if it says nothing."""


_TWO_DAYS = 172_800
_UNITS = {"days": 86_400, "hours": 3_600, "minutes": 60}


def table_yaml(table: Imported, topic: str | None, schemas: Mapping[str, str]) -> str:
    """The table's spec, without the types of its columns.

    Args:
        table: as imported.
        topic: its topic, if that is not the one of the connector's pattern.
        schemas: those that the connector does not set.
    """
    lines = [
        "# yaml-language-server: $schema=../../schema/table.schema.json",
        f"table: {written(table.source)}",
        *([] if table.name == table.source.rpartition(".")[2].lower() else [f"name: {table.name}"]),
        *([f"topic: {written(topic)}"] if topic else []),
        f"key: {written(list(table.key))}" if table.key else "append_only: true",
        *([] if not table.key else [f"history: {written(table.history)}"]),
        *([f"comment: {written(table.comment)}"] if table.comment else []),
        *([f"filter: {written(table.row_filter)}"] if table.row_filter else []),
        *([f"cluster_by: {written(list(table.cluster_by))}"] if table.cluster_by else []),
        *_retention(table),
        *([f"target_schemas: {written(schemas)}"] if schemas else []),
        *([f"table_properties: {written(table.properties)}"] if any(table.properties.values()) else []),
        *_expectations(table),
        *_columns(table),
    ]
    return "\n".join(lines) + "\n"


def connector_yaml(connector: ConnectorSpec, schemas: Mapping[str, str]) -> str:
    """A connector's spec."""
    default = ConnectorSpec("", "")
    lines = [
        "# yaml-language-server: $schema=../schema/connector.schema.json",
        f"topic_prefix: {connector.topic_prefix}",
        *(
            [f"topic_pattern: {written(connector.topic_pattern)}"]
            if connector.topic_pattern not in ("", kind_of(connector).topic_patterns[0])
            else []
        ),
        *(
            [f"within_transaction: {connector.within_transaction}"]
            if connector.within_transaction != default.within_transaction
            else []
        ),
        *([f"target_schemas: {written(schemas)}"] if schemas else []),
    ]
    return "\n".join(lines) + "\n"


def written(value: Any) -> str:
    """A value as YAML in one line; texts that could be something else are in quotes.

    >>> written({"a": "total >= 0", "b": ["true", "x, y"]})
    '{a: total >= 0, b: ["true", "x, y"]}'
    """
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{column_key(name)}: {written(each)}" for name, each in value.items()) + "}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(written, value))}]"
    if isinstance(value, str) and _PLAIN.fullmatch(value) and value.lower() not in _NOT_STRINGS:
        return value
    return json.dumps(value, ensure_ascii=False)


def duration(seconds: int) -> str:
    """A duration as a spec writes it, in the largest unit that fits.

    >>> duration(172_800), duration(90), duration(0)
    ('2 days', '90 seconds', '0 seconds')
    """
    fitting = (f"{seconds // size} {unit}" for unit, size in _UNITS.items() if seconds and seconds % size == 0)
    return next(fitting, f"{seconds} seconds")


def _retention(table: Imported) -> Iterator[str]:
    if table.tombstone_seconds is not None:
        yield f"tombstone_retention: {duration(table.tombstone_seconds)}"
        if table.tombstone_seconds < _TWO_DAYS:
            yield "allow_short_retention: true"


def _expectations(table: Imported) -> Iterator[str]:
    if table.expectations:
        yield "expectations:"
    for name, (condition, action) in table.expectations.items():
        value = condition if action == "warn" else {"condition": condition, "action": action}
        yield f"  {column_key(name)}: {written(value)}"


def _columns(table: Imported) -> Iterator[str]:
    """The columns of which more than the type is known; `scaffold --update` adds the others, and all types."""
    known = [f"  {column_key(source)}: {written({'rename': target})}" for source, target in table.renames.items()]
    known += [f"  {column_key(name)}: {{exclude: true}}" for name in table.excluded if name not in table.renames]
    yield "columns:" if known else "columns: {}"
    yield from known
