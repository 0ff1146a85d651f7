"""Faults and tables of a conf folder as text, as JSON, or as annotations of GitHub."""

import json
from collections.abc import Iterable, Iterator, Sequence

from cdc.errors import Diagnostic
from cdc.spec.model import ConnectorSpec, TableSpec


def as_json(found: Iterable[Diagnostic], tables: Iterable[TableSpec]) -> str:
    """One JSON object: `faults` (warnings too, by `severity`) and `tables`."""
    faults = [
        {
            "condition": each.condition.name,
            "severity": each.severity,
            "file": each.location.file,
            "line": each.location.line,
            "column": each.location.column,
            "table": each.table,
            "value": each.value,
            "near_match": each.near_match,
            "detail": each.detail,
            "fix": each.fix,
        }
        for each in found
    ]
    of_tables = [
        {
            "connector": each.connector.name,
            "table": each.source,
            "name": each.name,
            "key": each.key,
            "columns": len(each.columns),
            "keeps": _keeps(each),
            "topic": each.topic,
        }
        for each in tables
    ]
    return json.dumps({"faults": faults, "tables": of_tables}, ensure_ascii=False, indent=2)


def as_annotation(found: Diagnostic) -> str:
    """A fault as a workflow command of GitHub Actions, which shows it beside its line."""
    near = f" (did you mean `{found.near_match}`?)" if found.near_match else ""
    place = {"file": found.location.file, "line": found.location.line, "col": found.location.column}
    properties = {name: value for name, value in place.items() if value} | {"title": found.condition.name}
    written = ",".join(f"{name}={_escaped(str(value), ':,')}" for name, value in properties.items())
    return f"::{found.severity} {written}::{_escaped(f'{found.detail}{near}{chr(10)}fix: {found.fix}')}"


def _escaped(text: str, signs: str = "") -> str:
    """A text as GitHub reads it; in properties, colons and commas are escaped too."""
    for sign in ("%", "\r", "\n", *signs):
        text = text.replace(sign, f"%{ord(sign):02X}")
    return text


def summary(tables: Sequence[TableSpec], connectors: Sequence[ConnectorSpec]) -> str:
    """One aligned line per table, and the counts."""
    headings = ("CONNECTOR", "TABLE", "NAME", "KEY", "COLUMNS", "KEEPS", "TOPIC")
    lines = aligned([headings, *map(_summary_row, tables)])
    counts = f"{counted(len(tables), 'table')} of {counted(len(connectors), 'connector')}, no faults"
    return "\n".join([*lines, "", counts])


def aligned(rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    """Each row as a line, its cells in columns."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def counted(count: int, noun: str) -> str:
    """A number with its noun: ``1 fault``, ``2 faults``."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _summary_row(table: TableSpec) -> tuple[str, ...]:
    key = ", ".join(table.key) or "-"
    columns = str(len(table.columns))
    return (table.connector.name, table.source, table.name, key, columns, _keeps(table), table.topic)


def _keeps(table: TableSpec) -> str:
    return "changes" if table.append_only else "history" if table.history else "current rows"
