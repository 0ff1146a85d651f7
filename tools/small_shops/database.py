"""What the scenario needs of a database, and of the connector that reads it."""

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import yaml

from tools.debezium_connector import Connector
from tools.small_shops.scenario import DEMO, KEYS, Operation

PREFIX = "shopserver"


class Database(ABC):
    """The shop's database, and a connector for it that is not started."""

    connector: Connector

    @abstractmethod
    def transact(self, operations: Sequence[Operation]) -> None:
        """One transaction."""

    @abstractmethod
    def add_column(self, table: str, column: str) -> None:
        """Give a table a column, if it was not made with it."""

    def start(self) -> None:
        """Start the connector for the first time."""
        self.connector.start()


class SqlDatabase(Database):
    """A database that is told of changes in SQL."""

    kind: str
    later: ClassVar[Mapping[str, str]] = {"orders": "channel"}
    """Table -> the column that it gets in mid-stream."""

    @abstractmethod
    def run(self, sql: str) -> None:
        """Run statements."""

    def transact(self, operations: Sequence[Operation]) -> None:
        """One transaction."""
        self.run(f"BEGIN; {' '.join(map(self._statement, operations))} COMMIT;")

    def add_column(self, table: str, column: str) -> None:
        """Give a table a column."""
        self.run(f"ALTER TABLE {table} ADD COLUMN {column} {columns(self.kind, table)[column]};")

    def create(self) -> None:
        """Make the tables, without what they get later."""
        for table, key in KEYS.items():
            stated = columns(self.kind, table).items()
            own = [f"{name} {type_}" for name, type_ in stated if name != self.later.get(table)]
            self.run(f"CREATE TABLE {table} ({', '.join(own)}, PRIMARY KEY ({key}));")

    def text_of_list(self, values: Sequence[str]) -> str:
        """How a list is written in a literal."""
        return ",".join(values)

    def _statement(self, operation: Operation) -> str:
        table, key = operation.table, KEYS[operation.table]
        where = f"WHERE {key} = {operation.key}"
        match operation.verb:
            case "insert":
                values = ", ".join(map(self._literal, operation.values.values()))
                return f"INSERT INTO {table} ({', '.join(operation.values)}) VALUES ({values});"
            case "update":
                changed = ", ".join(f"{name} = {self._literal(value)}" for name, value in operation.values.items())
                return f"UPDATE {table} SET {changed} {where};"
            case "rekey":
                return f"UPDATE {table} SET {key} = {operation.new_key} {where};"
            case "delete":
                return f"DELETE FROM {table} {where};"

    def _literal(self, value: Any) -> str:
        match value:
            case None:
                return "NULL"
            case int():
                return str(value)
            case list():
                return f"'{self.text_of_list(value)}'"
            case dict():
                return f"'{json.dumps(value, ensure_ascii=False)}'"
            case _:
                return f"'{value}'"


def columns(kind: str, table: str) -> dict[str, str]:
    """Column -> type as in DDL, from the shop's own spec."""
    spec = yaml.safe_load((DEMO / "kinds" / kind / "conf/tables/shop" / f"{table}.yml").read_text(encoding="utf-8"))
    stated: Mapping[str, Any] = spec["columns"]
    return {name: type_ if isinstance(type_, str) else type_["type"] for name, type_ in stated.items()}
