"""MongoDB's types, from the scripted document with a field of each and the connector's record of it."""

import gzip
import json
from collections.abc import Mapping
from functools import cache
from typing import Any

from tools.captures import Record
from tools.mongodb_captures import SCENARIO, capture_file
from tools.type_pages.page import Modes, Page

_COLLECTION = "lab.types"
_COLUMNS = {
    "text": "string",
    "yes": "boolean",
    "int": "int",
    "long": "long",
    "double": "double",
    "small_decimal": "decimal(18,2)",
    "decimal_nan": "decimal128",
    "date": "date",
    "object_id": "objectid",
    "bytes": "binary",
    "uuid": "uuid",
    "timestamp": "timestamp",
    "array": "json",
}
"""Field of the document -> the type that it is an example of."""


def _written() -> Mapping[str, Any]:
    steps = json.loads(SCENARIO.read_text(encoding="utf-8"))
    document: Mapping[str, Any] = next(step["documents"][0] for step in steps if step.get("seed") == _COLLECTION)
    return {name: json.dumps(document[name], ensure_ascii=False) for name in _COLUMNS}


@cache
def _document() -> Mapping[str, Any]:
    with gzip.open(capture_file("3.6.1.Final", with_schema=False), "rt", encoding="utf-8") as lines:
        records = (Record.from_line(line) for line in lines)
        first = next(record for record in records if record.topic == f"update_full.server1.{_COLLECTION}")
    document: Mapping[str, Any] = json.loads(json.loads(first.value or b"")["after"])
    return document


def _image(modes: Modes) -> Mapping[str, Any]:
    return _document()


PAGE = Page("mongodb", _COLUMNS, _written(), _image)
