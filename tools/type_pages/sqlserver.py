"""SQL Server's types, from the scripted table with a column of each and the captures of its records."""

import gzip
import itertools
import json
from collections.abc import Mapping
from functools import cache
from typing import Any

from tools.captures import Record
from tools.type_captures import SCENARIO, TABLE, Modes, capture_file
from tools.type_pages import page


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


@cache
def _row_images() -> Mapping[str, Mapping[str, Any]]:
    """The connector's record of the scripted table's first row, by topic prefix."""
    with gzip.open(capture_file("3.6.1.Final", with_schema=False), "rt", encoding="utf-8") as lines:
        records = [Record.from_line(line) for line in lines]
    first = {record.topic: json.loads(record.value or b"")["after"] for record in records if record.offset == 0}
    return {topic.removesuffix(f".{TABLE}"): image for topic, image in first.items()}


def _image(modes: page.Modes) -> Mapping[str, Any]:
    return _row_images()[Modes(*(modes[name] for name in _MODES)).prefix]


_MODES = {
    "time_precision_mode": (
        *("adaptive", "adaptive_time_microseconds", "connect", "isostring", "microseconds", "nanoseconds"),
    ),
    "decimal_handling_mode": ("precise", "double", "string"),
    "binary_handling_mode": ("bytes", "base64", "base64-url-safe", "hex"),
}

PAGE = page.Page("sqlserver", _columns(), _scripted_row(), _image, _MODES)
