"""The captures of tests/decoding: every type in every mode, and random histories with the server's rows beside them."""

import gzip
import itertools
import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

from tools.captures import Record
from tools.db2_connector.connector import CONFIGURATIONS, SOURCES, Version, connector
from tools.db2_connector.server import Row, Server
from tools.debezium_connector import Worker, worker

_DECODING = Path(__file__).resolve().parents[2] / "tests" / "decoding"
FOLDER = _DECODING / "captures" / "db2"
HISTORIES = _DECODING / "histories" / "db2"
SCENARIO = _DECODING / "db2_types.json"
TABLE = "SALES.TYPES"
TEMPORAL: Mapping[Version, tuple[str, ...]] = {
    "3.6.1.Final": (
        *("adaptive", "adaptive_time_microseconds", "connect", "isostring", "microseconds", "nanoseconds"),
    ),
    "1.9.7.Final": ("adaptive", "connect"),
}
"""The values of ``time.precision.mode`` that a version knows."""
DECIMAL = ("precise", "double", "string")
_EMITTED_AT = 1_772_438_400_000


def capture_file(version: Version, *, with_schema: bool) -> Path:
    """The capture of all types and modes of a version."""
    return FOLDER / f"{version}{'.with-schema' if with_schema else ''}.jsonl.gz"


def write_types(version: Version, *, with_schema: bool) -> None:
    """Run the connector in every combination of modes and write the records; a topic prefix for each."""
    records: list[Record] = []
    with tempfile.TemporaryDirectory() as folder, worker(CONFIGURATIONS[version], sources=SOURCES) as jvm:
        for temporal, decimal in itertools.product(TEMPORAL[version], DECIMAL):
            modes = {
                "topic.prefix": f"{temporal}.{decimal}",
                "time.precision.mode": temporal,
                "decimal.handling.mode": decimal,
                "converter.schemas.enable": str(with_schema).lower(),
            }
            records += _of_types(jvm, modes, Path(folder) / f"{temporal}.{decimal}")
    _write(capture_file(version, with_schema=with_schema), records)


def _of_types(jvm: Worker, modes: Mapping[str, str], folder: Path) -> Iterator[Record]:
    scenario: dict[str, Any] = json.loads(SCENARIO.read_text(encoding="utf-8"))
    folder.mkdir()
    server = Server(folder / "state.json")
    server.create(TABLE, scenario["columns"], ["ID"])
    server.load(TABLE, scenario["snapshot"])
    server.capture(TABLE)
    source = connector(jvm, server, modes, folder / "connector")
    source.start()
    snapshot, streamed = len(scenario["snapshot"]), len(scenario["streamed"])
    # The schema change comes first, in a topic of its own.
    source.wait(records=1 + snapshot)
    for row in scenario["streamed"]:
        server.transact([("i", TABLE, row)])
    source.wait(records=1 + snapshot + streamed)
    source.stop()
    yield from _settled(record for record in source.records() if record.topic.endswith(TABLE))


def write_history(jvm: Worker, seed: int) -> None:
    """A random history of one table: its records, what was done to it, and the rows that the server has at its end."""
    random, table = Random(seed), f"SALES.T{seed}"
    with tempfile.TemporaryDirectory() as folder:
        server = Server(Path(folder) / "state.json")
        server.create(table, {"ID": "integer not null", "NAME": "varchar(20)", "TOTAL": "decimal(9,2)"}, ["ID"])
        server.load(table, [{"ID": number, "NAME": f"first {number}", "TOTAL": "0.00"} for number in range(5)])
        server.capture(table)
        source = connector(jvm, server, {"topic.prefix": "db2"}, Path(folder) / "connector")
        source.start()
        source.wait(until=lambda record: b'"snapshot":"last"' in (record.value or b""))
        loaded, transactions = list(map(dict, server.tables[table].rows)), []
        for _ in range(12):
            for _ in range(random.randint(1, 4)):
                transactions.append(list(_operations(random, table, server)))
                server.transact(transactions[-1])
            source.wait(quiet=0.3)
            _interrupt(source, random)
        source.wait(quiet=0.5)
        source.stop()
        HISTORIES.mkdir(parents=True, exist_ok=True)
        of_table = [record for record in source.records() if record.topic.endswith(f".{table}")]
        _write(HISTORIES / f"{seed}.jsonl.gz", _settled(of_table))
        history = {"table": table, "loaded": loaded, "transactions": transactions, "rows": server.tables[table].rows}
        _compressed(HISTORIES / f"{seed}.rows.json.gz", json.dumps(history))


def _interrupt(source: Any, random: Random) -> None:
    """Sometimes store the offsets, restart the connector, or kill it, so that it delivers records again."""
    what = random.random()
    if what < 0.3:
        source.flush()
    elif what < 0.45:
        source.stop()
        source.start()
    elif what < 0.65:
        source.kill()
        source.start()


def _operations(random: Random, table: str, server: Server) -> Iterator[tuple[str, str, Row]]:
    """The statements of one transaction; no row is changed in a way that a later one could not follow."""
    ids = {row["ID"] for row in server.tables[table].rows}
    for _ in range(random.randint(1, 5)):
        values = {"NAME": f"n{random.randint(0, 999)}", "TOTAL": f"{random.randint(-999, 999) / 100:.2f}"}
        what = random.choice("iuuukd")
        free = [number for number in range(12) if number not in ids]
        if what == "i" and free:
            ids.add(number := random.choice(free))
            yield "i", table, {"ID": number, **values}
        elif what == "k" and free and ids:
            ids.discard(old := random.choice(sorted(ids)))
            ids.add(number := random.choice(free))
            yield "u", table, {"old": {"ID": old}, "ID": number, **values}
        elif what == "d" and len(ids) > 1:
            ids.discard(number := random.choice(sorted(ids)))
            yield "d", table, {"ID": number}
        elif ids:
            yield "u", table, {"ID": random.choice(sorted(ids)), **values}


def _settled(records: Sequence[Record] | Iterator[Record]) -> Iterator[Record]:
    """Records with timestamps of their own order, so that a capture changes only where the connector's values do."""
    for number, record in enumerate(records):
        yield replace(record, timestamp=_EMITTED_AT + number)


def _write(file: Path, records: Sequence[Record] | Iterator[Record]) -> None:
    _compressed(file, "".join(record.line() + "\n" for record in records))


def _compressed(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    # No name and no time in the header: the same records give the same bytes.
    file.write_bytes(gzip.compress(text.encode(), mtime=0))
