"""Db2's types, from the scripted table with a column of each and the captures of its records."""

import gzip
import json
from collections.abc import Mapping
from functools import cache
from typing import Any

from tools.captures import Record
from tools.db2_connector.captures import DECIMAL, SCENARIO, TABLE, TEMPORAL, capture_file
from tools.type_pages.page import Modes, Page

_SCENARIO: Mapping[str, Any] = json.loads(SCENARIO.read_text(encoding="utf-8"))


@cache
def _row_images() -> Mapping[str, Mapping[str, Any]]:
    """The connector's record of the scripted table's first row, by topic prefix."""
    with gzip.open(capture_file("3.6.1.Final", with_schema=False), "rt", encoding="utf-8") as lines:
        records = [Record.from_line(line) for line in lines]
    first = {record.topic: json.loads(record.value or b"")["after"] for record in records if record.offset == 0}
    return {topic.removesuffix(f".{TABLE}"): image for topic, image in first.items()}


def _image(modes: Modes) -> Mapping[str, Any]:
    return _row_images()[f"{modes['time_precision_mode']}.{modes['decimal_handling_mode']}"]


PAGE = Page(
    "db2",
    {name: type_ for name, type_ in _SCENARIO["columns"].items() if name != "ID"},
    _SCENARIO["snapshot"][0],
    _image,
    {"time_precision_mode": TEMPORAL["3.6.1.Final"], "decimal_handling_mode": DECIMAL},
)
