"""AUTO CDC under random histories: what must hold of every target, whatever its events and their batches.

All histories go through one pipeline, in a few updates with many flows. AUTO_CDC_HISTORIES says how many,
AUTO_CDC_SEED which; a failure tells its seed and the command that runs it again.
"""

import os
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import pairwise
from random import Random
from typing import Any

import pytest
from pyspark.sql import SparkSession
from tests.conformance.tables import difference
from tests.support.auto_cdc_model import END, START, Row, rank, snapshot_events, target
from tests.support.histories import COLUMNS, FLOWS, KEYS, SOURCES, Flow, poison
from tests.support.history_pipeline import SNAPSHOTS, TARGETS, HistoryPipeline

from dlt_local.errors import LocalPipelineError

SEED = int(os.environ.get("AUTO_CDC_SEED") or time.time_ns() % 1_000_000_007)
HISTORIES = int(os.environ.get("AUTO_CDC_HISTORIES") or 100)
BATCHES = 4
_AGAIN = (
    f"seed={SEED}; again: AUTO_CDC_SEED={SEED} AUTO_CDC_HISTORIES={HISTORIES} "
    "pytest tests/pipeline/test_auto_cdc_properties.py"
)
_VERSIONED = [*[flow.name for flow in FLOWS if flow.scd_type == 2], "snapshot_versions"]
Key = tuple[Any, ...]


@pytest.fixture(scope="module")
def ran(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> HistoryPipeline:
    """The pipeline after all batches and the replay of one."""
    print(_AGAIN)
    pipeline = HistoryPipeline(tmp_path_factory.mktemp("histories"), spark, Random(SEED))
    pipeline.run(HISTORIES, BATCHES)
    return pipeline


@pytest.mark.parametrize("flow", FLOWS, ids=lambda flow: flow.name)
def test_any_batching_and_order_gives_the_in_order_result(ran: HistoryPipeline, flow: Flow) -> None:
    for batch in range(BATCHES):
        delivered = ran.delivered[flow.source][: batch + 1]
        expected, got = ran.expected(flow, batch), ran.after[batch][flow.name]
        _assert_equal(expected, got, f"{flow.name} after batch {batch}", delivered)


def test_type_1_has_the_open_rows_of_type_2(ran: HistoryPipeline) -> None:
    for batch, tables in enumerate(ran.after):
        opened = _opened(tables["versions"])
        _assert_equal(opened, tables["current"], f"current after update {batch}", ran.delivered["clean"])


@pytest.mark.parametrize("name", TARGETS)
def test_replaying_a_batch_changes_nothing(ran: HistoryPipeline, name: str) -> None:
    *_, before, after = ran.after
    _assert_equal(before[name], after[name], f"{name} after the replay")


@pytest.mark.parametrize("name", _VERSIONED)
def test_versions_of_a_key_never_overlap_and_have_positive_length(ran: HistoryPipeline, name: str) -> None:
    for tables in ran.after:
        for key, rows in _by_key(tables[name]).items():
            ends = [(rank(row[START]), rank(row[END]) if row[END] is not None else None) for row in rows]
            ordered = sorted(ends, key=lambda interval: interval[0])
            assert all(end is None or start < end for start, end in ordered), (key, ordered, _AGAIN)
            for (_, end), (start, _) in pairwise(ordered):
                assert end is not None and end <= start, (key, ordered, _AGAIN)


@pytest.mark.parametrize("name", SNAPSHOTS)
def test_a_snapshot_of_the_current_state_is_the_current_state(ran: HistoryPipeline, name: str) -> None:
    for batch in range(BATCHES):
        tables = ran.after[batch]
        what = f"{name} after snapshot {batch + 1}"
        _assert_equal(tables["current"], _opened(tables[name]), what, ran.delivered["clean"])


def test_snapshots_make_the_versions_that_their_differences_are(ran: HistoryPipeline) -> None:
    rules = next(flow.rules for flow in FLOWS if flow.name == "versions")
    expected = target(snapshot_events(ran.snapshots, KEYS), rules)
    _assert_equal(expected, ran.after[-1]["snapshot_versions"], "snapshot_versions")


def test_a_batch_with_a_null_key_or_sequence_is_refused_whole(ran: HistoryPipeline) -> None:
    random = Random(SEED)
    for source in SOURCES:
        bad = poison(random, next(flow for flow in FLOWS if flow.source == source))
        ran.write("poison", source, [*ran.delivered[source][0][:5], bad])
    with pytest.raises(LocalPipelineError):
        ran.update()
    for name, rows in ran.tables().items():
        _assert_equal(ran.after[-1][name], rows, f"{name} after the refusal")


def _opened(rows: Sequence[Row]) -> list[Row]:
    """Current rows of either type, without the interval."""
    return [{name: row[name] for name in COLUMNS} for row in rows if row.get(END) is None]


def _by_key(rows: Sequence[Row]) -> dict[Key, list[Row]]:
    keys: dict[Key, list[Row]] = defaultdict(list)
    for row in rows:
        keys[tuple(row[name] for name in KEYS)].append(row)
    return keys


def _assert_equal(
    expected: Sequence[Row], got: Sequence[Row], what: str, batches: Sequence[Sequence[Row]] = ()
) -> None:
    """Fail with the story of the key that differs after the fewest events."""
    if not difference(expected, got):
        return
    right, found = _by_key(expected), _by_key(got)
    wrong = [key for key in {*right, *found} if difference(right.get(key, []), found.get(key, []))]
    events = Counter(tuple(row[name] for name in KEYS) for rows in batches for row in rows)
    key = min(wrong, key=lambda one: (events[one], one))
    story = [
        f"batch {number}: {row}"
        for number, rows in enumerate(batches)
        for row in rows
        if tuple(row[name] for name in KEYS) in (key, (None, None))
    ]
    head = f"{what}: {len(wrong)} keys differ (- expected, + got); the one with the fewest events is {key}"
    pytest.fail("\n".join([head, *story, difference(right.get(key, []), found.get(key, [])), _AGAIN]))
