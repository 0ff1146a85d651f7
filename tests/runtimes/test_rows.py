"""Shipped code on the Spark versions of Databricks' runtimes: the rows are those that this project's own version gives.

`make test-runtimes` makes the virtual environments and runs this.
"""

import gzip
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml
from tests.decoding.expected import COLUMNS
from tests.decoding.test_types import COMPACT
from tests.pipeline.test_events import CAPTURE as EVENTS
from tests.pipeline.test_events import CONNECTOR, TABLE
from tests.support.conf_folder import write_conf
from tools.runtimes import REFUSED, RUNTIMES, Runtime
from tools.sqlserver_connector.connector import VERSIONS
from tools.type_captures import TABLE as TYPES
from tools.type_captures import capture_file

pytestmark = pytest.mark.runtimes

ROOT = Path(__file__).parents[2]
PROGRAM, OUT = Path(__file__).with_name("program.py"), "rows.json"
MESSAGES = ROOT / "tests/support/messages"
Rows = Mapping[str, list[str]]
"""Dataset -> the texts of its rows."""


@dataclass(frozen=True)
class Inputs:
    """What every runtime decodes: the demo, a connector's own topics, all types in the modes that differ most."""

    conf: Path
    captures: Path


@pytest.fixture(scope="session")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Inputs:
    folder = tmp_path_factory.mktemp("runtimes")
    conf, captures = folder / "conf", folder / "captures"
    demo = {str(file.relative_to(ROOT / "conf")): file.read_text() for file in (ROOT / "conf").rglob("*.yml")}
    events = {"connectors/events.yml": CONNECTOR, "tables/events/nopk.yml": TABLE}
    write_conf(conf, {**demo, **events, **dict(types_conf())})
    captures.mkdir()
    for file in (*(ROOT / "demo/captures").glob("*.jsonl"), EVENTS):
        (captures / file.name).write_text(file.read_text())
    (captures / "types.jsonl").write_text("".join(types_lines()))
    return Inputs(conf, captures)


def types_conf() -> Iterator[tuple[str, str]]:
    """The specs of the table of all types, under one connector for each combination of modes."""
    for modes in COMPACT:
        name = "_".join(modes).replace("-", "_")
        connector = {
            "topic_prefix": modes.prefix,
            "time_precision_mode": modes.temporal,
            "decimal_handling_mode": modes.decimal,
            "binary_handling_mode": modes.binary,
        }
        table = {"table": TYPES, "name": f"types_{name}", "key": ["id"], "columns": dict(COLUMNS)}
        yield f"connectors/{name}.yml", yaml.safe_dump(connector)
        yield f"tables/{name}/types.yml", yaml.safe_dump(table, sort_keys=False)


def types_lines() -> Iterator[str]:
    """The records of that table, by both connector versions, with and without a schema block."""
    topics = tuple(f'{{"topic":"{modes.prefix}.{TYPES}"' for modes in COMPACT)
    for version in VERSIONS:
        for with_schema in (False, True):
            with gzip.open(capture_file(version, with_schema=with_schema), "rt", encoding="utf-8") as lines:
                yield from (line for line in lines if line.startswith(topics))


@pytest.fixture(scope="session")
def expected(inputs: Inputs, tmp_path_factory: pytest.TempPathFactory) -> Rows:
    """The rows on the version that this project runs on, which all other tests check."""
    return rows_on(Path(sys.executable), "classic", inputs, tmp_path_factory.mktemp("expected"))


def rows_on(python: Path, mode: str, inputs: Inputs, folder: Path) -> Rows:
    ran = run(python, mode, inputs, folder)
    assert ran.returncode == 0, ran.stderr[-5000:]
    found: Rows = json.loads((folder / OUT).read_text())
    return found


def run(python: Path, mode: str, inputs: Inputs, folder: Path) -> subprocess.CompletedProcess[str]:
    # With SPARK_TESTING pyspark lets a Connect server choose a free port.
    testing = {"SPARK_TESTING": "1"} if mode == "connect" else {}
    environment = {**os.environ, **testing, "PYTHONPATH": str(ROOT / "pipelines")}
    command = [python, PROGRAM, mode, inputs.conf, inputs.captures, folder / OUT]
    return subprocess.run(
        command, capture_output=True, text=True, check=False, env=environment, timeout=900, cwd=folder
    )


def in_place(runtime: Runtime) -> Runtime:
    """The runtime, if its environment has been made."""
    if runtime.interpreter is None and not runtime.program.exists():
        pytest.skip(f"no python{runtime.python} here; install it or set PYTHON{runtime.python.replace('.', '_')}")
    assert runtime.program.exists(), f"{runtime.name} is not there: python -m tools.runtimes"
    return runtime


@pytest.mark.parametrize("mode", ("classic", "connect"))
@pytest.mark.parametrize("runtime", RUNTIMES, ids=lambda runtime: runtime.name)
def test_the_rows_are_the_same(expected: Rows, inputs: Inputs, tmp_path: Path, runtime: Runtime, mode: str) -> None:
    found = rows_on(in_place(runtime).program, mode, inputs, tmp_path)
    assert found.keys() == expected.keys()
    assert {name: difference(expected[name], rows) for name, rows in found.items() if rows != expected[name]} == {}


def test_an_older_version_is_refused(inputs: Inputs, tmp_path: Path) -> None:
    ran = run(in_place(REFUSED).program, "classic", inputs, tmp_path)
    assert ran.returncode != 0
    assert ran.stderr.strip().endswith((MESSAGES / "SPARK_TOO_OLD.txt").read_text().strip())


def difference(expected: list[str], found: list[str]) -> dict[str, list[str]]:
    """The rows that only one side has."""
    ours, theirs = Counter(expected), Counter(found)
    return {"only here": sorted((ours - theirs).elements())[:3], "only there": sorted((theirs - ours).elements())[:3]}


def test_there_are_rows_of_every_kind(expected: Rows) -> None:
    empty = {name for name, rows in expected.items() if len(rows) == 1}
    assert {name for name in expected if name.endswith(" decoded")} & empty == set()
    assert expected["shop orders changes in one plan"] == expected["shop orders changes"]
    assert {name.split()[-1] for name in expected.keys() - empty} >= {
        *("decoded", "rejects", "changes", "plan", "counts", "history", "rows", "ranges", "rejected", "drift"),
        *("schema_changes", "transactions", "heartbeats", "notifications", "signals", "columns", "liveness"),
    }
