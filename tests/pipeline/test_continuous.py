"""Continuous mode: new rows are processed without a restart, and the update ends when asked, at a batch boundary."""

import doctest
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from tests.conformance.tables import read
from tests.support.small_pipeline import SmallPipeline

from dlt_local import Update, UpdateFailed
from dlt_local.delta import delta_log
from dlt_local.delta.storage import StorageInUse
from dlt_local.updates import continuous

PIPELINES = Path(__file__).parents[2] / "pipelines"
DEADLINE = 600.0
"""Seconds after which a wait fails; reached only if something hangs, even on a slow and busy machine."""
SOURCE = """
import dlt

@dlt.table
@dlt.expect_or_fail("positive", "id > 0")
def raw():
    return spark.readStream.schema("id INT").option("maxFilesPerTrigger", 1).json(spark.conf.get("rows"))

@dlt.view
def all_of_it():
    return spark.read.table("raw")

@dlt.table
def total():
    return spark.read.table("all_of_it").groupBy().sum("id").toDF("total")
"""


def wait_until(condition: Callable[[], bool], is_running: Callable[[], bool]) -> None:
    """Wait for a condition; fail at once if what should bring it about has ended."""
    deadline = time.monotonic() + DEADLINE
    while not condition():
        assert is_running() or condition(), "the update ended first"
        assert time.monotonic() < deadline, f"not met within {DEADLINE:.0f} s"
        time.sleep(0.1)


class Continuous:
    """A continuous update in a thread of this process."""

    def __init__(self, small: SmallPipeline, **options: Any) -> None:
        self.stop = threading.Event()
        self._small = small
        self._result: Update | UpdateFailed | None = None
        # A daemon, because a test that fails must not leave pytest waiting for it.
        self._thread = threading.Thread(target=self._run, args=(options,), daemon=True)
        self._thread.start()

    def _run(self, options: dict[str, Any]) -> None:
        try:
            self._result = self._small.pipeline.run_continuously(self.stop, 0.2, **options)
        except UpdateFailed as failed:
            self._result = failed

    def wait_for_total(self, total: int) -> None:
        folder = self._small.pipeline.storage.root / "tables/default/total"
        wait_until(lambda: delta_log.exists(folder) and read(folder) == [{"total": total}], self._thread.is_alive)

    def wait_until(self, condition: Callable[[], bool]) -> None:
        wait_until(condition, self._thread.is_alive)

    def result(self) -> Update | UpdateFailed:
        self._thread.join(DEADLINE)
        assert self._result is not None, "the update did not end"
        return self._result


def test_rows_come_through_until_it_is_stopped(spark: SparkSession, tmp_path: Path) -> None:
    small = SmallPipeline(tmp_path, spark, SOURCE)
    small.drop({"id": 1})
    running = Continuous(small)
    running.wait_for_total(1)
    small.drop({"id": 2}, {"id": 3})
    running.wait_for_total(6)
    with pytest.raises(StorageInUse, match="in use by process"):
        small.pipeline.run()
    running.stop.set()
    update = running.result()
    assert isinstance(update, Update) and update.state == "COMPLETED"
    assert update["default.raw"].flows["default.raw"].num_output_rows == 3
    messages = [row.message for row in small.pipeline.event_log().collect()]
    assert messages[-1].endswith("is COMPLETED.")
    of_raw = [message for message in messages if message.startswith("Flow 'default.raw'")]
    assert 2 <= len(of_raw) <= 4, "idle rounds record no events"


def test_a_permanent_error_ends_it(spark: SparkSession, tmp_path: Path) -> None:
    small = SmallPipeline(tmp_path, spark, SOURCE)
    small.drop({"id": 1})
    running = Continuous(small)
    running.wait_for_total(1)
    small.drop({"id": -1})
    failed = running.result()
    assert isinstance(failed, UpdateFailed)
    assert "expectation `positive`" in str(failed)
    assert small.table("raw") == [{"id": 1}]


SIGNALS = [pytest.param(signal.SIGINT, id="Ctrl-C"), pytest.param(signal.SIGTERM, id="SIGTERM", marks=pytest.mark.long)]
FILES = 300
"""One batch each: far more than can be processed between the second batch and the signal."""


@contextmanager
def continuous_command(folder: Path) -> "Iterator[subprocess.Popen[bytes]]":
    """The command in a process group of its own; it reads `rows` and logs to `log`, both in the folder."""
    (folder / "s.py").write_text(SOURCE)
    command = [sys.executable, "-m", "dlt_local", "run", "--continuous", "--trigger-interval", "0.2 seconds"]
    command += ["--source", str(folder / "s.py"), "--storage", str(folder / "storage")]
    command += ["--set", f"rows={folder / 'rows'}"]
    environment = os.environ | {"PYTHONPATH": str(PIPELINES)}
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=log, start_new_session=True)
    try:
        yield process
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_ends_the_command_at_a_batch_boundary(number: int, tmp_path: Path) -> None:
    rows, raw, log = tmp_path / "rows", tmp_path / "storage/tables/default/raw", tmp_path / "log"
    rows.mkdir()
    for file in range(FILES):
        (rows / f"{file}.json").write_text(f'{{"id": {file + 1}}}')
    with continuous_command(tmp_path) as process:
        wait_until(lambda: delta_log.exists(raw) and len(read(raw)) > 1, lambda: process.poll() is None)
        # As a terminal does it: Ctrl-C reaches the JVM too.
        os.killpg(process.pid, number) if number == signal.SIGINT else process.send_signal(number)
        assert process.wait(DEADLINE) == 0, log.read_text()
    text = log.read_text()
    assert "Stopping at the next batch boundary" in text
    assert "update COMPLETED in" in text and "Traceback" not in text
    assert 1 < len(read(raw)) < FILES
    assert not list((tmp_path / "storage/system/journal").glob("*.jsonl"))


def test_the_examples_hold() -> None:
    assert doctest.testmod(continuous).failed == 0
