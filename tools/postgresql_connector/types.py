"""Generation of tests/decoding/captures/postgresql: every column type in every converter mode, from real connectors.

One gzip file per Debezium version and value format (with or without schema block), with a topic prefix for each
combination of modes, and the database's own rows beside them. Each mode is in a combination, not every combination of
modes: the modes of different types do not meet in one value.
"""

import gzip
import itertools
import json
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

import click

from tools.captures import Record
from tools.debezium_connector import Worker, worker
from tools.postgresql_connector.parts import parts
from tools.postgresql_connector.server import Server, server

Version = Literal["3.6.1.Final", "1.9.7.Final", "1.4.2.Final"]
VERSIONS: tuple[Version, ...] = get_args(Version)
CONNECTOR = "io.debezium.connector.postgresql.PostgresConnector"

_DECODING = Path(__file__).resolve().parents[2] / "tests" / "decoding"
SCENARIO = _DECODING / "postgresql" / "types.sql"
CAPTURES = _DECODING / "captures" / "postgresql"
ROWS = CAPTURES / "rows.json.gz"
TABLES = ("types", "toast")
_RECORDS: dict[Version, int] = {"3.6.1.Final": 69, "1.9.7.Final": 66, "1.4.2.Final": 12}
"""In each run: of all parts of the scenario that the version survives, tombstones included."""
DOMAINS = {
    "positive": "integer",
    "stars": "positive",
    "price": "numeric(12,3)",
    "low_price": "price",
    "code": "varchar(8)",
    "short_code": "code",
}
"""The scenario's domains, each with the type or domain that it is over."""
_OWN_TYPES = {"mood": "enum", "mood[]": "enum[]", "pair": "composite", **DOMAINS}
"""The scenario's own types, as a spec has them."""
_NEVER_WRITTEN = ("money[]", "interval[]", "ltree[]", "bit(5)[]")
_READS = 4
"""Those of the snapshot."""


class Modes(NamedTuple):
    """One combination of converter modes."""

    temporal: str
    decimal: str
    binary: str
    interval: str
    hstore: str
    decimal_format: str = "base64"
    unknown: str = "false"

    @property
    def prefix(self) -> str:
        """The topic prefix of its records."""
        return ".".join(self[:6])

    @property
    def properties(self) -> dict[str, str]:
        """The connector's."""
        return {
            "time.precision.mode": self.temporal,
            "decimal.handling.mode": self.decimal,
            "binary.handling.mode": self.binary,
            "interval.handling.mode": self.interval,
            "hstore.handling.mode": self.hstore,
            "converter.decimal.format": self.decimal_format.upper(),
            "include.unknown.datatypes": self.unknown,
        }


_OLD = (
    Modes("adaptive", "precise", "bytes", "numeric", "json"),
    Modes("adaptive_time_microseconds", "string", "base64", "string", "map", unknown="true"),
    Modes("connect", "double", "hex", "numeric", "json"),
)
_NEW = (
    *_OLD,
    Modes("isostring", "precise", "base64-url-safe", "string", "map", "numeric", "true"),
    Modes("microseconds", "string", "bytes", "numeric", "json", unknown="true"),
    Modes("nanoseconds", "precise", "hex", "string", "map", unknown="true"),
)


def combinations(version: Version) -> tuple[Modes, ...]:
    """The combinations that the version supports."""
    return _NEW if version.startswith("3.") else _OLD


def capture_file(version: Version, *, with_schema: bool) -> Path:
    """The capture file of a version."""
    return CAPTURES / f"types.{version}{'.with-schema' if with_schema else ''}.jsonl.gz"


def configuration(version: Version) -> str:
    """The version's jars in ivy.xml."""
    return f"postgresql-{'.'.join(version.split('.')[:2])}"


def rows(table: str) -> list[dict[str, Any]]:
    """The database's own rows of a table, as text; arrays are lists of texts."""
    return _stored_rows(table)


def shown_rows() -> list[dict[str, Any]]:
    """The database's own rows of `types` as the server shows them, arrays too: `{1,2,NULL}`."""
    return _stored_rows("types as shown")


def _stored_rows(name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(gzip.decompress(ROWS.read_bytes()))[name]
    return found


def columns(table: str) -> dict[str, str]:
    """The columns of a table and their types as in a spec, from the scenario's DDL."""
    found = {name: _in_spec(type_) for name, type_ in _declared(table)}
    return {name: type_ for name, type_ in found.items() if type_ not in _NEVER_WRITTEN}


def domains(table: str) -> dict[str, str]:
    """The columns of a table whose type is a domain, and the domain in words: `a domain over a domain`."""
    found = {name: type_ for name, type_ in _declared(table) if type_ in DOMAINS}
    over = {name: DOMAINS[type_] in DOMAINS for name, type_ in found.items()}
    return {name: "a domain over a domain" if is_over_domain else "a domain" for name, is_over_domain in over.items()}


def _in_spec(type_: str) -> str:
    return _in_spec(_OWN_TYPES[type_]) if type_ in _OWN_TYPES else type_


def _declared(table: str) -> Iterator[tuple[str, str]]:
    """Each column and its type as in the scenario's DDL."""
    ddl = re.search(rf"CREATE TABLE {table} \((.*?)\n\);", SCENARIO.read_text(encoding="utf-8"), re.DOTALL)
    assert ddl is not None
    for each in re.split(r",\s+(?![^(]*\))", ddl[1].strip()):
        name, _, type_ = each.partition(" ")
        yield name, type_.replace(" PRIMARY KEY", " not null")


def _records(
    jvm: Worker, database: Server, name: str, version: Version, modes: Modes, *, with_schema: bool
) -> list[Record]:
    """The records of both tables, from one run of the connector over a database of its own."""
    _, values, extremes, infinite, changes = parts(SCENARIO)
    # 1.4 stops at a date of `infinity`, and 1.9 at a numeric.
    survived = {"3.6.1.Final": (extremes, infinite), "1.9.7.Final": (extremes,), "1.4.2.Final": ()}
    database.run(f"CREATE DATABASE {name} TEMPLATE base")
    properties = {
        **database.properties(name, modes.prefix),
        **modes.properties,
        "table.include.list": ",".join(f"public.{table}" for table in TABLES),
        "slot.name": name,
        "converter.schemas.enable": str(with_schema).lower(),
    }
    with tempfile.TemporaryDirectory() as folder:
        connector = jvm.connector(CONNECTOR, properties, Path(folder) / "offsets")
        connector.start()
        connector.wait(records=_READS)
        for part in (values, *survived[version], changes):
            database.run(part, name)
        connector.wait(records=_RECORDS[version])
        connector.stop()
        return connector.records()


def _rows(database: Server) -> dict[str, Any]:
    """The rows of `types`, also as the server shows them, and each version of the row of `toast`."""
    _, *others = parts(SCENARIO)
    database.run("CREATE DATABASE rows TEMPLATE base")
    versions = database.rows("toast", "rows")
    *inserts, changes = others
    for part in inserts:
        database.run(part, "rows")
    for statement in changes.splitlines():
        database.run(statement, "rows")
        versions += database.rows("toast", "rows")
    shown = database.rows("types", "rows", arrays_are_lists=False)
    return {"types": database.rows("types", "rows"), "types as shown": shown, "toast": versions}


@click.command(name="postgresql_connector.types")
@click.option("--connector-version", "versions", type=click.Choice(VERSIONS), multiple=True, default=VERSIONS)
def main(versions: tuple[Version, ...]) -> None:
    """Run the connectors in every combination of modes (takes some minutes) and rewrite the captures."""
    CAPTURES.mkdir(parents=True, exist_ok=True)
    for version in versions:
        with server() as database:
            database.run("CREATE DATABASE base")
            database.run(parts(SCENARIO)[0], "base")
            ROWS.write_bytes(gzip.compress(json.dumps(_rows(database)).encode(), mtime=0))
            numbers = itertools.count()
            with worker(configuration(version)) as jvm:
                for with_schema in (False, True):
                    lines: list[str] = []
                    # A schema block says nothing more in other modes; it is large.
                    for modes in combinations(version)[: 2 if with_schema else None]:
                        records = _records(
                            jvm, database, f"run{next(numbers)}", version, modes, with_schema=with_schema
                        )
                        lines += (record.line() + "\n" for record in records)
                    file = capture_file(version, with_schema=with_schema)
                    file.write_bytes(gzip.compress("".join(lines).encode(), 9, mtime=0))
                    click.echo(f"{len(lines)} records -> {file}")


if __name__ == "__main__":
    main()
