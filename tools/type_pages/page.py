"""The page of one connector kind's types: a line for each type and group of equivalent modes."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from cdc.debezium.values import conversion_of
from cdc.spec.kinds import kind_of
from cdc.spec.model import ColumnSpec, ConnectorSpec

Modes = Mapping[str, str]
"""Field of a connector spec, such as `time_precision_mode` -> its value."""
Line = tuple[str, str, str]
"""How a value is encoded, its target type, and an example of its encoding."""
_HEAD = (
    "| type | mode | over the wire | in silver and gold | at the source | in the record |",
    "|---|---|---|---|---|---|",
)


@dataclass(frozen=True)
class Page:
    """What the page of a kind is made from: a table with a column of each type, and the connector's records of it."""

    kind: str
    columns: Mapping[str, str]
    """Column -> type as in DDL."""
    source: Mapping[str, Any]
    """Column -> its value at the source."""
    image: Callable[[Modes], Mapping[str, Any]]
    """The connector's row image of these values in some modes."""
    modes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Field of a connector spec -> the values of which the image exists: the default first."""
    notes: Mapping[str, str] = field(default_factory=dict)
    """Column -> what its line says after its type."""

    def text(self) -> str:
        """The page's table."""
        named = {name: f"`{type_}`" for name, type_ in self.columns.items()}
        named |= {name: f"{named[name]}, {note}" for name, note in self.notes.items()}
        lines = [
            f"| {named[name]} | {modes} | {wire} | {target} | `{_shown(self.source[name])}` | `{example}` |"
            for name, type_ in self.columns.items()
            for modes, (wire, target, example) in self._lines(name, type_)
        ]
        return "\n".join([*_HEAD, *lines]) + "\n"

    def _lines(self, name: str, type_: str) -> Iterator[tuple[str, Line]]:
        """Groups of equivalent modes, with the line that they have in common."""
        default = {mode: values[0] for mode, values in self.modes.items()}
        for dimension, values in self.modes.items():
            by_mode = {value: self._line(name, type_, {**default, dimension: value}) for value in values}
            equivalent: dict[Line, list[str]] = {}
            for value, line in by_mode.items():
                equivalent.setdefault(line, []).append(value)
            if len(equivalent) > 1:
                yield from ((", ".join(group), line) for line, group in equivalent.items())
                return
        yield "any", self._line(name, type_, default)

    def _line(self, name: str, type_: str, modes: Modes) -> Line:
        connector = replace(ConnectorSpec("shop", "shopserver", kind=self.kind), **modes)  # type: ignore[arg-type]
        source_type, _ = kind_of(connector).parse_type(type_)
        conversion = conversion_of(ColumnSpec(name, source_type, name), connector)
        example = json.dumps(self.image(modes)[name], ensure_ascii=False)
        return conversion.wire, conversion.target, example.replace("|", "\\|")


def _shown(value: Any) -> str:
    return (json.dumps(value) if isinstance(value, bool) else str(value)).replace("|", "\\|")
