"""Read Delta tables into plain values without Spark, and compare them row for row."""

import datetime
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
from deltalake import DeltaTable, QueryBuilder
from tests.conformance.case import Rows

Row = Mapping[str, Any]
_TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?")


def read(folder: Path) -> Rows:
    """All rows of the Delta table in this folder."""
    batches = QueryBuilder().register("t", DeltaTable(str(folder))).execute("SELECT * FROM t").read_all()
    table = pa.table(batches)
    values = [[_plain(value, field.type) for value in table[field.name].to_pylist()] for field in table.schema]
    return [dict(zip(table.schema.names, row, strict=True)) for row in zip(*values, strict=True)]


def columns(folder: Path) -> list[str]:
    """Column names of the Delta table in this folder, in order."""
    return [field.name for field in DeltaTable(str(folder)).schema().fields]


def difference(expected: Iterable[Row], got: Iterable[Row]) -> str:
    """The rows in only one of two tables, one a line; empty if the tables are equal, in any order."""
    wanted, actual = Counter(map(_text, expected)), Counter(map(_text, got))
    missing = [f"- {row}" for row in sorted((wanted - actual).elements())]
    surplus = [f"+ {row}" for row in sorted((actual - wanted).elements())]
    return "\n".join(missing + surplus)


def _text(row: Row) -> str:
    return json.dumps(_canonical(row), sort_keys=True, ensure_ascii=False)


def _plain(value: Any, kind: pa.DataType) -> Any:
    """The JSON form of an Arrow value."""
    if value is None:
        return None
    if pa.types.is_map(kind):
        return {str(key): _plain(item, kind.item_type) for key, item in value}
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return [_plain(item, kind.value_type) for item in value]
    if pa.types.is_struct(kind):
        return {field.name: _plain(value[field.name], field.type) for field in kind}
    return value


def _canonical(value: Any) -> Any:
    """One form for equal values: 1.0 is 1, a timestamp is UTC to the microsecond, a date is ISO text."""
    if isinstance(value, Mapping):
        return {name: _canonical(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_canonical(item) for item in value]
    if isinstance(value, Decimal | float) and not isinstance(value, bool):
        return int(value) if value == int(value) else float(value)
    if isinstance(value, datetime.datetime):
        aware = value if value.tzinfo else value.replace(tzinfo=datetime.UTC)
        return aware.astimezone(datetime.UTC).isoformat(" ")
    if isinstance(value, datetime.date):
        return value.isoformat()
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    if isinstance(value, str) and _TIMESTAMP.fullmatch(value):
        return _canonical(datetime.datetime.fromisoformat(value))
    return value
