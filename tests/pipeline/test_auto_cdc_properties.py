"""AUTO CDC under random histories: what must hold of every target, whatever its events and their batches.

All histories go through one pipeline, in a few updates with many flows. AUTO_CDC_HISTORIES says how many,
AUTO_CDC_SEED which; a failure reports its seed and the command that repeats it.
"""

import logging
import os
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import pytest
from pyspark.sql import SparkSession
from tests.conformance.tables import difference
from tests.support.auto_cdc_model import END, START, Row, rank, snapshot_events, target
from tests.support.delta_history import commits
from tests.support.histories import COLUMNS, FLOWS, KEYS, SOURCES, Flow, poison
from tests.support.history_pipeline import SNAPSHOTS, TARGETS, HistoryPipeline

from dlt_local.auto_cdc import strategies
from dlt_local.auto_cdc.strategies import Strategies, Thresholds, choose_writer
from dlt_local.errors import LocalPipelineError
from dlt_local.flows import incremental_refresh

SEED = int(os.environ.get("AUTO_CDC_SEED") or time.time_ns() % 1_000_000_007)
HISTORIES = int(os.environ.get("AUTO_CDC_HISTORIES") or 60)
BATCHES = 4
_AGAIN = (
    f"seed={SEED}; again: AUTO_CDC_SEED={SEED} AUTO_CDC_HISTORIES={HISTORIES} "
    "pytest tests/pipeline/test_auto_cdc_properties.py"
)
_VIEWS = """
from pyspark.sql import Window
from pyspark.sql import functions as F

@dp.materialized_view
def open_rows():
    opened = spark.read.table("scd2").where("__END_AT IS NULL")
    return opened.select("history", F.upper("a").alias("a"), F.col("id").alias("key"))

@dp.materialized_view
def numbered():
    of_key = Window.partitionBy("history", "id").orderBy("__START_AT")
    return spark.read.table("scd2").select("id", "history", "b", F.row_number().over(of_key).alias("number"))

@dp.materialized_view
@dp.expect_or_drop("has b", "b IS NOT NULL")
def with_b():
    return spark.read.table("scd1")

@dp.materialized_view
def summed():
    return spark.read.table("scd1").groupBy("history").agg(F.sum("b").alias("b"))
"""
_CHOSEN: dict[str, set[str]] = defaultdict(set)
"""The reconcilers and writers that batches got: number of the update and target -> their names."""
_VERSIONED = [*[flow.name for flow in FLOWS if flow.scd_type == 2], "snapshot_versions"]
Key = tuple[Any, ...]
Tables = Mapping[str, Sequence[Row]]


def _by_key(rows: Sequence[Row]) -> dict[Key, list[Row]]:
    keys: dict[Key, list[Row]] = defaultdict(list)
    for row in rows:
        keys[tuple(row[name] for name in KEYS)].append(row)
    return keys


def _open_rows(tables: Tables) -> list[Row]:
    opened = [row for row in tables["scd2"] if row[END] is None]
    return [{"history": r["history"], "a": r["a"] and r["a"].upper(), "key": r["id"]} for r in opened]


def _numbered(tables: Tables) -> list[Row]:
    in_order = [sorted(rows, key=lambda row: rank(row[START])) for rows in _by_key(tables["scd2"]).values()]
    return [
        {"id": row["id"], "history": row["history"], "b": row["b"], "number": number}
        for rows in in_order
        for number, row in enumerate(rows, start=1)
    ]


def _with_b(tables: Tables) -> list[Row]:
    return [row for row in tables["scd1"] if row["b"] is not None]


_RECOMPUTED: Mapping[str, Callable[[Tables], list[Row]]] = {
    "open_rows": _open_rows,
    "numbered": _numbered,
    "with_b": _with_b,
}
"""Views that can be refreshed incrementally, and how Python recomputes them."""


class _Choices(logging.Handler):
    """Collects what the AUTO CDC handler logs about its choices."""

    update = 0

    def emit(self, record: logging.LogRecord) -> None:
        target, chosen = record.args
        _CHOSEN[f"{self.update} {target}"].add(chosen)


@pytest.fixture(scope="module")
def ran(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[HistoryPipeline]:
    """The pipeline after all batches and the replay of one.

    Every other update rewrites its targets; of those between, some write them as small tables and some as large ones.
    The views are refreshed incrementally, however few rows change.
    """
    print(_AGAIN)
    pipeline = HistoryPipeline(
        tmp_path_factory.mktemp("histories"),
        spark,
        Random(SEED),
        extra=_VIEWS,
        staged=frozenset(Random(SEED).sample(SOURCES, len(SOURCES) // 2)),
        views=(*_RECOMPUTED, "summed"),
    )
    log, choices = logging.getLogger("dlt_local.auto_cdc.handler"), _Choices()
    log.addHandler(choices)
    log.setLevel(logging.DEBUG)
    with pytest.MonkeyPatch.context() as patch:

        def before_update(number: int) -> None:
            choices.update = number
            large = 0 if number % 4 == 1 else sys.maxsize
            thresholds = Thresholds(float(2 * (number % 2)), small_bytes=-1, large_bytes=large)
            patch.setattr(strategies, "DEFAULT", Strategies(writer=partial(choose_writer, thresholds=thresholds)))

        pipeline.before_update = before_update
        patch.setattr(incremental_refresh, "LARGE", 0)
        patch.setattr(incremental_refresh, "CHANGED_SHARE", float("inf"))
        pipeline.run(HISTORIES, BATCHES)
        yield pipeline
    log.removeHandler(choices)
    log.setLevel(logging.NOTSET)


@pytest.mark.parametrize("flow", FLOWS, ids=lambda flow: flow.name)
def test_any_batching_and_order_gives_the_in_order_result(ran: HistoryPipeline, flow: Flow) -> None:
    for batch in range(BATCHES):
        delivered = ran.delivered[flow.source][: batch + 1]
        expected, got = ran.expected(flow, batch), ran.after[batch][flow.name]
        _assert_equal(expected, got, f"{flow.name} after batch {batch}", delivered)


def _targets_with(choice: str) -> set[str]:
    """The targets, by the number of the update, that a reconciler or writer was chosen for."""
    return {target for target, chosen in _CHOSEN.items() if choice in chosen}


def test_in_order_batches_were_among_them(ran: HistoryPipeline) -> None:
    # All batches of one target but the last, which delivers events again.
    in_order = _targets_with(strategies.Reconciler.IN_ORDER_HISTORY.value)
    assert {f"{update} default.forward_versions" for update in range(BATCHES - 1)} <= in_order, _AGAIN


def test_every_reconciler_and_writer_was_among_them(ran: HistoryPipeline) -> None:
    missing = [each for each in (*strategies.Reconciler, *strategies.Writer) if not _targets_with(each.value)]
    assert not missing, _AGAIN


def test_targets_were_written_as_large_ones(ran: HistoryPipeline) -> None:
    # Others have ties to compare, late events, or a change feed.
    listed = {target.split(".")[-1] for target in _targets_with(strategies.Writer.KEY_LIST.value)}
    assert {"forward_rows", "forward_versions", "filled", *SNAPSHOTS} <= listed, _AGAIN


def test_type_1_has_the_open_rows_of_type_2(ran: HistoryPipeline) -> None:
    for batch, tables in enumerate(ran.after):
        opened = _opened(tables["versions"])
        _assert_equal(opened, tables["current"], f"current after update {batch}", ran.delivered["clean"])


@pytest.mark.parametrize("name", _RECOMPUTED)
def test_an_incrementally_refreshed_view_equals_a_full_recompute(ran: HistoryPipeline, name: str) -> None:
    for number, tables in enumerate(ran.after):
        expected, got = _RECOMPUTED[name](tables), tables[name]
        assert not difference(expected, got), f"{name} after update {number}, {_AGAIN}\n{difference(expected, got)}"


def test_views_are_refreshed_incrementally_where_they_can_be(ran: HistoryPipeline) -> None:
    views = ran.storage / "tables" / "default"
    last = {name: _operations(views / name)[-1] for name in (*_RECOMPUTED, "summed")}
    assert last == {**dict.fromkeys(_RECOMPUTED, "MERGE"), "summed": "WRITE"}


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


def _operations(table: Path) -> list[str]:
    operations = [commit["operation"] for commit in commits(table)]
    return [operation for operation in operations if operation in ("MERGE", "WRITE")]


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
