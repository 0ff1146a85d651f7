"""PostgreSQL's types, from the table with a column of each and the captures of its records."""

import gzip
import json
from collections.abc import Mapping
from functools import cache
from typing import Any

from cdc.spec.kinds.postgresql import UNKNOWN
from tools.captures import Record
from tools.postgresql_connector.types import Modes, capture_file, columns, combinations, domains, shown_rows
from tools.type_pages import page

_EXAMPLES = ("1", "65", "68")
"""Rows that together have a value of each type."""


def _columns() -> dict[str, str]:
    return {name: type_ for name, type_ in columns("types").items() if name != "id"}


def _source() -> dict[str, Any]:
    """The values of the examples, as the server shows them."""
    by_id = {row["id"]: row for row in shown_rows()}
    found = {name: value for id_ in _EXAMPLES for name, value in by_id[id_].items() if value is not None}
    return {**dict.fromkeys(_columns()), **found}


@cache
def _row_images() -> Mapping[str, Mapping[str, Any]]:
    """What the connector's records of the examples have, by topic prefix."""
    found: dict[str, dict[str, Any]] = {}
    with gzip.open(capture_file("3.6.1.Final", with_schema=False), "rt", encoding="utf-8") as lines:
        for record in map(Record.from_line, lines):
            prefix, _, table = record.topic.rpartition(".public.")
            row = json.loads(record.value or b"{}").get("after")
            if table == "types" and row and str(row["id"]) in _EXAMPLES:
                image = found.setdefault(prefix, dict.fromkeys(_columns()))
                image.update({name: value for name, value in row.items() if value is not None})
    return found


def _image(modes: page.Modes) -> Mapping[str, Any]:
    """Each value from the first run with the mode that its type has: each mode was in a run, not every combination."""
    return {name: _row_images()[_run(type_, modes).prefix][name] for name, type_ in _columns().items()}


def _run(type_: str, modes: page.Modes) -> Modes:
    name = type_.partition("(")[0].removesuffix("[]")
    mode = _mode(name)
    found = (each for each in _RUNS if mode is None or getattr(each, _FIELDS[mode]) == modes[mode])
    return next(each for each in found if name not in UNKNOWN or each.unknown == "true")


def _mode(name: str) -> str | None:
    """The one mode that decides how values of a type are written."""
    if name == "bytea" or name in UNKNOWN:
        return "binary_handling_mode"
    return {
        **dict.fromkeys(("date", "time", "timestamp"), "time_precision_mode"),
        **dict.fromkeys(("numeric", "money"), "decimal_handling_mode"),
        "interval": "interval_handling_mode",
        "hstore": "hstore_handling_mode",
    }.get(name)


_FIELDS = {
    "time_precision_mode": "temporal",
    "decimal_handling_mode": "decimal",
    "binary_handling_mode": "binary",
    "interval_handling_mode": "interval",
    "hstore_handling_mode": "hstore",
}
"""Field of a connector spec -> that of a run's modes."""
_RUNS: tuple[Modes, ...] = combinations("3.6.1.Final")
_MODES = {name: tuple(dict.fromkeys(getattr(run, field) for run in _RUNS)) for name, field in _FIELDS.items()}


PAGE = page.Page("postgresql", _columns(), _source(), _image, _MODES, domains("types"))
