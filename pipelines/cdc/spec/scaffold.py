"""Table specs generated from a connector's schema-change records: columns, types and key."""

import json
import re
import string
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from cdc.spec.reserved import allowed_target
from cdc.spec.schema_faults import flow
from cdc.spec.sqlserver_types import OMITTED, TypeFault, parse_type

_LENGTH = ("char", "varchar", "nchar", "nvarchar", "binary", "varbinary")
_FRACTION = ("time", "datetime2", "datetimeoffset")


@dataclass(frozen=True)
class SourceTable:
    """A table as a schema-change record describes it."""

    source: str
    """Full name: ``shop.dbo.orders``."""
    topic_prefix: str
    key: tuple[str, ...]
    columns: tuple[tuple[str, str, bool], ...]
    """Each column's name, its type as in DDL, and whether it is nullable."""


def source_tables(records: Iterable[Mapping[str, Any]]) -> tuple[SourceTable, ...]:
    """The tables in a capture, each as its last schema-change record describes it, by source name.

    Args:
        records: in the form of ``kcat -C -J``; other kinds of records are ignored.
    """
    tables: dict[str, SourceTable] = {}
    for record in sorted(records, key=lambda record: int(record.get("offset", 0))):
        for prefix, change in _table_changes(record.get("payload")):
            source = ".".join(re.findall(r'"([^"]*)"', change["id"]))
            tables.pop(source, None)
            if change["type"] != "DROP":
                tables[source] = _source_table(source, prefix, change["table"])
    return tuple(tables[source] for source in sorted(tables))


def dataset_names(tables: Collection[SourceTable]) -> dict[str, str]:
    """A dataset name for each source table; tables with the same name get their schema as a prefix."""
    plain = {table.source: _dataset_name(table.source.rpartition(".")[2]) for table in tables}
    duplicates = {name for name, count in Counter(plain.values()).items() if count > 1}
    return {
        source: _dataset_name("_".join(source.split(".")[1:])) if name in duplicates else name
        for source, name in plain.items()
    }


def table_yaml(table: SourceTable, name: str) -> str:
    """The table's spec, one line per column; reserved column names are renamed."""
    default_name = table.source.rpartition(".")[2].lower()
    key = f"key: {flow(list(table.key))}" if table.key else "append_only: true # the source has no primary key"
    lines = [
        "# yaml-language-server: $schema=../../schema/table.schema.json",
        f"table: {flow(table.source)}",
        *([f"name: {name}"] if name != default_name else []),
        key,
        "columns:",
        *(f"  {_column(name, column_type, nullable)}" for name, column_type, nullable in table.columns),
    ]
    return "\n".join(lines) + "\n"


def connector_yaml(topic_prefix: str) -> str:
    """A connector's spec with the required fields only."""
    modeline = "# yaml-language-server: $schema=../schema/connector.schema.json"
    return f"{modeline}\ntopic_prefix: {topic_prefix}\n"


def _table_changes(payload: object) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The topic prefix and each table change in a payload; nothing if it is not a schema change."""
    try:
        value = json.loads(payload) if isinstance(payload, str) else payload
    except json.JSONDecodeError:
        return
    if isinstance(value, dict) and isinstance(value.get("payload"), dict):
        value = value["payload"]
    if isinstance(value, dict) and isinstance(value.get("tableChanges"), list):
        for change in value["tableChanges"]:
            yield value["source"]["name"], change


def _source_table(source: str, prefix: str, table: Mapping[str, Any]) -> SourceTable:
    columns = tuple((each["name"], _type(each), bool(each["optional"])) for each in table["columns"])
    return SourceTable(source, prefix, tuple(table["primaryKeyColumnNames"]), columns)


def _type(column: Mapping[str, Any]) -> str:
    """The type as in DDL; JDBC reports the length of a (max) type as the largest possible one."""
    name = str(column["typeName"]).lower().removesuffix("() identity").removesuffix(" identity")
    length, scale = column.get("length"), column.get("scale")
    if name in _LENGTH and length is not None:
        return f"{name}({'max' if length > 8000 else length})"
    if name in ("decimal", "numeric") and length is not None:
        return f"{name}({length},{scale or 0})"
    if name in _FRACTION and scale is not None:
        return f"{name}({scale})"
    return name


def _column(name: str, type_text: str, nullable: bool) -> str:
    """One line of ``columns:``."""
    key = name if re.fullmatch(r"[A-Za-z_]\w*", name) else json.dumps(name, ensure_ascii=False)
    if type_text in OMITTED:
        return f"{key}: {{exclude: true}} # {type_text}: the connector omits it"
    written = f"{_canonical(type_text)}{'' if nullable else ' not null'}"
    target = allowed_target(name)
    return f"{key}: {written}" if target == name else f"{key}: {flow({'type': written, 'rename': target})}"


def _dataset_name(words: str) -> str:
    """A valid dataset name, made from a source table's name.

    >>> _dataset_name("Order Lines"), _dataset_name("2024 sales")
    ('order_lines', 't_2024_sales')
    """
    plain = re.sub(r"[^a-z0-9_]", "_", words.lower())
    return plain if plain[0] in string.ascii_lowercase else f"t_{plain}"


def _canonical(type_text: str) -> str:
    try:
        return str(parse_type(type_text)[0])
    except TypeFault:
        return type_text
