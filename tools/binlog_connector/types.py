"""Captures of every column type in every converter mode: `python -m tools.binlog_connector types`."""

import gzip
import itertools
import json
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from tools.binlog_connector.connectors import MARIADB, MYSQL, SERVERS, Version, connector, is_last_read
from tools.binlog_connector.servers import Server
from tools.captures import Record
from tools.debezium_connector import Worker, worker

_TESTS = Path(__file__).resolve().parents[2] / "tests" / "decoding"
SCENARIO = _TESTS / "binlog" / "types.json"
STREAMED = 100
"""What the id of a row that was inserted after the snapshot has more than that of the same row before it."""


class Modes(NamedTuple):
    """One combination of converter modes."""

    temporal: str
    decimal: str
    binary: str
    unsigned: str
    tinyint_1: str
    """``numbers``, or by a converter ``booleans``."""

    @property
    def prefix(self) -> str:
        """The topic prefix of its records."""
        return ".".join(self)


_NEW = (
    Modes("adaptive_time_microseconds", "precise", "bytes", "long", "numbers"),
    Modes("connect", "double", "base64-url-safe", "precise", "numbers"),
    Modes("isostring", "string", "hex", "long", "booleans"),
    Modes("microseconds", "precise", "base64", "precise", "numbers"),
    Modes("nanoseconds", "string", "bytes", "long", "numbers"),
)
_OLD = (
    Modes("adaptive_time_microseconds", "precise", "bytes", "long", "numbers"),
    Modes("connect", "double", "hex", "precise", "booleans"),
    Modes("adaptive_time_microseconds", "string", "base64", "long", "booleans"),
)
"""Each mode of a dimension at least once: no type depends on two of them."""


class Capture(NamedTuple):
    """What made a file of captures."""

    version: Version
    server: str
    """``mariadb`` or ``mysql``."""

    def file(self, *, with_schema: bool) -> Path:
        """The capture file."""
        of_server = "" if self.server == self.version.kind else f".{self.server}"
        name = f"{self.version.number}{of_server}{'.with-schema' if with_schema else ''}.jsonl.gz"
        return _TESTS / "captures" / self.version.kind / name


CAPTURES = (
    Capture(MARIADB, "mariadb"),
    *(Capture(version, "mysql") for version in MYSQL),
    *(Capture(version, "mariadb") for version in MYSQL[:2]),
)


def combinations(version: Version) -> tuple[Modes, ...]:
    """The combinations of modes of a version."""
    return _NEW if version.is_new else _OLD


def columns(server: str, kind: str) -> dict[str, str]:
    """The columns of the table of all types that a server has and a connector reads."""
    scenario = _scenario()
    only = ("columns", "with_fractions", "mariadb") if server == "mariadb" else ("columns",)
    found = {name: type_ for part in only for name, type_ in scenario[part].items()}
    return {name: type_ for name, type_ in found.items() if kind == "mariadb" or type_ != "uuid"}


def rows(*, streamed: bool) -> list[dict[str, Any]]:
    """The rows inserted before the snapshot, or those inserted after it."""
    scenario = _scenario()
    if not streamed:
        return list(scenario["rows"])
    return [{**row, "id": row["id"] + STREAMED} for row in (*scenario["rows"], *scenario["streamed_rows"])]


def records(capture: Capture, *, with_schema: bool) -> Iterator[Record]:
    """The records of the table of all types in all combinations of modes, from real runs."""
    of_version = capture.version
    with SERVERS[capture.server]() as server, worker(of_version.configuration) as jvm:
        for modes in combinations(of_version):
            yield from _run(jvm, server, capture, modes, with_schema=with_schema)


def write_all() -> None:
    """Rewrite every capture of types."""
    for capture, with_schema in itertools.product(CAPTURES, (False, True)):
        lines = [record.line() + "\n" for record in records(capture, with_schema=with_schema)]
        file = capture.file(with_schema=with_schema)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(gzip.compress("".join(lines).encode(), mtime=0))
        print(f"{len(lines)} records -> {file.name}")


def _run(jvm: Worker, server: Server, capture: Capture, modes: Modes, *, with_schema: bool) -> Iterator[Record]:
    version = capture.version
    table = columns(capture.server, version.kind)
    definition = ", ".join(f"{name} {type_}" for name, type_ in table.items())
    server.sql("drop database if exists shop; create database shop default character set utf8")
    server.sql(f"{_SESSION} create table types ({definition}, primary key (id))", "shop")
    server.sql(_inserts(rows(streamed=False), table, server), "shop")
    properties = {
        "time.precision.mode": modes.temporal,
        "decimal.handling.mode": modes.decimal,
        "binary.handling.mode": modes.binary,
        "bigint.unsigned.handling.mode": modes.unsigned,
        "converter.schemas.enable": str(with_schema).lower(),
        "converter.decimal.format": "NUMERIC" if modes.binary == "base64" else "BASE64",
    }
    if modes.tinyint_1 == "booleans":
        properties |= {"converters": "boolean", "boolean.type": version.converter}
    with tempfile.TemporaryDirectory() as folder:
        running = connector(jvm, version, server, Path(folder), properties, modes.prefix)
        running.start()
        running.wait(until=is_last_read)
        # The snapshot is written before the connector reads the log.
        running.wait(quiet=1)
        count = len(running.records())
        streamed = rows(streamed=True)
        server.sql(_inserts(streamed, table, server), "shop")
        running.wait(records=count + len(streamed))
        running.stop()
        yield from (record for record in running.records() if record.topic == f"{modes.prefix}.shop.types")


_SESSION = "set sql_mode=''; set time_zone='+00:00';"
"""Without strictness the servers take zero dates."""


def _inserts(of_rows: list[dict[str, Any]], table: Mapping[str, str], server: Server) -> str:
    statements = [_SESSION]
    for row in of_rows:
        values = {
            name: _literal(value, table[name], server)
            for name, value in row.items()
            if name in table and "generated" not in table[name]
        }
        statements.append(f"insert into types ({', '.join(values)}) values ({', '.join(values.values())});")
    return "\n".join(statements)


def _literal(value: Any, type_: str, server: Server) -> str:
    """A value of the scenario in SQL; a shape is hex or, with another reference system than 0, ``hex@srid``."""
    name = type_.partition("(")[0].partition(" ")[0]
    if isinstance(value, bool | int):
        return str(value).lower()
    if name == "bit":
        return f"b'{value}'"
    if name.endswith(("binary", "blob")) or "character set binary" in type_:
        return f"x'{value}'"
    if name in SHAPES:
        wkb, _, srid = value.partition("@")
        return f"{'ST_' if server.title == 'MariaDB' else ''}GeomFromWKB(x'{wkb}', {srid or 0})"
    if name in ("float", "double", "real", "decimal"):
        return str(value)
    escaped = str(value).replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


SHAPES = (
    "geometry",
    "point",
    "linestring",
    "polygon",
    "multipoint",
    "multilinestring",
    "multipolygon",
    "geometrycollection",
)


def _scenario() -> dict[str, Any]:
    content: dict[str, Any] = json.loads(SCENARIO.read_text(encoding="utf-8"))
    return content
