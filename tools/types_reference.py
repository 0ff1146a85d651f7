"""Generation of the tables in docs/types.md and docs/rejects.md, from the decoder and the connector's records."""

import gzip
import itertools
import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from cdc.debezium.rejects import Reason
from cdc.debezium.values import conversion_of
from cdc.spec.model import ColumnSpec, ConnectorSpec
from cdc.spec.sqlserver_types import parse_type
from tools.captures import Record
from tools.type_captures import SCENARIO, TABLE, Modes, capture_file

DOCS = Path(__file__).resolve().parents[1] / "docs"
MARKS = {
    "types.md": "<!-- what follows is made by `python -m tools.types_reference` -->\n\n",
    "rejects.md": "<!-- what follows is made by `python -m tools.types_reference` -->\n\n",
}
_CONNECTOR = ConnectorSpec("shop", "shopserver")
_DEFAULT = Modes("adaptive", "precise", "bytes")
_DIMENSIONS: Mapping[str, tuple[str, ...]] = {
    "temporal": ("adaptive", "adaptive_time_microseconds", "connect", "isostring", "microseconds", "nanoseconds"),
    "decimal": ("precise", "double", "string"),
    "binary": ("bytes", "base64", "base64-url-safe", "hex"),
}
Line = tuple[str, str, str]
"""How a value is encoded, its target type, and an example of its encoding."""


def types() -> str:
    """One line per type and group of equivalent modes."""
    images = _row_images()
    source = _scripted_row()
    head = [
        "| type | mode | over the wire | in silver and gold | at the source | in the record |",
        "|---|---|---|---|---|---|",
    ]
    lines = [
        f"| `{type_}` | {modes} | {wire} | {target} | `{_shown(source[name])}` | `{example}` |"
        for name, type_ in _columns().items()
        for modes, (wire, target, example) in _lines(name, type_, images)
    ]
    return "\n".join([*head, *lines]) + "\n"


def reasons() -> str:
    """One line per reason of a reject."""
    lines = [f"| {reason.name} | {reason.value} |" for reason in Reason]
    return "\n".join(["| reason | when |", "|---|---|", *lines]) + "\n"


def _lines(name: str, type_: str, images: Mapping[str, Mapping[str, Any]]) -> Iterator[tuple[str, Line]]:
    """Groups of equivalent modes, with the line that they have in common."""
    for dimension, modes in _DIMENSIONS.items():
        by_mode = {mode: _line(name, type_, _DEFAULT._replace(**{dimension: mode}), images) for mode in modes}
        equivalent: dict[Line, list[str]] = {}
        for mode, line in by_mode.items():
            equivalent.setdefault(line, []).append(mode)
        if len(equivalent) > 1:
            yield from ((", ".join(group), line) for line, group in equivalent.items())
            return
    yield "any", _line(name, type_, _DEFAULT, images)


def _line(name: str, type_: str, modes: Modes, images: Mapping[str, Mapping[str, Any]]) -> Line:
    connector = replace(
        _CONNECTOR,
        time_precision_mode=modes.temporal,
        decimal_handling_mode=modes.decimal,
        binary_handling_mode=modes.binary,
    )
    source_type, _ = parse_type(type_)
    conversion = conversion_of(ColumnSpec(name, source_type, name), connector)
    example = json.dumps(images[modes.prefix][name], ensure_ascii=False)
    return conversion.wire, conversion.target, example


def _row_images() -> dict[str, Mapping[str, Any]]:
    """The connector's record of the scripted table's first row, by topic prefix."""
    with gzip.open(capture_file("3.6.1.Final", with_schema=False), "rt", encoding="utf-8") as lines:
        records = [Record.from_line(line) for line in lines]
    first = {record.topic: json.loads(record.value or b"")["after"] for record in records if record.offset == 0}
    return {topic.removesuffix(f".{TABLE}"): image for topic, image in first.items()}


def _steps() -> list[dict[str, Any]]:
    steps: list[dict[str, Any]] = json.loads(SCENARIO.read_text(encoding="utf-8"))
    return steps


def _columns() -> dict[str, str]:
    columns: dict[str, str] = next(step["columns"] for step in _steps() if "columns" in step)
    return {name: type_ for name, type_ in columns.items() if name != "id"}


def _scripted_row() -> dict[str, Any]:
    """The row as inserted; the server generates the rowversion."""
    rows = itertools.chain.from_iterable(step.get("rows", ()) for step in _steps())
    return {"c_rowversion": "00000000000007D1", **next(rows)}


def _shown(value: Any) -> str:
    return json.dumps(value) if isinstance(value, bool) else str(value)


@click.command(name="types_reference")
def main() -> None:
    """Rewrite the generated parts of docs/types.md and docs/rejects.md."""
    for name, generated in (("types.md", types()), ("rejects.md", reasons())):
        page = DOCS / name
        written, mark, _ = page.read_text(encoding="utf-8").partition(MARKS[name])
        page.write_text(written + (mark or MARKS[name]) + generated, encoding="utf-8")
        click.echo(f"written {page.name}")


if __name__ == "__main__":
    main()
