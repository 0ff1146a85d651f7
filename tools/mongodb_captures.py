"""Generation of tests/decoding/captures/mongodb: every BSON type, and every form of update, by each connector.

The connectors are Debezium's; the server is scripted (tools/mongodb_connector), so that it would log these changes is
MongoDB's documentation's word, not shown.
"""

import gzip
import json
import re
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from tools.captures import Record
from tools.debezium_connector import Connector, worker
from tools.mongodb_connector import Primary, primary
from tools.mongodb_connector.primary import CONNECTOR_CLASS, VERSIONS

FOLDER = Path(__file__).resolve().parents[1] / "tests" / "decoding" / "captures" / "mongodb"
SCENARIO = FOLDER / "scenario.json"
"""Steps: what the scripted server does, and `start`, `kill`, `flush`, `wait`."""
MODES: Mapping[str, Mapping[str, str]] = {
    "update_full": {"capture.mode": "change_streams_update_full"},
    "partial": {"capture.mode": "change_streams"},
    "pre_image": {
        "capture.mode": "change_streams_update_full_with_pre_image",
        "capture.mode.full.update.type": "post_image",
    },
}
"""Part of the topic prefix -> properties of the connector."""
_OPLOG = {"oplog": dict[str, str]()}
_NOW = re.compile(rb'"ts_(ms|us|ns)":(\d+)')
_RUN = "__debezium.context.runId"


def combinations(version: str) -> Mapping[str, Mapping[str, str]]:
    """The modes of a version."""
    return _OPLOG if version.startswith("1.") else MODES


def capture_file(version: str, *, with_schema: bool) -> Path:
    """The capture file of a version."""
    return FOLDER / f"{version}{'.with-schema' if with_schema else ''}.jsonl.gz"


def play(steps: Iterable[Mapping[str, Any]], server: Primary, connector: Connector) -> list[Record]:
    """The records of a scenario."""
    for step in steps:
        for name, value in step.items():
            match name:
                case "clock":
                    server.clock(value)
                case "wall_time":
                    server.wall_time(value)
                case "seed":
                    server.seed(value, step["documents"])
                case "changes":
                    server.change(*value)
                case "transaction":
                    server.transact(*value)
                case "wait":
                    connector.wait(records=value)
                case "quiet":
                    connector.wait(quiet=value)
                case "start" | "kill" | "stop" | "flush":
                    getattr(connector, name)()
    connector.wait(quiet=0.7)
    connector.stop()
    return connector.records()


def settled(records: Iterable[Record]) -> list[Record]:
    """Without what the machine's clock or chance has written: the same scenario always gives the same bytes."""
    return [_settled(record, number) for number, record in enumerate(records)]


def _settled(record: Record, number: int) -> Record:
    moment = 1_772_366_400_000 + number * 1000

    def settle(found: re.Match[bytes]) -> bytes:
        unit, count = found[1].decode(), int(found[2])
        factor = {"ms": 1, "us": 1000, "ns": 10**6}[unit]
        # The scripted clock stands before this; only the machine's is later.
        now = count // factor > 1_790_000_000_000
        return b'"ts_%s":%d' % (found[1], moment * factor if now else count)

    value = None if record.value is None else _NOW.sub(settle, record.value)
    headers = tuple((name, b"run" if name == _RUN else content) for name, content in record.headers)
    return replace(record, timestamp=moment, headers=headers, value=value)


def captured(version: str, steps: list[Mapping[str, Any]], properties: Mapping[str, str], prefix: str) -> list[Record]:
    """The records of one run of the connector on a scenario."""
    with tempfile.TemporaryDirectory() as folder, primary() as server, worker(VERSIONS[version]) as jvm:
        every = {**server.properties(prefix), **properties}
        connector = jvm.connector(CONNECTOR_CLASS, every, Path(folder) / "offsets")
        return settled(play(steps, server, connector))


@click.command(name="mongodb_captures")
@click.option("--connector-version", "versions", type=click.Choice(list(VERSIONS)), multiple=True, default=VERSIONS)
def main(versions: tuple[str, ...]) -> None:
    """Run the connectors in every mode (takes two minutes) and rewrite the captures."""
    steps = json.loads(SCENARIO.read_text(encoding="utf-8"))
    for version in versions:
        for with_schema in (False, True):
            lines = []
            for mode, properties in combinations(version).items():
                prefix = f"{mode}.server1" if not version.startswith("1.") else "oplog"
                every = {**properties, "converter.schemas.enable": str(with_schema).lower()}
                lines += [record.line() + "\n" for record in captured(version, steps, every, prefix)]
            file = capture_file(version, with_schema=with_schema)
            # No name and no time in the header: the same records give the same bytes.
            file.write_bytes(gzip.compress("".join(lines).encode(), mtime=0))
            click.echo(f"{len(lines)} records -> {file.name}")


if __name__ == "__main__":
    main()
