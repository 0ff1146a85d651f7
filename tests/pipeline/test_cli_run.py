"""The command line on a small bundle: an update in its own process, then commands that read its results."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from tests.conformance.tables import read
from tests.support.bundle_folder import write_bundle

from dlt_local.cli.main import main

PIPELINES = Path(__file__).parents[2] / "pipelines"
BUNDLE = """
bundle: {name: sums}
targets: {dev: {}}
resources:
  pipelines:
    sums:
      schema: numbers
      root_path: src
      libraries: [{glob: {include: src/**}}]
      configuration: {sums.most: "9"}
"""
SOURCE = """
import dlt
from pyspark.sql import functions as F


@dlt.table
@dlt.expect_or_fail("small", f"id <= {spark.conf.get('sums.most')}")
def first():
    return spark.range(4)


@dlt.table(name="gold.total")
def total():
    return spark.read.table("first").select(F.sum("id").alias("total"))
"""


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bundle on which one update has run."""
    folder = write_bundle(tmp_path_factory.mktemp("sums"), {"databricks.yml": BUNDLE, "src/tables.py": SOURCE})
    environment = os.environ | {"PYTHONPATH": str(PIPELINES)}
    command = [sys.executable, "-m", "dlt_local", "run"]
    ran = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert "update COMPLETED in" in ran.stdout
    assert ran.stdout.endswith(f"tables: {folder}/.databricks/local/dev/sums/tables\n")
    return folder


def invoke(bundle: Path, *arguments: str) -> Result:
    command, *options = arguments
    return CliRunner().invoke(main, [command, "--bundle", str(bundle), *options], catch_exceptions=False)


def test_the_tables_are_where_the_update_reported(bundle: Path) -> None:
    tables = bundle / ".databricks/local/dev/sums/tables"
    assert read(tables / "gold" / "total") == [{"total": 6}]
    assert sorted(path.name for path in tables.iterdir()) == ["gold", "numbers"]


def test_the_graph_is_printed_in_order(bundle: Path) -> None:
    result = invoke(bundle, "graph")
    assert result.exit_code == 0
    assert [" ".join(line.replace(f"{bundle}/", "").split()) for line in result.stdout.splitlines()] == [
        "numbers.first materialized view src/tables.py:5",
        "gold.total materialized view src/tables.py:11 <- numbers.first",
    ]


def test_a_dry_run_reports_errors_and_writes_nothing(bundle: Path) -> None:
    assert invoke(bundle, "dry-run").stdout == "2 datasets, no faults\n"
    faulty = write_bundle(bundle / "faulty", {"more.py": SOURCE.replace('table("first")', 'table("frist")')})
    result = invoke(bundle, "dry-run", "--source", str(faulty / "more.py"), "--storage", str(faulty / "storage"))
    assert result.exit_code == 1
    assert result.stderr.startswith(f"DATASET_NOT_FOUND  {faulty}/more.py:11\n  `gold.total` reads frist")
    assert not (faulty / "storage").exists()


def test_a_failed_update_shows_its_error_once(bundle: Path, tmp_path: Path) -> None:
    result = invoke(bundle, "run", "--storage", str(tmp_path), "--set", "sums.most=2")
    assert result.exit_code == 1
    assert "update FAILED in" in result.stdout and "SKIPPED   gold.total" in result.stdout
    assert result.stderr.count("small") == 1 and "Traceback" not in result.stderr


def test_events_prints_the_last_update(bundle: Path) -> None:
    lines = invoke(bundle, "events", "--json").stdout.splitlines()
    events = [json.loads(line) for line in lines]
    assert [event["event_type"] for event in events] == [
        "create_update",
        "dataset_definition",
        "flow_definition",
        "dataset_definition",
        "flow_definition",
        "flow_progress",
        "flow_progress",
        "update_progress",
    ]
    assert {event["timestamp"][-6:] for event in events} == {"+00:00"}
    assert "is COMPLETED." in invoke(bundle, "events").stdout
