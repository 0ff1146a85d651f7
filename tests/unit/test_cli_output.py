"""What commands print: versions, JSON for programs, steps; and the project that `init` makes. Nothing starts Spark."""

import io
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from tests.support.bundle_folder import SMALLEST, write_bundle
from tests.unit.test_cli_drawing import NODES, node

from cdc.__main__ import cdc
from dlt_local.bundle import bundle_pipeline, read_bundle
from dlt_local.cli.json_output import NoticesKept
from dlt_local.cli.main import main
from dlt_local.delta.storage import Storage
from dlt_local.errors import DeclarationError, SourceLocation
from dlt_local.flows.outcomes import DatasetUpdate, FlowMetrics, Update, UpdateFailed
from dlt_local.graph.graph import Graph
from dlt_local.observability import event_log
from dlt_local.observability.event_log import Event, EventLog
from dlt_local.observability.progress import Terminal

PIPELINES = Path(__file__).parents[2] / "pipelines"


def invoke(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, [str(each) for each in arguments], catch_exceptions=False)


def test_both_commands_tell_their_version() -> None:
    for command in (main, cdc):
        shown = CliRunner().invoke(command, ["--version"])
        assert shown.exit_code == 0
        assert shown.stdout.split()[0] == {main: "dlt-local", cdc: "cdc"}[command]


@pytest.mark.parametrize("command", ["run", "dry-run"])
def test_a_failure_before_spark_starts_is_one_json_object_too(command: str, tmp_path: Path) -> None:
    folder = write_bundle(tmp_path, {"databricks.yml": SMALLEST.replace("src/**", "'${var.a}'")})
    result = invoke(command, "--bundle", folder, "--format", "json")
    assert result.exit_code == 1
    document = json.loads(result.stdout)
    (error,) = document["errors"]
    assert document["state"] == "FAILED"
    assert (error["condition"], error["file"], error["line"]) == ("UNKNOWN_VARIABLE", f"{folder}/databricks.yml", 6)
    assert error["message"] == result.stderr.rstrip("\n")


def test_quiet_and_verbose_exclude_each_other() -> None:
    result = invoke("run", "--source", "a.py", "--storage", "s", "--quiet", "--verbose")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "--quiet and --verbose exclude each other" in result.stderr


def test_the_json_of_an_update_has_what_each_dataset_did() -> None:
    from dlt_local.cli.json_output import failures_as_json, update_result

    place = DeclarationError("NO_FLOW", "nothing writes it", SourceLocation("a.py", 3), "add a flow")
    outcomes = (
        DatasetUpdate("a.b", "streaming table", "COMPLETED", {"f": FlowMetrics(5, 1, failed={"small": 1})}, None, 1.5),
        DatasetUpdate("a.c", "streaming table", "FAILED", error=place),
    )
    update = Update("u", "FAILED", outcomes, NODES)
    first, second = update_result(update)["datasets"]
    assert (first["rows"], first["dropped"], first["failed_expectations"], first["error"]) == (5, 1, {"small": 1}, None)
    assert (second["error"]["condition"], second["error"]["line"]) == ("NO_FLOW", 3)
    with pytest.raises(UpdateFailed), failures_as_json(False) as document:
        raise UpdateFailed(update, [place])
    assert (document["update_id"], document["state"], len(document["errors"])) == ("u", "FAILED", 1)


def test_an_update_names_the_dataset_that_was_meant() -> None:
    update = Update("u", "COMPLETED", (DatasetUpdate("bronze.orders", "streaming table", "IDLE"),), NODES)
    assert update["bronze.orders"].state == "IDLE"
    with pytest.raises(KeyError, match=r"no dataset bronze\.ordrs \(did you mean `bronze\.orders`\?\)"):
        update["bronze.ordrs"]


def test_steps_are_lines_and_without_them_only_ends_are() -> None:
    def printed(steps: bool) -> list[str]:
        stream = io.StringIO()
        terminal = Terminal(stream, steps)
        terminal.begin("title", NODES)
        terminal.state("bronze.a", "RUNNING")
        terminal.batch("bronze.a", "f", FlowMetrics(7, batches=1))
        terminal.state("bronze.a", "COMPLETED")
        terminal.state("bronze.b", "IDLE")
        return [line.split()[0] for line in stream.getvalue().splitlines()[1:]]

    assert printed(steps=True) == ["RUNNING", "batch", "COMPLETED", "IDLE"]
    assert printed(steps=False) == ["COMPLETED"]


def test_events_are_printed_without_spark(tmp_path: Path) -> None:
    for update in ("first", "second"):
        log = EventLog(Storage(tmp_path), "shop", update)
        log.emit(Event("create_update", f"{update} started"))
        log.emit(Event("update_progress", f"{update} ended", {"state": "COMPLETED"}, dataset="a.b"))
        log.publish()
    script = "import sys; from dlt_local.cli.main import main; main(sys.argv[1:], standalone_mode=False)\n"
    script += "from pyspark import SparkContext; assert SparkContext._gateway is None"
    command = [sys.executable, "-c", script, "events", "--storage", str(tmp_path), "--format", "json"]
    environment = os.environ | {"PYTHONPATH": str(PIPELINES)}
    shown = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert shown.returncode == 0, shown.stderr
    events = [json.loads(line) for line in shown.stdout.splitlines()]
    assert [event["message"] for event in events] == ["second started", "second ended"]
    assert invoke("events", "--storage", tmp_path, "--json").stdout == shown.stdout
    assert len(invoke("events", "--storage", tmp_path, "--all").stdout.splitlines()) == 5
    assert [row["message"] for row in event_log.rows(Storage(tmp_path))][:2] == ["first started", "first ended"]


def test_init_makes_a_project_that_is_a_bundle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    made = invoke("init", "shop")
    assert made.exit_code == 0
    files = sorted(str(path.relative_to("shop")) for path in Path("shop").rglob("*") if path.is_file())
    assert files == [
        ".gitignore",
        "README.md",
        "databricks.yml",
        "landing/orders/1.json",
        "src/orders.py",
        "src/orders_by_country.sql",
        "tests/test_orders.py",
    ]
    assert [line.strip() for line in made.stdout.splitlines()[:7]] == files
    pipeline = bundle_pipeline(read_bundle("shop"))
    assert (pipeline.name, pipeline.schema, pipeline.root_path) == ("shop", "shop", tmp_path / "shop/src")
    assert pipeline.configuration == {"landing.orders": f"{tmp_path}/shop/landing/orders"}
    assert not [file for file in files if "{name}" in Path("shop", file).read_text()]


def test_init_overwrites_nothing_and_needs_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("full").mkdir()
    Path("full/mine").write_text("")
    for folder, why in (("full", "full is not empty"), ("my-shop", "`my-shop` cannot name a pipeline")):
        result = invoke("init", folder)
        assert (result.exit_code, result.stdout) == (2, "")
        assert why in result.stderr
    assert [path.name for path in tmp_path.rglob("*")] == ["full", "mine"]


def test_warnings_of_java_are_kept_off_the_terminal() -> None:
    script = """
import subprocess, sys, time
from dlt_local.spark.stderr import without_java_warnings
with without_java_warnings():
    child = subprocess.Popen(["sh", "-c", "echo 'WARNING: Using incubator modules' >&2; echo '12:00:00 ERROR x' >&2"])
child.wait()
time.sleep(0.2)
print("mine: WARNING", file=sys.stderr)
"""
    environment = os.environ | {"PYTHONPATH": str(PIPELINES)}
    ran = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True)
    assert ran.stderr == "12:00:00 ERROR x\nmine: WARNING\n"


class _Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


def _many(count: int) -> Graph:
    return Graph(tuple(node(f"bronze.table_{number}", "streaming table") for number in range(count)), ())


def test_of_many_datasets_the_live_table_shows_those_that_run_and_counts_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("LINES", "12")
    monkeypatch.setenv("TERM", "xterm")
    screen = _Screen()
    terminal = Terminal(screen)
    terminal.begin("title", _many(500))
    for number in range(300):
        terminal.state(f"bronze.table_{number}", "RUNNING")
        terminal.state(f"bronze.table_{number}", "FAILED" if number == 7 else "COMPLETED")
    terminal.state("bronze.table_499", "RUNNING")
    deadline = time.monotonic() + 60
    while "bronze.table_499" not in screen.getvalue() and time.monotonic() < deadline:
        time.sleep(0.05)
    last = screen.getvalue().rpartition("title")[2]
    terminal.end("FAILED")
    shown = [line.split()[0] for line in last.splitlines() if "bronze." in line]
    assert len(shown) == 8
    assert {"bronze.table_499", "bronze.table_7", "bronze.table_299"} <= set(shown)
    assert "and 293 COMPLETED, 199 QUEUED" in last


@pytest.mark.parametrize(("datasets", "shown"), [(99, ""), (2100, "shop: planning 2,100 datasets\n")])
def test_the_planning_of_many_datasets_is_announced(datasets: int, shown: str) -> None:
    stream = io.StringIO()
    NoticesKept(Terminal(stream)).planning("shop", datasets)
    assert stream.getvalue() == shown


def test_the_summary_of_many_datasets_leaves_out_the_idle_ones() -> None:
    stream = io.StringIO()
    terminal = Terminal(stream)
    terminal.begin("title", _many(60))
    terminal.state("bronze.table_3", "COMPLETED")
    for number in set(range(60)) - {3}:
        terminal.state(f"bronze.table_{number}", "IDLE")
    terminal.end("COMPLETED")
    summary = stream.getvalue().rpartition("dataset ")[2]
    assert [line.split()[0] for line in summary.splitlines()[1:]] == ["bronze.table_3", "and", "update"]
    assert "and 59 IDLE" in summary
