"""The shop in Db2: a scripted server."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tools.db2_connector.connector import CONFIGURATIONS, SOURCES, connector
from tools.db2_connector.server import Server
from tools.debezium_connector import Worker, worker
from tools.small_shops.database import PREFIX, Database, columns
from tools.small_shops.scenario import KEYS, Operation

_VERBS = {"insert": "i", "update": "u", "delete": "d", "rekey": "u"}


class Db2(Database):
    """Tables of the schema SHOP, with every column from the start, whose names are in upper case."""

    def __init__(self, jvm: Worker, folder: Path) -> None:
        self._server = Server(folder / "state.json")
        for table, key in KEYS.items():
            self._server.create(_name(table), columns("db2", table), [key.upper()])
        self.connector = connector(jvm, self._server, {"topic.prefix": PREFIX}, folder / "connector")

    def transact(self, operations: Sequence[Operation]) -> None:
        """One transaction."""
        self._server.transact(list(map(_statement, operations)))

    def add_column(self, table: str, column: str) -> None:
        """Nothing: the tables have it from the start, because the scripted server has no ALTER TABLE."""

    def start(self) -> None:
        """Let SQL Replication capture the tables, and start the connector."""
        for table in KEYS:
            self._server.capture(_name(table))
        super().start()


def _name(table: str) -> str:
    return f"SHOP.{table.upper()}"


def _statement(operation: Operation) -> tuple[str, str, dict[str, Any]]:
    row = {name.upper(): _value(value) for name, value in operation.values.items()}
    key = KEYS[operation.table].upper()
    if operation.new_key is None:
        row[key] = operation.key
    else:
        row |= {"old": {key: operation.key}, key: operation.new_key}
    return _VERBS[operation.verb], _name(operation.table), row


def _value(value: Any) -> Any:
    if isinstance(value, Mapping):
        return json.dumps(value, ensure_ascii=False)
    return ",".join(value) if isinstance(value, list) else value


@contextmanager
def opened(folder: Path) -> Iterator[Db2]:
    """The shop's database on a server of its own."""
    with worker(CONFIGURATIONS["3.6.1.Final"], sources=SOURCES) as jvm:
        yield Db2(jvm, folder)
