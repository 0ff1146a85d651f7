"""A scripted Db2: tables and their change tables, in a file that the fake JDBC driver reads for each statement.

A transaction reaches the change tables at its commit, as SQL Replication writes them for Debezium: an update is a
delete and an insert (``CHG_UPD_TO_DEL_INS``), every row has the LSN of its transaction's commit and one of its own.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

Row = dict[str, Any]
_DECLARATION = re.compile(r"([a-z ]+?)\s*(?:\((\d+)(?:,\s*(\d+))?\))?(\s+not null)?")
_FOR_BIT_DATA = "for bit data"
_JDBC = {
    "BOOLEAN": 16,
    "SMALLINT": 5,
    "INTEGER": 4,
    "BIGINT": -5,
    "REAL": 7,
    "DOUBLE": 8,
    "DECIMAL": 3,
    "NUMERIC": 2,
    "DECFLOAT": 1111,
    "CHAR": 1,
    "VARCHAR": 12,
    "CLOB": 2005,
    "GRAPHIC": 1,
    "VARGRAPHIC": 12,
    "DBCLOB": 2005,
    "XML": 2009,
    "CHAR () FOR BIT DATA": -2,
    "VARCHAR () FOR BIT DATA": -3,
    "BINARY": -2,
    "VARBINARY": -3,
    "BLOB": 2004,
    "DATE": 91,
    "TIME": 92,
    "TIMESTAMP": 93,
}
"""Type name -> java.sql.Types, as IBM's documents have it for JDBC 4."""
_SIZES = {"SMALLINT": 5, "INTEGER": 10, "BIGINT": 19, "REAL": 24, "DOUBLE": 53, "BOOLEAN": 1, "DATE": 10, "TIME": 8}


@dataclass
class Table:
    """A table and, once it is captured, its change table."""

    schema: str
    name: str
    number: int
    columns: dict[str, str]
    """Name -> type as in DDL: ``decimal(18,2) not null``."""
    key: tuple[str, ...]
    rows: list[Row] = field(default_factory=list)
    captured_since: str | None = None
    changes: list[dict[str, Any]] = field(default_factory=list)

    @property
    def full_name(self) -> str:
        """With its schema."""
        return f"{self.schema}.{self.name}"

    def key_of(self, row: Mapping[str, Any]) -> tuple[Any, ...]:
        """The values of the key columns; of all columns in a table without a key."""
        return tuple(row.get(name) for name in (self.key or self.columns))

    def described(self) -> dict[str, Any]:
        """For the file of the driver."""
        return {
            "schema": self.schema,
            "name": self.name,
            "spaceId": 2,
            "tableId": self.number,
            "columns": [_column(name, type_) for name, type_ in self.columns.items()],
            "primaryKey": list(self.key),
            "rows": [[row.get(name) for name in self.columns] for row in self.rows],
            "changeTable": None if self.captured_since is None else f"CDC_{self.schema}_{self.name}",
            "newSynchPoint": self.captured_since,
            "capturedColumns": list(self.columns),
            "changes": self.changes,
        }


class Server:
    """The server; each commit is visible to the connector at once."""

    def __init__(self, file: Path, name: str = "SHOPDB", lsn_bytes: int = 16) -> None:
        """Write an empty server's state to the file."""
        self.file = file
        self.name = name
        self.now = datetime(2026, 3, 2, 8, tzinfo=UTC)
        self.tables: dict[str, Table] = {}
        self._lsn_bytes = lsn_bytes
        self._log = 0x45C00
        self._max_lsn: str | None = None
        self._write()

    def create(self, table: str, columns: Mapping[str, str], key: Sequence[str] = ()) -> Table:
        """CREATE TABLE."""
        schema, name = table.split(".")
        made = Table(schema, name, len(self.tables) + 4, dict(columns), tuple(key))
        self.tables[table] = made
        self._write()
        return made

    def capture(self, table: str) -> None:
        """CALL ASNCDC.ADDTABLE."""
        self.tables[table].captured_since = self._max_lsn = self._next_lsn()
        self._write()

    def load(self, table: str, rows: Sequence[Row]) -> None:
        """Rows that are not in the log."""
        self.tables[table].rows += (dict(row) for row in rows)
        self._write()

    def transact(self, operations: Sequence[tuple[str, str, Row]]) -> None:
        """One transaction.

        Args:
            operations: of each `i`, `u` or `d`, the table, and a row: whole for an insert, the key for a delete, the
                key and the new values for an update, in which ``old`` has the key if that changes.
        """
        pending = [(table, *change) for op, table, row in operations for change in self._apply(op, table, row)]
        commit = self._next_lsn()
        for table, operation, intent, row in pending:
            of = self.tables[table]
            values = [row.get(name) for name in of.columns]
            change = {"commit": commit, "intent": intent, "operation": operation, "values": values}
            if of.captured_since is not None:
                of.changes.append(change)
        self._max_lsn = commit
        self.now += timedelta(seconds=1)
        self._write()

    def _apply(self, op: str, table: str, row: Row) -> Iterator[tuple[str, str, Row]]:
        """The rows that one statement writes to the change table: operation, LSN, row."""
        of = self.tables[table]
        if op == "i":
            of.rows.append(dict(row))
            yield "I", self._next_lsn(), dict(row)
            return
        wanted = of.key_of(row.get("old", row))
        (index,) = (number for number, each in enumerate(of.rows) if of.key_of(each) == wanted)
        before = of.rows[index]
        yield "D", self._next_lsn(), before
        if op == "d":
            del of.rows[index]
            return
        after = before | {name: value for name, value in row.items() if name != "old"}
        of.rows[index] = after
        yield "I", self._next_lsn(), after

    def _next_lsn(self) -> str:
        self._log += 0x2F
        return f"{self._log:0{2 * self._lsn_bytes}x}"

    def _write(self) -> None:
        state = {
            "name": self.name,
            "now": self.now.isoformat().replace("+00:00", "Z"),
            "maxLsn": self._max_lsn,
            "tables": [table.described() for table in self.tables.values()],
        }
        # Atomic: the driver reads it at any time.
        scratch = self.file.with_suffix(".next")
        scratch.write_text(json.dumps(state), encoding="utf-8")
        scratch.replace(self.file)


def _column(name: str, declaration: str) -> dict[str, Any]:
    """A column as the driver describes it."""
    is_bits = _FOR_BIT_DATA in declaration
    found = _DECLARATION.fullmatch(" ".join(declaration.replace(_FOR_BIT_DATA, " ").split()))
    assert found, declaration
    plain = found[1].strip().upper()
    type_ = f"{plain} () FOR BIT DATA" if is_bits else plain
    size = int(found[2]) if found[2] else _SIZES.get(plain, 1)
    scale = int(found[3]) if found[3] else 0 if plain in ("DECIMAL", "NUMERIC") else None
    if plain == "TIMESTAMP":
        scale = int(found[2]) if found[2] else 6
        size = 20 + scale if scale else 19
    if plain == "TIME":
        scale = 0
    if plain == "DECFLOAT":
        size, scale = int(found[2] or 34), None
    return {
        "name": name,
        "type": type_,
        "jdbcType": _JDBC[type_],
        "size": size,
        "scale": scale,
        "nullable": found[4] is None,
    }
