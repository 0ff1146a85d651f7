"""Generation of tests/decoding/captures/postgresql/histories: random histories through the real connector.

Each has the records of one connector over tables of every replica identity, with transactions that run at the same
time, changes of keys, truncates, incremental snapshots, stops and kills of the connector, and beside the records the
rows that were in the database after each committed transaction.
"""

import gzip
import json
import tempfile
import time
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
_LONG = 2200
"""Characters of a note that is stored apart from its row."""
Rows = dict[str, dict[int, tuple[int, str | None]]]


@dataclass
class History:
    """One random history while it is made."""

    random: Random
    database: Server
    name: str
    sessions: list[Session]
    connector: Connector
    rows: Rows = field(default_factory=lambda: {table: {} for table in TABLES})
    committed: list[Rows] = field(default_factory=list)
    """The rows after each commit."""
    counter: int = 0

    def play(self, steps: int) -> None:
        """Random steps, then quiet."""
        for _ in range(steps):
            self.random.choices(
                (self._transaction, self._two_at_once, self._restart, self._flush, self._snapshot, self._truncate),
                (10, 8, 4, 4, 2, 1),
            )[0]()
        self.connector.wait(quiet=2, timeout=120)

    def _transaction(self) -> None:
        session = self.sessions[0]
        session.run("BEGIN;")
        for _ in range(self.random.randint(1, 5)):
            session.run(self._change(self.random.choice(TABLES), set(), self.rows))
        session.run("COMMIT;")
        self._commit()

    def _two_at_once(self) -> None:
        """Two transactions over different rows, of which either commits first."""
        locked: set[tuple[str, int]] = set()
        for session in self.sessions:
            session.run("BEGIN;")
        pending: list[Rows] = [{}, {}]
        for _ in range(self.random.randint(2, 8)):
            number = self.random.randrange(2)
            sql = self._locked_change(number, locked, pending)
            self.sessions[number].run(sql)
        if self.random.random() < 0.3:
            self._signal()
        for number in self.random.sample((0, 1), 2):
            if self.random.random() < 0.3:
                self.database.run(f"INSERT INTO elsewhere VALUES ({self._next()})", self.name)
            self.sessions[number].run("COMMIT;")
            for table, changed in pending[number].items():
                for id_, row in changed.items():
                    if row[0] < 0:
                        self.rows[table].pop(id_, None)
                    else:
                        self.rows[table][id_] = row
            self._commit()

    def _locked_change(self, number: int, locked: set[tuple[str, int]], pending: list[Rows]) -> str:
        """A change of a row that the other transaction does not touch."""
        table = self.random.choice(TABLES[:3])
        mine = pending[number].setdefault(table, {})
        visible = {**self.rows[table], **mine}
        free = [id_ for id_ in visible if (table, id_) not in locked or id_ in mine]
        alive = [id_ for id_ in free if visible[id_][0] >= 0]
        kind = self.random.choice(("insert", "update", "update", "delete"))
        if kind == "insert" or not alive:
            gone = [id_ for id_ in free if visible[id_][0] < 0]
            id_ = self.random.choice(gone) if gone and self.random.random() < 0.5 else self._next()
            row = (self._next(), self._note())
            sql = f"INSERT INTO {table} VALUES ({id_}, {row[0]}, {_literal(row[1])});"
        elif kind == "update":
            id_ = self.random.choice(alive)
            row = (self._next(), visible[id_][1])
            sql = f"UPDATE {table} SET n = {row[0]} WHERE id = {id_};"
        else:
            id_ = self.random.choice(alive)
            row = (-1, None)
            sql = f"DELETE FROM {table} WHERE id = {id_};"
        locked.add((table, id_))
        mine[id_] = row
        return sql

    def _change(self, table: str, locked: set[tuple[str, int]], rows: Rows) -> str:
        """A change of any row, applied to the rows."""
        alive = sorted(rows[table])
        kind = self.random.choice(("insert", "update", "update", "note", "key", "delete", "again"))
        if kind == "insert" or not alive or table == "by_nothing":
            id_, row = self._next(), (self._next(), self._note())
            rows[table][id_] = row
            return f"INSERT INTO {table} VALUES ({id_}, {row[0]}, {_literal(row[1])});"
        id_ = self.random.choice(alive)
        number, note = rows[table].pop(id_)
        if kind == "delete":
            return f"DELETE FROM {table} WHERE id = {id_};"
        if kind == "again":
            rows[table][id_] = (self._next(), note)
            text = f"DELETE FROM {table} WHERE id = {id_};"
            return f"{text} INSERT INTO {table} VALUES ({id_}, {self.counter}, {_literal(note)});"
        if kind == "key":
            new = self._next()
            if table != "by_full":
                # The record of the new key would lack a note that is stored apart from its row.
                note = self._note()
            rows[table][new] = (number, note)
            return f"UPDATE {table} SET id = {new}, note = {_literal(note)} WHERE id = {id_};"
        if kind == "note":
            note = self._note()
            rows[table][id_] = (number, note)
            return f"UPDATE {table} SET note = {_literal(note)} WHERE id = {id_};"
        rows[table][id_] = (self._next(), note)
        return f"UPDATE {table} SET n = {self.counter} WHERE id = {id_};"

    def _truncate(self) -> None:
        tables = self.random.sample(TABLES, self.random.randint(1, 2))
        self.sessions[0].run(f"TRUNCATE {', '.join(tables)};")
        for table in tables:
            self.rows[table].clear()
        self._commit()

    def _snapshot(self) -> None:
        self._signal()
        if self.random.random() < 0.5:
            self._transaction()

    def _signal(self) -> None:
        tables = ", ".join(f'"public.{table}"' for table in self.random.sample(TABLES[:3], 2))
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

    def _commit(self) -> None:
        self.committed.append({table: dict(rows) for table, rows in self.rows.items()})

    def _next(self) -> int:
        self.counter += 1
        return self.counter

    def _note(self) -> str | None:
        number = self._next()
        return self.random.choice((None, f"note {number}", f"{number} " * (_LONG // len(f"{number} "))))


def _literal(text: str | None) -> str:
    return "NULL" if text is None else f"'{text}'"


def make(jvm: Worker, database: Server, seed: int, steps: int) -> dict[str, Any]:
    """A history: its records as lines, the rows after each commit, and the database's at the end."""
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
        for table in TABLES:
            for _ in range(4):
                sessions[0].run(history._change(table, set(), history.rows))
        history._commit()
        connector.start()
        connector.wait(records=sum(map(len, history.rows.values())))
        # A connector without offsets would begin again, and its second snapshot cannot find deleted rows.
        connector.flush()
        history.play(steps)
        connector.stop()
        final = {table: database.rows(table, name) for table in TABLES}
        expected = {
            table: [{"id": str(i), "n": str(n), "note": note} for i, (n, note) in sorted(rows.items())]
            for table, rows in history.rows.items()
        }
        assert final == expected, f"seed {seed}: the history is not what the database did"
        committed = [
            {table: {str(i): row for i, row in rows.items()} for table, rows in each.items()}
            for each in history.committed
        ]
        records = [record.line() for record in connector.records() if record.topic.startswith("shop.public.by_")]
        return {"records": records, "committed": committed, "rows": final}


def file_of(seed: int) -> Path:
    """The file of a history."""
    return HISTORIES / f"{seed:02}.json.gz"


@click.command(name="postgresql_connector.histories")
@click.option("--seeds", default=SEEDS, show_default=True)
@click.option("--steps", default=14, show_default=True)
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
            f"{seed}: {len(history['records'])} records, {len(history['committed'])} commits,"
            f" {time.monotonic() - began:.0f} s"
        )


if __name__ == "__main__":
    main()
