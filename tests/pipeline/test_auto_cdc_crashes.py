"""Killed updates: whatever the moment, the next update makes the tables that an update never killed makes.

AUTO_CDC_SEED repeats a run of blind kills: its histories and moments are printed with a failure.
"""

import os
import time
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from pyspark.sql import SparkSession
from tests.conformance.tables import difference
from tests.support.crash import die_at, kill_after
from tests.support.histories import FLOWS
from tests.support.history_pipeline import HistoryPipeline

from dlt_local.failpoints import POINTS

SEED = int(os.environ.get("AUTO_CDC_SEED") or time.time_ns() % 1_000_000_007)
_FLOWS = tuple(flow for flow in FLOWS if flow.name in ("scd1", "scd2", "truncated", "filled_versions"))
_BESIDE = """
@dp.table
def copied():
    return rows(spark.readStream.text({folder!r}))

@dp.materialized_view
def counted():
    return spark.read.table("scd2").groupBy("history").count()
"""
_FIRST_LOAD_ONLY = ("table.created",)
_FULL_REFRESH = ("reset.begun",)
_UPDATE = tuple(point for point in POINTS if not point.startswith("rebuild."))
"""The points of updates that rebuild nothing; tests/pipeline/test_rebuild.py has the others."""
Made = Callable[[int], HistoryPipeline]


@pytest.fixture
def made(spark: SparkSession, tmp_path: Path) -> Made:
    """A pipeline of four AUTO CDC targets, two of them over a table, a copy and a view; so many batches are to come."""

    def make(batches: int) -> HistoryPipeline:
        beside = _BESIDE.format(folder=str(tmp_path / "data" / "ties"))
        staged = frozenset({"ties"})
        pipeline = HistoryPipeline(
            tmp_path, spark, Random(SEED), _FLOWS, has_snapshots=False, extra=beside, staged=staged
        )
        pipeline.draw(len(pipeline.sources), batches)
        return pipeline

    return make


def _complete(pipeline: HistoryPipeline, batch: int) -> None:
    """Run to the end, and compare every table with what the deliveries up to this batch make of it."""
    pipeline.update()
    for flow in _FLOWS:
        different = difference(pipeline.expected(flow, batch), pipeline.table(flow.name))
        assert not different, f"{flow.name} (- expected, + got), AUTO_CDC_SEED={SEED}\n{different}"
    delivered = [row for rows in pipeline.delivered["ties"][: batch + 1] for row in rows]
    assert not difference(delivered, pipeline.table("copied")), f"copied, AUTO_CDC_SEED={SEED}"
    assert sum(row["count"] for row in pipeline.table("counted")) == len(pipeline.table("scd2"))


def test_kills_on_the_way_of_one_update_after_another(made: Made) -> None:
    _killed_one_after_another(made, "cdc.between", "append.after")


@pytest.mark.long
def test_more_kills_on_the_way_of_one_update_after_another(made: Made) -> None:
    _killed_one_after_another(made, "cdc.between", "cdc.after:3", "append.after", "cdc.before:2")


def _killed_one_after_another(made: Made, *faults: str) -> None:
    pipeline = made(len(faults) + 2)
    pipeline.deliver(0)
    pipeline.update()
    for batch, fault in enumerate(faults, start=1):
        pipeline.deliver(batch)
        die_at(pipeline.source_file, pipeline.storage, fault)
    _complete(pipeline, len(faults))
    # What the killed updates learnt of deletes must still hold against whatever comes late.
    pipeline.deliver(len(faults) + 1)
    _complete(pipeline, len(faults) + 1)


@pytest.mark.long
@pytest.mark.parametrize("arrival", (1, 2, 4))
@pytest.mark.parametrize("point", [point for point in _UPDATE if point not in _FIRST_LOAD_ONLY])
def test_killed_at_each_point_of_a_later_update(made: Made, point: str, arrival: int) -> None:
    if arrival > _arrivals(point):
        pytest.skip(f"an update of this pipeline passes {point} {_arrivals(point)} times")
    pipeline = made(3)
    pipeline.deliver(0)
    pipeline.update()
    pipeline.deliver(1)
    arguments = ("--full-refresh-all",) if point in _FULL_REFRESH else ()
    die_at(pipeline.source_file, pipeline.storage, f"{point}:{arrival}", arguments)
    _complete(pipeline, 1)
    pipeline.deliver(2)
    _complete(pipeline, 2)


@pytest.mark.long
@pytest.mark.parametrize("point", [point for point in _UPDATE if point not in _FULL_REFRESH])
def test_killed_at_each_point_of_the_first_update(made: Made, point: str) -> None:
    pipeline = made(2)
    pipeline.deliver(0)
    die_at(pipeline.source_file, pipeline.storage, point)
    _complete(pipeline, 0)
    pipeline.deliver(1)
    _complete(pipeline, 1)


@pytest.mark.long
def test_killed_again_while_it_repairs(made: Made) -> None:
    pipeline = made(3)
    pipeline.deliver(0)
    pipeline.update()
    pipeline.deliver(1)
    for fault in ("cdc.between:2", "cdc.between", "cdc.between", "cdc.after:2", "progress.before"):
        die_at(pipeline.source_file, pipeline.storage, fault)
    _complete(pipeline, 1)
    pipeline.deliver(2)
    _complete(pipeline, 2)


@pytest.mark.long
def test_blind_kills(made: Made) -> None:
    kills, random = 12, Random(SEED)
    pipeline = made(kills + 1)
    moments: list[float] = []
    for batch in range(kills):
        pipeline.deliver(batch)
        moments.append(round(random.uniform(0, 12), 2))
        was_killed = kill_after(pipeline.source_file, pipeline.storage, moments[-1])
        print(f"batch {batch}: {'killed' if was_killed else 'had ended'} after {moments[-1]} s")
        if batch % 4 == 3:
            _complete(pipeline, batch)
    pipeline.deliver(kills)
    _complete(pipeline, kills)


def _arrivals(point: str) -> int:
    """How often an update with new data passes a point: four AUTO CDC flows, a copy, a table of events, a view."""
    if point.startswith(("view.", "events.")):
        return 1
    # The table's two readers run as batches.
    return 2 if point.startswith(("append.", "batch.")) else len(_FLOWS)
