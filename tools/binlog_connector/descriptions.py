"""How the connectors describe each column type in their schema-change records: `... descriptions`.

Once in a table that the snapshot finds, whose types the server spells, and once in one that is made later, whose types
are those of the statement.
"""

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tools.binlog_connector.connectors import MARIADB, MYSQL, SERVERS, Version, connector
from tools.binlog_connector.types import columns
from tools.debezium_connector import worker

FILE = Path(__file__).resolve().parents[2] / "tests" / "decoding" / "binlog" / "described.json"
"""Kind -> table -> a list of pairs: the type in DDL, and the parts of its description that say something of it."""
_PARTS = ("typeName", "length", "scale", "charsetName")
_TABLES = ("found", "made")


def write_all() -> None:
    """Rewrite the file."""
    found = {version.kind: dict(_descriptions(version)) for version in (MARIADB, MYSQL[-1])}
    lines = [
        f' "{kind}": {{\n'
        + ",\n".join(
            f'  "{table}": [\n' + ",\n".join(f"   {json.dumps(pair, ensure_ascii=False)}" for pair in pairs) + "\n  ]"
            for table, pairs in tables.items()
        )
        + "\n }"
        for kind, tables in found.items()
    ]
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def _descriptions(version: Version) -> Iterator[tuple[str, list[tuple[str, dict[str, Any]]]]]:
    types = columns(version.kind, version.kind)
    body = ", ".join(f"{name} {type_}" for name, type_ in types.items())
    with (
        SERVERS[version.kind]() as server,
        worker(version.configuration) as jvm,
        tempfile.TemporaryDirectory() as folder,
    ):
        server.sql("create database shop")
        source = connector(jvm, version, server, Path(folder) / "connector", {}, "p")
        for table in _TABLES:
            server.sql(f"create table {table} ({body}, primary key (id)) default character set utf8", "shop")
            if table == _TABLES[0]:
                source.start()
                source.wait(records=3)
            source.wait(quiet=2)
        source.stop()
        changes = [each for record in source.records() for each in json.loads(record.value or b"")["tableChanges"]]
    for table in _TABLES:
        described = next(each["table"] for each in changes if table in each["id"] and each["table"])
        yield table, [(types[each["name"]], _told(each)) for each in described["columns"]]


def _told(column: dict[str, Any]) -> dict[str, Any]:
    return {part: column[part] for part in _PARTS if column[part] is not None}
