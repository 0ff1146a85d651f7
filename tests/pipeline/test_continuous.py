"""Continuous mode: new rows come through without another start, and it ends when asked, at a batch boundary."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from tests.conformance.tables import read
from tests.support.small_pipeline import SmallPipeline

from dlt_local import Update, UpdateFailed
from dlt_local.delta import delta_log
from dlt_local.delta.storage import StorageInUse

PIPELINES = Path(__file__).parents[2] / "pipelines"
PATIENCE = 120.0
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


def until(met: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not met():
        assert time.monotonic() < deadline, "it took too long"
        time.sleep(0.1)


def total(small: SmallPipeline) -> object:
    folder = small.pipeline.storage.root / "tables/default/total"
    return [row["total"] for row in read(folder)] if delta_log.exists(folder) else None


class Continuous:
    """A continuous update in a thread of this process."""

    def __init__(self, small: SmallPipeline, **options: Any) -> None:
        self.stop = threading.Event()
        self.ended: list[Update | UpdateFailed] = []
        self._thread = threading.Thread(target=self._run, args=(small, options))
        self._thread.start()

    def _run(self, small: SmallPipeline, options: dict[str, Any]) -> None:
        try:
            self.ended.append(small.pipeline.run_continuously(self.stop, 0.2, **options))
        except UpdateFailed as failed:
            self.ended.append(failed)

    def join(self) -> Update | UpdateFailed:
        self._thread.join(PATIENCE)
        return self.ended[0]


def test_rows_come_through_until_it_is_stopped(spark: SparkSession, tmp_path: Path) -> None:
    small = SmallPipeline(tmp_path, spark, SOURCE)
    small.drop({"id": 1})
    running = Continuous(small)
    until(lambda: total(small) == [1])
    small.drop({"id": 2}, {"id": 3})
    until(lambda: total(small) == [6])
    with pytest.raises(StorageInUse, match="in use by process"):
        small.pipeline.run()
    running.stop.set()
    update = running.join()
    assert isinstance(update, Update) and update.state == "COMPLETED"
    assert update["default.raw"].flows["default.raw"].num_output_rows == 3
    states = [row.message for row in small.pipeline.event_log().collect()]
    assert states[-1].endswith("is COMPLETED.")
    told = [message for message in states if message.startswith("Flow 'default.raw'")]
    assert 2 <= len(told) <= 4, "rounds in which nothing was new are not told"


def test_what_cannot_pass_ends_it(spark: SparkSession, tmp_path: Path) -> None:
    small = SmallPipeline(tmp_path, spark, SOURCE)
    small.drop({"id": 1})
    running = Continuous(small)
    until(lambda: total(small) == [1])
    small.drop({"id": -1})
    failed = running.join()
    assert isinstance(failed, UpdateFailed)
    assert "expectation `positive`" in str(failed)
    assert small.table("raw") == [{"id": 1}]


SIGNALS = [pytest.param(signal.SIGINT, id="Ctrl-C"), pytest.param(signal.SIGTERM, id="SIGTERM", marks=pytest.mark.long)]


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_ends_the_command_at_a_batch_boundary(number: int, tmp_path: Path) -> None:
    source, rows, storage = tmp_path / "s.py", tmp_path / "rows", tmp_path / "storage"
    source.write_text(SOURCE)
    rows.mkdir()
    (rows / "0.json").write_text('{"id": 1}')
    command = [sys.executable, "-m", "dlt_local", "run", "--continuous", "--trigger-interval", "0.2 seconds"]
    command += ["--source", str(source), "--storage", str(storage), "--set", f"rows={rows}"]
    environment = os.environ | {"PYTHONPATH": str(PIPELINES)}
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=log, start_new_session=True)
    try:
        until(lambda: (storage / "tables/default/total/_delta_log/00000000000000000001.json").exists())
        for number_of_file in range(1, 30):
            (rows / f"{number_of_file}.json").write_text(f'{{"id": {number_of_file + 1}}}')
        until(lambda: len(read(storage / "tables/default/raw")) > 1)
        # As a terminal does it: the signal goes to the JVM too.
        os.killpg(process.pid, number) if number == signal.SIGINT else process.send_signal(number)
        assert process.wait(PATIENCE) == 0, (tmp_path / "log").read_text()
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
    log_text = (tmp_path / "log").read_text()
    assert "Stopping at the next batch boundary" in log_text
    assert "update COMPLETED in" in log_text and "Traceback" not in log_text
    assert 1 < len(read(storage / "tables/default/raw")) < 30
    assert not list((storage / "system/journal").glob("*.jsonl"))
