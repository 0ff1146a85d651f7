"""Generation of tests/decoding/captures/postgresql/histories: random histories through the real connector.

Each has the records of one connector over tables of every replica identity, with transactions that run at the same
time, rollbacks, changes of keys, truncates, incremental snapshots, stops and kills of the connector. Beside the records
is what the database says itself, by reads of the tables after every statement: what was committed, and the rows at the
end.
"""

import gzip
import json
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import click

from tools.debezium_connector import Connector, Worker, worker
from tools.postgresql_connector.server import Server, Session, server
from tools.postgresql_connector.types import CAPTURES, CONNECTOR

HISTORIES = CAPTURES / "histories"
SEEDS = 20
TABLES = ("by_default", "by_full", "by_index", "by_nothing")
_DDL = """
CREATE TABLE by_default (id integer PRIMARY KEY, n integer, note text);
CREATE TABLE by_full (id integer PRIMARY KEY, n integer, note text);
CREATE TABLE by_index (id integer NOT NULL UNIQUE, n integer, note text);
CREATE TABLE by_nothing (id integer PRIMARY KEY, n integer, note text);
CREATE TABLE elsewhere (id integer PRIMARY KEY);
CREATE TABLE dbz_signal (id text PRIMARY KEY, type text, data text);
ALTER TABLE by_full REPLICA IDENTITY FULL;
ALTER TABLE by_index REPLICA IDENTITY USING INDEX by_index_id_key;
ALTER TABLE by_nothing REPLICA IDENTITY NOTHING;
ALTER TABLE by_default ALTER note SET STORAGE EXTERNAL;
ALTER TABLE by_full ALTER note SET STORAGE EXTERNAL;
ALTER TABLE by_index ALTER note SET STORAGE EXTERNAL;
"""
_READ = "".join(f"SELECT json_build_array('{table}', id, n, note) FROM {table} ORDER BY id;" for table in TABLES)
_LONG = 2200
"""Characters of a note that is stored apart from its row."""
Row = tuple[int, str | None]
"""Columns n and note."""
Rows = dict[str, dict[int, Row]]
"""Table -> id -> row."""
Entry = tuple[str] | tuple[str, int] | tuple[str, int, int, str | None]
"""What a statement did: `(table, id, n, note)` is a new version of a row, `(table, id)` a row that is gone, and
`(table,)` a truncate of a table."""


class Transaction:
    """An open transaction, and what its statements did, by reads of the tables before and after each."""

    def __init__(self, session: Session) -> None:
        """Begin."""
        self.entries: list[Entry] = []
        self._session = session
        session.run("BEGIN;")

    def rows(self) -> Rows:
        """The rows as this transaction sees them: committed ones and its own."""
        return _rows(self._session.run(_READ))

    def run(self, statements: Sequence[str]) -> None:
        """Run single statements."""
        before = self.rows()
        for statement in statements:
            self._session.run(statement)
            after = self.rows()
            for table in TABLES:
                self.entries += [(table, id_) for id_ in before[table] if id_ not in after[table]]
                changed = [(id_, row) for id_, row in after[table].items() if before[table].get(id_) != row]
                self.entries += [(table, id_, *row) for id_, row in changed]
            before = after

    def truncate(self, tables: Sequence[str]) -> None:
        """Empty tables by one statement."""
        self._session.run(f"TRUNCATE {', '.join(tables)};")
        self.entries += [(table,) for table in tables]

    def run_in_vain(self, statements: Sequence[str]) -> None:
        """Run single statements, and roll back to before them."""
        self._session.run("SAVEPOINT before;")
        for statement in statements:
            self._session.run(statement)
        self._session.run("ROLLBACK TO before;")

    def end(self, *, commits: bool) -> list[Entry]:
        """Commit or roll back; returns what was committed."""
        self._session.run("COMMIT;" if commits else "ROLLBACK;")
        return self.entries if commits else []


@dataclass
class History:
    """One random history while it is made."""

    random: Random
    database: Server
    name: str
    sessions: list[Session]
    connector: Connector
    committed: list[Entry] = field(default_factory=list)
    """In the order of the commits; of one transaction, in that of its statements."""
    counter: int = 0

    def begin(self) -> None:
        """Some rows of each table, before the connector starts: its snapshot has these and nothing before them."""
        transaction = Transaction(self.sessions[0])
        for table in TABLES:
            for _ in range(4):
                transaction.run(self._change(table, transaction.rows()))
        transaction.end(commits=True)
        rows = self.rows()
        self.committed = [(table, id_, *row) for table in TABLES for id_, row in rows[table].items()]

    def play(self, steps: int) -> None:
        """Random steps, then quiet."""
        for _ in range(steps):
            self.random.choices(
                (self._transaction, self._two_at_once, self._restart, self._flush, self._snapshot, self._truncate),
                (10, 8, 4, 4, 2, 1),
            )[0]()
        self.connector.wait(quiet=2, timeout=120)

    def rows(self) -> Rows:
        """The rows that are committed."""
        return _rows(self.database.run(_READ, self.name).splitlines())

    def _transaction(self) -> None:
        transaction = Transaction(self.sessions[0])
        for _ in range(self.random.randint(1, 5)):
            table = self.random.choice(TABLES)
            statements = self._change(table, transaction.rows())
            if self.random.random() < 0.1:
                transaction.run_in_vain(statements)
            else:
                transaction.run(statements)
        self.committed += transaction.end(commits=self.random.random() < 0.9)

    def _two_at_once(self) -> None:
        """Two transactions over different rows, of which either commits first; the other may go on with its rows."""
        running = [Transaction(session) for session in self.sessions]
        locked: dict[tuple[str, int], int] = {}
        for _ in range(self.random.randint(2, 8)):
            self._change_unlocked(running, self.random.randrange(2), locked)
        if self.random.random() < 0.3:
            self._signal()
        first = self.random.randrange(2)
        for number in (first, 1 - first):
            if self.random.random() < 0.3:
                self.database.run(f"INSERT INTO elsewhere VALUES ({self._next()})", self.name)
            self.committed += running[number].end(commits=self.random.random() < 0.9)
            locked = {place: by for place, by in locked.items() if by != number}
            if number == first:
                for _ in range(self.random.randint(0, 3)):
                    self._change_unlocked(running, 1 - first, locked)

    def _change_unlocked(self, running: list[Transaction], number: int, locked: dict[tuple[str, int], int]) -> None:
        """A change of one row that the other transaction has not touched."""
        table = self.random.choice(TABLES)
        rows = running[number].rows()[table]
        of_other = {id_ for (name, id_), by in locked.items() if name == table and by != number}
        kind = self.random.choice(("insert", "update", "update", "delete"))
        alive = sorted(rows.keys() - of_other)
        if kind == "insert" or not alive or table == "by_nothing":
            id_ = self._unused(rows, of_other)
            statement = self._insert(table, id_)
        else:
            id_ = self.random.choice(alive)
            update = f"UPDATE {table} SET n = {self._next()} WHERE id = {id_};"
            statement = update if kind == "update" else f"DELETE FROM {table} WHERE id = {id_};"
        locked[table, id_] = number
        running[number].run([statement])

    def _change(self, table: str, rows: Rows) -> list[str]:
        """Statements that change any rows of a table, given those that there are."""
        alive = sorted(rows[table])
        kind = self.random.choice(
            ("insert", "update", "update", "note", "key", "delete", "again", "several", "delete several")
        )
        if kind == "insert" or not alive or table == "by_nothing":
            return [self._insert(table, self._unused(rows[table], set()))]
        id_ = self.random.choice(alive)
        where = f"WHERE id % {self.random.randint(2, 4)} = {self.random.randrange(2)}"
        match kind:
            case "delete":
                return [f"DELETE FROM {table} WHERE id = {id_};"]
            case "again":
                return [f"DELETE FROM {table} WHERE id = {id_};", self._insert(table, id_)]
            case "key":
                new = self._unused(rows[table], set())
                # The record of the new key would lack a note that is stored apart from its row.
                note = "" if table == "by_full" else f", note = {_literal(self._note())}"
                return [f"UPDATE {table} SET id = {new}{note} WHERE id = {id_};"]
            case "note":
                return [f"UPDATE {table} SET note = {_literal(self._note())} WHERE id = {id_};"]
            case "several":
                return [f"UPDATE {table} SET n = {self._next()} {where};"]
            case "delete several":
                return [f"DELETE FROM {table} {where};"]
        return [f"UPDATE {table} SET n = {self._next()} WHERE id = {id_};"]

    def _insert(self, table: str, id_: int) -> str:
        return f"INSERT INTO {table} VALUES ({id_}, {self._next()}, {_literal(self._note())});"

    def _unused(self, rows: dict[int, Row], others: set[int]) -> int:
        """An id that no row has, often one that a row had."""
        before = [id_ for id_ in range(1, 9) if id_ not in rows and id_ not in others]
        return self.random.choice(before) if before and self.random.random() < 0.6 else self._next() + 8

    def _truncate(self) -> None:
        transaction = Transaction(self.sessions[0])
        transaction.truncate(self.random.sample(TABLES, self.random.randint(1, 2)))
        self.committed += transaction.end(commits=True)

    def _snapshot(self) -> None:
        self._signal()
        if self.random.random() < 0.5:
            self._transaction()

    def _signal(self) -> None:
        tables = ", ".join(f'"public.{table}"' for table in self.random.sample(TABLES, 2))
        data = f'{{"data-collections": [{tables}], "type": "incremental"}}'
        self.database.run(f"INSERT INTO dbz_signal VALUES ('s{self._next()}', 'execute-snapshot', '{data}')", self.name)

    def _flush(self) -> None:
        self.connector.flush()

    def _restart(self) -> None:
        if self.random.random() < 0.5:
            self.connector.wait(quiet=0.3)
        if self.random.random() < 0.6:
            self.connector.kill()
        else:
            self.connector.stop()
        if self.random.random() < 0.5:
            self._transaction()
        self.connector.start()

    def _next(self) -> int:
        self.counter += 1
        return self.counter

    def _note(self) -> str | None:
        number = self._next()
        return self.random.choice((None, f"note {number}", f"{number} " * (_LONG // len(f"{number} "))))


def _rows(lines: Sequence[str]) -> Rows:
    rows: Rows = {table: {} for table in TABLES}
    for table, id_, *row in map(json.loads, lines):
        rows[table][id_] = (row[0], row[1])
    return rows


def _literal(text: str | None) -> str:
    return "NULL" if text is None else f"'{text}'"


def make(jvm: Worker, database: Server, seed: int, steps: int) -> dict[str, Any]:
    """A history: its records as lines, what was committed, and the rows at the end."""
    random, name = Random(seed), f"history{seed}"
    database.run(f"CREATE DATABASE {name}")
    database.run(_DDL, name)
    properties = {
        **database.properties(name, "shop"),
        "table.include.list": ",".join(f"public.{table}" for table in TABLES),
        "signal.data.collection": "public.dbz_signal",
        "incremental.snapshot.chunk.size": "3",
        "skipped.operations": "none",
        "slot.name": name,
        "slot.drop.on.stop": "false",
    }
    with tempfile.TemporaryDirectory() as folder, ExitStack() as open_sessions:
        connector = jvm.connector(CONNECTOR, properties, Path(folder) / "offsets")
        sessions = [open_sessions.enter_context(database.session(name)) for _ in range(2)]
        history = History(random, database, name, sessions, connector)
        history.begin()
        connector.start()
        connector.wait(records=len(history.committed))
        # A connector without offsets would begin again, and its second snapshot cannot find deleted rows.
        connector.flush()
        history.play(steps)
        connector.stop()
        rows = [(table, id_, *row) for table, found in history.rows().items() for id_, row in found.items()]
        records = [record.line() for record in connector.records() if record.topic.startswith("shop.public.by_")]
        return {"records": records, "committed": history.committed, "rows": rows}


def file_of(seed: int) -> Path:
    """The file of a history."""
    return HISTORIES / f"{seed:02}.json.gz"


@click.command(name="postgresql_connector.histories")
@click.option("--seeds", default=SEEDS, show_default=True)
@click.option("--steps", default=18, show_default=True)
@click.option("--first", default=1)
def main(seeds: int, steps: int, first: int) -> None:
    """Make the histories again (takes some minutes)."""
    HISTORIES.mkdir(parents=True, exist_ok=True)
    for seed in range(first, first + seeds):
        began = time.monotonic()
        with server() as database, worker("postgresql-3.6") as jvm:
            history = make(jvm, database, seed, steps)
        file_of(seed).write_bytes(gzip.compress(json.dumps(history).encode(), 9, mtime=0))
        click.echo(
            f"{seed}: {len(history['records'])} records, {len(history['committed'])} committed changes,"
            f" {time.monotonic() - began:.0f} s"
        )


if __name__ == "__main__":
    main()
