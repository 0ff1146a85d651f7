"""A process that runs many updates: none of them leaves threads or open files behind, in Python or in the JVM."""

import gc
import os
import threading
from pathlib import Path

from pyspark.sql import SparkSession
from tests.support.small_pipeline import ROWS, SmallPipeline

SOURCE = f"""
    import dlt

    @dlt.table
    def raw():
        return {ROWS}

    dlt.create_streaming_table("people")
    dlt.create_auto_cdc_flow(target="people", source="raw", keys=["id"], sequence_by="id", stored_as_scd_type=1)

    @dlt.foreach_batch_sink(name="nowhere")
    def nowhere(batch, number):
        batch.count()

    @dlt.append_flow(target="nowhere")
    def sent():
        return spark.readStream.table("raw")
"""
WARM_UP, COUNTED = 4, 8
SLACK = 5
"""Threads and files that come and go; eight updates used to leave some thirty threads."""


def test_updates_leave_no_threads_and_no_open_files(spark: SparkSession, tmp_path: Path) -> None:
    small = SmallPipeline(tmp_path, spark, SOURCE)
    counts = []
    for number in range(WARM_UP + COUNTED):
        small.drop({"id": number, "name": "a"})
        assert small.pipeline.run().state == "COMPLETED"
        counts.append(_count(_jvm(spark)))
    for name, series in zip(("threads", "files", "files of the JVM"), zip(*counts, strict=True), strict=True):
        assert series[-1] - series[WARM_UP - 1] <= SLACK, f"{name} after each update: {series}"


def _jvm(spark: SparkSession) -> int:
    assert spark._jvm is not None
    return int(spark._jvm.java.lang.ProcessHandle.current().pid())


def _count(jvm: int) -> tuple[int, int, int]:
    gc.collect()
    return threading.active_count(), len(os.listdir("/proc/self/fd")), len(os.listdir(f"/proc/{jvm}/fd"))
