"""Random histories of a MariaDB table through the real connector: `python -m tools.binlog_connector histories`.

Each seed is a run of its own: inserts, updates of several rows, deletes, key changes, rollbacks, truncates, new binary
log files, restarts and kills of the connector, incremental snapshots, a new column. Beside the records is what the
database says itself: the rows at the end, and the versions of each row that were committed.
"""

import gzip
import json
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from tools.binlog_connector.connectors import MARIADB, connector, is_last_read
from tools.binlog_connector.servers import MariaDb, Server
from tools.captures import Record
from tools.debezium_connector import Connector, Worker, worker

_TESTS = Path(__file__).resolve().parents[2] / "tests" / "decoding" / "histories" / "mariadb"
SEEDS = range(1, 21)
COLUMNS = {
    "id": "int",
    "region": "varchar(9)",
    "name": "varchar(40)",
    "total": "decimal(12,2)",
    "small": "tinyint unsigned",
    "made": "datetime(6)",
}
KEY = ("id", "region")
_STEPS = 45
_LAST_ID = 1_000_000
_TABLE = """
create table orders (
  id int not null, region varchar(9) not null, name varchar(40), total decimal(12,2), small tinyint unsigned,
  made datetime(6), primary key (id, region)
) default character set utf8mb4;
create table dbz_signal (id varchar(42) primary key, type varchar(32) not null, data varchar(2048));
create table others (id int primary key, x int);
"""
Row = tuple[str, ...]
"""A row as the client prints it."""


@dataclass
class History:
    """What was committed, as the database itself says."""

    rows: dict[tuple[str, ...], Row] = field(default_factory=dict)
    versions: list[Row] = field(default_factory=list)
    """Every version of every row, those that lasted for one statement of a transaction too."""

    def take(self, rows: Sequence[Row]) -> None:
        """The rows after a statement."""
        after = {row[: len(KEY)]: row for row in rows}
        self.versions += [row for key, row in after.items() if self.rows.get(key) != row]
        self.rows = after


def has_truncates(seed: int) -> bool:
    """Whether the history of a seed has truncates: every fourth."""
    return seed % 4 == 0


def file(seed: int) -> Path:
    """The file of a seed: its records, one a line, and in the last line what the database says."""
    return _TESTS / f"{seed:02}.jsonl.gz"


def write_all(seeds: Sequence[int] = SEEDS) -> None:
    """Run every seed and rewrite its file."""
    with MariaDb() as server, worker(MARIADB.configuration) as jvm:
        for seed in seeds:
            with tempfile.TemporaryDirectory() as folder:
                records, history = Run(seed, server, jvm, Path(folder)).play()
            truth = {"rows": sorted(history.rows.values()), "versions": history.versions}
            lines = [*(record.line() for record in records), json.dumps(truth)]
            file(seed).parent.mkdir(parents=True, exist_ok=True)
            file(seed).write_bytes(gzip.compress("".join(f"{line}\n" for line in lines).encode(), mtime=0))
            print(f"seed {seed}: {len(records)} records, {len(history.versions)} versions, {len(history.rows)} rows")


class Run:
    """One seed."""

    def __init__(self, seed: int, server: Server, jvm: Worker, folder: Path) -> None:
        """Make an empty database and a connector for it, not started."""
        self._random = Random(seed)
        self._server = server
        self._history = History()
        self._signals = 0
        self._totals = 0
        self._has_truncates = has_truncates(seed)
        # Without offsets a killed connector takes a snapshot again, of a table that must not be truncated then.
        self._stores_early = self._has_truncates or seed % 5 > 0
        self._topic = f"s{seed}.shop.orders"
        server.sql("drop database if exists shop; create database shop")
        server.sql(_TABLE, "shop")
        properties = {
            "skipped.operations": "none",
            "signal.data.collection": "shop.dbz_signal",
            "incremental.snapshot.chunk.size": "3",
        }
        self._connector: Connector = connector(jvm, MARIADB, server, folder, properties, f"s{seed}")

    def play(self) -> tuple[list[Record], History]:
        """All steps; returns the table's records and what the database says."""
        for _ in range(4):
            self._transact()
        self._commit([f"insert ignore into orders values (0, 'eu', {self._name()}, 1, 1, {self._made()})"])
        # The snapshot has nothing of what was before it.
        self._history.versions = list(self._history.rows.values())
        self._connector.start()
        self._connector.wait(until=is_last_read)
        if self._stores_early:
            self._connector.flush()
        for _ in range(_STEPS):
            self._step()
        self._commit([f"insert into orders values ({_LAST_ID}, 'end', null, null, null, null)"])
        marker = f'"id":{_LAST_ID}'.encode()
        self._connector.wait(
            until=lambda record: marker in (record.value or b"")[:200] or marker in (record.key or b"")
        )
        self._connector.wait(quiet=0.7)
        self._connector.stop()
        return [record for record in self._connector.records() if record.topic == self._topic], self._history

    def _step(self) -> None:
        chance = self._random.random()
        if chance < 0.03:
            self._connector.stop()
            self._transact()
            self._connector.start()
        elif chance < 0.07:
            # A change that has not come before the kill must not be passed over by a second snapshot.
            self._connector.wait(quiet=0.3 if self._stores_early else 1.5)
            self._connector.kill()
            self._connector.start()
        elif chance < 0.10:
            self._connector.flush()
        elif chance < 0.14:
            self._signals += 1
            data = '{"data-collections": ["shop.orders"], "type": "incremental"}'
            self._server.sql(
                f"insert into dbz_signal values ('s{self._signals}', 'execute-snapshot', '{data}')", "shop"
            )
        elif chance < 0.18:
            self._server.sql("flush binary logs")
        elif chance < 0.21 and self._has_truncates:
            self._commit(["truncate table orders"])
        else:
            self._transact()

    def _transact(self) -> None:
        statements = [self._statement() for _ in range(self._random.choice((1, 1, 2, 3, 5)))]
        self._commit(statements, rolls_back=self._random.random() < 0.1)

    def _commit(self, statements: Sequence[str], *, rolls_back: bool = False) -> None:
        """Run statements in one transaction, and read the table after each."""
        read = "select '#'; select * from orders order by id, region"
        script = [f"{statement}; {read};" for statement in statements]
        end = "rollback;" if rolls_back else "commit;"
        answers = self._server.sql(f"start transaction; {' '.join(script)} {end}", "shop")
        if not rolls_back:
            for rows in _groups(answers):
                self._history.take(rows)

    def _statement(self) -> str:
        random = self._random
        id_, region = random.randrange(9), random.choice(("eu", "us"))
        where = f"where id % {random.choice((2, 3, 4))} = {random.randrange(2)}"
        match random.randrange(8):
            case 0 | 1:
                return f"insert ignore into orders values ({id_}, '{region}', {self._values()})"
            case 2:
                rows = ", ".join(f"({random.randrange(9)}, '{region}', {self._values()})" for _ in range(3))
                return f"insert ignore into orders values {rows}"
            case 3:
                return f"replace into orders values ({id_}, '{region}', {self._values()})"
            case 4:
                return f"update orders set name = {self._name()}, small = {random.randrange(256)} {where}"
            case 5:
                return f"delete from orders where id = {id_}"
            case 6:
                # Upwards from the end, so that each row moves to the place that the one before it has left.
                return f"update ignore orders set id = id + 1 where region = '{region}' and id < 100 order by id desc"
            case _:
                return f"update ignore orders set region = '{region}', total = {self._total()} where id = {id_}"

    def _values(self) -> str:
        return f"{self._name()}, {self._total()}, {self._random.randrange(256)}, {self._made()}"

    def _total(self) -> str:
        """A number that no other row has: a row that takes the key of an equal one would be a version unseen."""
        self._totals += 1
        return f"{self._random.choice(('', '-'))}{self._totals}.{self._random.randrange(100):02}"

    def _name(self) -> str:
        return self._random.choice(("null", "''", "'Ada'", "'Ünal 😀'", "'quote '' and \\\\'", "'x'"))

    def _made(self) -> str:
        return self._random.choice(("null", "'2018-06-20 06:37:03.000001'", "'1969-12-31 23:59:59.999999'"))


def _groups(answers: list[list[str]]) -> Iterator[list[Row]]:
    """The rows after each statement: a line of a number sign begins them."""
    group: list[Row] | None = None
    for answer in answers:
        if answer == ["#"]:
            if group is not None:
                yield group
            group = []
        elif group is not None:
            group.append(tuple(answer))
    if group is not None:
        yield group


def read(seed: int) -> tuple[list[Record], dict[str, Any]]:
    """The records of a seed, and what the database says: `rows` and `versions`."""
    *lines, truth = gzip.decompress(file(seed).read_bytes()).decode().splitlines()
    return [Record.from_line(line) for line in lines], json.loads(truth)
