"""Captures of what happens beside the values of rows: `python -m tools.binlog_connector events`.

A snapshot, events of several rows, key changes, DDL in mid-stream, a truncate, an incremental snapshot, transactions'
metadata, and a connector that is killed and delivers the end of its records again.
"""

import gzip
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from tools.binlog_connector.connectors import MARIADB, MYSQL, SERVERS, Version, connector, is_last_read
from tools.captures import Record
from tools.debezium_connector import worker

_TESTS = Path(__file__).resolve().parents[2] / "tests" / "decoding" / "captures"
VERSIONS = (MARIADB, *MYSQL)
PREFIX = "server1"
BEFORE = """
create table orders (id int not null primary key, name varchar(20), total decimal(8,2)) default character set utf8;
create table dbz_signal (id varchar(42) primary key, type varchar(32) not null, data varchar(2048));
insert into orders values (1, 'one', 1.5), (2, 'two', null);
"""
DURING = """
insert into orders values (3, 'three', 3), (4, 'four', 4), (5, 'five', 5);
update orders set total = 9 where id >= 4;
update orders set id = id + 10 where id in (4, 5);
start transaction; delete from orders where id = 14; insert into orders values (14, 'again', 1);
update orders set name = 'twice' where id = 14; commit;
alter table orders add column note text;
insert into orders values (6, 'six', 6, 'a note');
flush logs;
update orders set note = 'late' where id = 1;
"""
SIGNAL = """
insert into dbz_signal
values ('s1', 'execute-snapshot', '{"data-collections": ["shop.orders"], "type": "incremental"}');
"""
AGAIN = "update orders set name = 'again' where id = 2; delete from orders where id = 3;"
AFTER = """
create table others (x int); drop table others; truncate table orders; insert into orders values (7, 'seven', 7, null);
"""


def file(version: Version) -> Path:
    """The capture file of a version."""
    return _TESTS / version.kind / f"{version.number}.events.jsonl.gz"


def write_all() -> None:
    """Rewrite every capture of events."""
    for version in VERSIONS:
        lines = [record.line() + "\n" for record in records(version)]
        file(version).write_bytes(gzip.compress("".join(lines).encode(), mtime=0))
        print(f"{len(lines)} records -> {version.kind}/{file(version).name}")


def records(version: Version) -> Iterator[Record]:
    """The records of all topics, from one real run."""
    properties = {"provide.transaction.metadata": "true"}
    is_old = version.number.startswith("1.")
    if not is_old:
        properties |= {"skipped.operations": "none", "signal.data.collection": "shop.dbz_signal"}
    with (
        SERVERS[version.kind]() as server,
        worker(version.configuration) as jvm,
        tempfile.TemporaryDirectory() as folder,
    ):
        server.sql("create database shop")
        server.sql(BEFORE, "shop")
        running = connector(jvm, version, server, Path(folder), properties, PREFIX)
        running.start()
        running.wait(until=is_last_read)
        running.wait(quiet=1)
        server.sql(DURING, "shop")
        running.wait(until=_has(b'"late"'))
        if not is_old:
            server.sql(SIGNAL, "shop")
            running.wait(quiet=1.5)
        running.flush()
        server.sql(AGAIN, "shop")
        running.wait(quiet=1.5)
        running.kill()
        running.start()
        server.sql(AFTER, "shop")
        running.wait(until=_has(b'"seven"'))
        running.wait(quiet=1)
        running.stop()
        yield from running.records()


def _has(text: bytes) -> Callable[[Record], bool]:
    return lambda record: text in (record.value or b"")
