"""Generation of tests/decoding/captures: the connector's records of every column type in every converter mode.

One gzip file per Debezium version and value format (with or without schema block), with a topic prefix for each
combination of modes, such as `adaptive.precise.bytes`.
"""

import gzip
import itertools
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import click

from tools.captures import Record
from tools.sqlserver_connector import emitted, placed, repeatable
from tools.sqlserver_connector.connector import VERSIONS, Version

_DECODING = Path(__file__).resolve().parents[1] / "tests" / "decoding"
SCENARIO = _DECODING / "types.json"
TABLE = "testDB.dbo.types"

_TEMPORAL = ("adaptive", "adaptive_time_microseconds", "connect", "isostring", "microseconds", "nanoseconds")
_TEMPORAL_OF_2_5 = _TEMPORAL[:3]
_DECIMAL = ("precise", "double", "string")
_BINARY = ("bytes", "base64", "base64-url-safe", "hex")


class Modes(NamedTuple):
    """One combination of converter modes."""

    temporal: str
    decimal: str
    binary: str

    @property
    def prefix(self) -> str:
        """The topic prefix of its records."""
        return ".".join(self)


def combinations(version: Version) -> Iterator[Modes]:
    """Every combination that the version supports."""
    temporal = _TEMPORAL if version.startswith("3.") else _TEMPORAL_OF_2_5
    return map(Modes._make, itertools.product(temporal, _DECIMAL, _BINARY))


def capture_file(version: Version, *, with_schema: bool) -> Path:
    """The capture file of a version."""
    return _DECODING / "captures" / f"{version}{'.with-schema' if with_schema else ''}.jsonl.gz"


def table_records(version: Version, modes: Modes, *, with_schema: bool) -> list[Record]:
    """The records of the table with all types, from one run of the connector."""
    properties = {
        "topic.prefix": modes.prefix,
        "time.precision.mode": modes.temporal,
        "decimal.handling.mode": modes.decimal,
        "binary.handling.mode": modes.binary,
        "converter.schemas.enable": str(with_schema).lower(),
    }
    began = datetime.now(UTC)
    records = emitted(SCENARIO, version=version, properties=properties)
    settled = placed(repeatable(records, began, datetime.now(UTC)))
    return [record for record in settled if record.topic == f"{modes.prefix}.{TABLE}"]


@click.command(name="type_captures")
@click.option("--connector-version", "versions", type=click.Choice(VERSIONS), multiple=True, default=VERSIONS)
@click.option("--parallel", default=2, show_default=True, help="Number of connectors that run at the same time.")
def main(versions: tuple[Version, ...], parallel: int) -> None:
    """Run the connector in every combination of modes (takes some minutes) and rewrite the captures."""
    for version, with_schema in itertools.product(versions, (False, True)):
        every = list(combinations(version))
        with ThreadPoolExecutor(parallel) as runs:
            jobs = [runs.submit(table_records, version, modes, with_schema=with_schema) for modes in every]
            lines = [record.line() + "\n" for job in jobs for record in job.result()]
        file = capture_file(version, with_schema=with_schema)
        file.parent.mkdir(exist_ok=True)
        # No name and no time in the header: the same records give the same bytes.
        file.write_bytes(gzip.compress("".join(lines).encode(), mtime=0))
        click.echo(f"{len(lines)} records in {len(every)} combinations -> {file.name}")


if __name__ == "__main__":
    main()
