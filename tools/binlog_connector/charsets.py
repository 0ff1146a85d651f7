"""Captures of texts in every character set that the servers have: `python -m tools.binlog_connector charsets`."""

import gzip
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tools.binlog_connector.connectors import SERVERS, connector, is_last_read
from tools.binlog_connector.types import CAPTURES, Capture
from tools.captures import Record
from tools.debezium_connector import worker

SCENARIO = Path(__file__).resolve().parents[2] / "tests" / "decoding" / "binlog" / "charsets.json"
PREFIX = "texts"
READ, STREAMED = 1, 2
"""The ids of the row before the snapshot and of the same row after it."""
_ONLY_MARIADB = ("utf16le",)


def texts(server: str) -> dict[str, str]:
    """A text in each character set of a server."""
    found: dict[str, str] = json.loads(SCENARIO.read_text(encoding="utf-8"))
    return {name: text for name, text in found.items() if server == "mariadb" or name not in _ONLY_MARIADB}


def columns(server: str) -> dict[str, tuple[str, str]]:
    """Column -> its type and the text in it: for each character set a varchar, and an enum with that label."""
    found = {"id": ("int not null", "")}
    for name, text in texts(server).items():
        found |= {
            f"v_{name}": (f"varchar(50) character set {name}", text),
            f"e_{name}": (f"enum('{text}') character set {name}", text),
        }
    return found


def file(capture: Capture) -> Path:
    """The capture file."""
    return capture.file(with_schema=False).with_name(
        capture.file(with_schema=False).name.replace(".jsonl", ".charsets.jsonl")
    )


def write_all() -> None:
    """Rewrite every capture of character sets."""
    for capture in CAPTURES:
        lines = [record.line() + "\n" for record in records(capture)]
        file(capture).write_bytes(gzip.compress("".join(lines).encode(), mtime=0))
        print(f"{len(lines)} records -> {capture.version.kind}/{file(capture).name}")


def records(capture: Capture) -> Iterator[Record]:
    """The records of the table of all character sets, from one real run."""
    table = columns(capture.server)
    definition = ", ".join(f"{name} {type_}" for name, (type_, _) in table.items())
    values = ", ".join(f"'{text}'" for name, (_, text) in table.items() if name != "id")
    with (
        SERVERS[capture.server]() as server,
        worker(capture.version.configuration) as jvm,
        tempfile.TemporaryDirectory() as folder,
    ):
        server.sql("create database shop default character set utf8")
        server.sql(f"create table texts ({definition}, primary key (id))", "shop")
        server.sql(f"insert into texts values ({READ}, {values})", "shop")
        running = connector(jvm, capture.version, server, Path(folder), {}, PREFIX)
        running.start()
        running.wait(until=is_last_read)
        running.wait(quiet=1)
        count = len(running.records())
        server.sql(f"insert into texts values ({STREAMED}, {values})", "shop")
        running.wait(records=count + 1)
        running.stop()
        yield from (record for record in running.records() if record.topic == f"{PREFIX}.shop.texts")
