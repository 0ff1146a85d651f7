"""MariaDB's and MySQL's types, from the table with a column of each and the captures of its records."""

import gzip
import json
from collections.abc import Mapping
from functools import cache
from typing import Any

from tools.binlog_connector.types import CAPTURES, Capture, Modes, columns, combinations, rows
from tools.captures import Record
from tools.type_pages import page

_DIMENSIONS = {
    "time_precision_mode": "temporal",
    "decimal_handling_mode": "decimal",
    "binary_handling_mode": "binary",
    "bigint_unsigned_handling_mode": "unsigned",
}
"""Field of a connector spec -> that of a combination of modes."""
_DEFAULT = combinations(CAPTURES[0].version)[0]
_LEFT_OUT = ("id", "c_virtual", "c_stored", "c_varchar_binary", "c_varchar_utf8mb4", "c_datetime_1", "c_datetime_4")
"""Columns of types that others have too."""
MODES = {
    "time_precision_mode": (*("adaptive_time_microseconds", "connect", "isostring", "microseconds", "nanoseconds"),),
    "decimal_handling_mode": ("precise", "double", "string"),
    "binary_handling_mode": ("bytes", "base64", "base64-url-safe", "hex"),
    "bigint_unsigned_handling_mode": ("long", "precise"),
}


def type_columns(server: str, kind: str) -> dict[str, str]:
    """A column of each type, as in a spec."""
    found = columns(server, kind)
    kept = {name: type_ for name, type_ in found.items() if name not in _LEFT_OUT and " not null" not in type_}
    return {name: type_.removesuffix(" null") for name, type_ in kept.items()}


def source(names: Mapping[str, str]) -> dict[str, Any]:
    """The values of some columns, as inserted."""
    return {name: rows(streamed=False)[0][name] for name in names}


def image(capture: Capture, modes: page.Modes) -> Mapping[str, Any]:
    """The connector's row image of these values: each from the first combination with the mode that its type has."""
    images = _images(capture)
    return {
        name: images[_combination(capture, mode, modes[mode]).prefix if mode else _DEFAULT.prefix][name]
        for name, mode in (
            (name, _mode(type_)) for name, type_ in columns(capture.server, capture.version.kind).items()
        )
    }


def _mode(type_: str) -> str | None:
    """The one mode that decides how values of a type are written."""
    name = type_.partition("(")[0].partition(" ")[0]
    if name.endswith(("binary", "blob")) or "character set binary" in type_:
        return "binary_handling_mode"
    if type_.startswith("bigint unsigned"):
        return "bigint_unsigned_handling_mode"
    return {
        "decimal": "decimal_handling_mode",
        **dict.fromkeys(("date", "time", "datetime"), "time_precision_mode"),
    }.get(name)


def _combination(capture: Capture, mode: str, value: str) -> Modes:
    return next(each for each in combinations(capture.version) if getattr(each, _DIMENSIONS[mode]) == value)


@cache
def _images(capture: Capture) -> Mapping[str, Mapping[str, Any]]:
    """The connector's record of the table's first row, by topic prefix."""
    with gzip.open(capture.file(with_schema=False), "rt", encoding="utf-8") as lines:
        records = [Record.from_line(line) for line in lines]
    first = {record.topic: json.loads(record.value or b"")["after"] for record in records if record.offset == 0}
    return {topic.removesuffix(".shop.types"): image for topic, image in first.items()}


def capture_of(kind: str, number: str) -> Capture:
    """The capture of a version over its own server."""
    found = (each for each in CAPTURES if (each.version.kind, each.version.number, each.server) == (kind, number, kind))
    return next(found)
