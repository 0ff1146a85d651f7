"""Gaps between what a flow has read and what its topics have, and moving a checkpoint past them; without Spark."""

import doctest
import json
from pathlib import Path

import pytest

from dlt_local.flows.kafka import checkpoint
from dlt_local.flows.kafka.gaps import Gap, Topic, find, past
from dlt_local.graph import query_inputs, stream_sources
from dlt_local.spark import root_cause

READ = {"orders": {0: 10, 1: 20}}
SAME = Topic("a", {0: (0, 10), 1: (5, 30)})


@pytest.mark.parametrize(
    ("topic", "found", "next_offsets"),
    [
        (SAME, [], {0: 10, 1: 20}),
        (Topic("a", {0: (10, 12), 1: (20, 20)}), [], {0: 10, 1: 20}),
        (Topic("a", {0: (12, 12), 1: (0, 20)}), [(0, 10, 11, "expired")], {0: 12, 1: 20}),
        (Topic("a", {0: (0, 7), 1: (0, 20)}), [(0, 7, 9, "truncated")], {0: 0, 1: 20}),
        (Topic("a", {0: (0, 10)}), [(1, 20, None, "no partition")], {0: 10}),
        (Topic("a", {**SAME.partitions, 2: (3, 5)}), [(2, 0, 2, "expired")], {0: 10, 1: 20, 2: 3}),
        (Topic("a", {**SAME.partitions, 2: (0, 5)}), [], {0: 10, 1: 20}),
        (
            Topic("b", {0: (0, 100), 1: (0, 100), 2: (0, 1)}),
            [(0, 10, None, "recreated"), (1, 20, None, "recreated")],
            {0: 0, 1: 0, 2: 0},
        ),
        (None, [(0, 10, None, "deleted"), (1, 20, None, "deleted")], None),
    ],
    ids=["nothing new", "all read", "expired", "truncated", "fewer", "late one", "new one", "recreated", "deleted"],
)
def test_a_gap_is_what_was_not_read_and_is_gone(
    topic: Topic | None, found: list[tuple[int, int, int | None, str]], next_offsets: dict[int, int] | None
) -> None:
    topics = {} if topic is None else {"orders": topic}
    gaps = find(READ, {"orders": "a"}, topics, {})
    assert [(gap.partition, gap.first, gap.last, gap.cause) for gap in gaps] == found
    assert past(gaps, READ, topics).get("orders") == next_offsets


def test_a_topic_read_by_an_earlier_version_has_no_id_and_is_trusted() -> None:
    assert find(READ, {}, {"orders": SAME}, {}) == []


def test_a_topic_that_the_query_no_longer_names_is_left_behind() -> None:
    gaps = find(READ, {}, {"orders": SAME, "others": SAME}, {"orders": False})
    assert {gap.cause for gap in gaps} == {"not read"}
    assert past(gaps, READ, {"orders": SAME}) == {}


def test_a_gap_says_what_is_missing() -> None:
    assert str(Gap("orders", 0, 10, 11, "expired")) == (
        "orders, partition 0: offsets 10 to 11 (deleted by the broker before they were read)"
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A checkpoint with a batch that is committed, and one that is planned."""
    for part in ("offsets", "commits", "sources/0"):
        (tmp_path / part).mkdir(parents=True)
    (tmp_path / "sources/0/0").write_text('\0v1\n{"orders":{"0":2,"1":0}}')
    for batch, offset in enumerate((10, 15)):
        content = f'v1\n{{"batchWatermarkMs":0}}\n{{"orders":{{"0":{offset},"1":20}}}}\n{{"logOffset":3}}'
        (tmp_path / "offsets" / str(batch)).write_text(content)
    (tmp_path / "commits/0").write_text('v1\n{"nextBatchWatermarkMs":0}')
    return tmp_path


@pytest.mark.parametrize(("is_written", "offset"), [(False, 10), (True, 15)])
def test_a_planned_batch_counts_if_it_is_in_the_target(folder: Path, is_written: bool, offset: int) -> None:
    assert checkpoint.read(folder, lambda _: is_written) == checkpoint.Progress(1, {"orders": {0: offset, 1: 20}})


def test_before_its_first_commit_a_stream_is_at_its_first_offsets(folder: Path) -> None:
    (folder / "commits/0").unlink()
    (folder / "offsets/1").unlink()
    assert checkpoint.read(folder, lambda _: False) == checkpoint.Progress(0, {"orders": {0: 2, 1: 0}})
    assert checkpoint.read(folder / "not there", lambda _: False) is None


def test_a_move_is_one_more_batch_that_has_ended(folder: Path) -> None:
    progress = checkpoint.read(folder, lambda _: False)
    assert progress is not None
    checkpoint.move(folder, progress, {"orders": {0: 17, 2: 0}}, {"topics": {}})
    moved = checkpoint.read(folder, lambda _: False)
    assert moved == checkpoint.Progress(2, {"orders": {0: 17, 2: 0}})
    lines = (folder / "offsets/2").read_text().splitlines()
    assert lines[1] == '{"batchWatermarkMs":0}'
    assert lines[3] == '{"logOffset":3}', "another source of the same stream stays where it was"
    assert sorted(file.name for file in (folder / "commits").iterdir()) == ["0", "1", "2"]
    assert checkpoint.known(folder) == {"topics": {}}


@pytest.mark.parametrize("lost", ["offsets/2", "commits/1", "commits/2", "kafka.json"])
def test_an_interrupted_move_is_finished(folder: Path, lost: str) -> None:
    progress = checkpoint.read(folder, lambda _: False)
    assert progress is not None
    checkpoint.move(folder, progress, {"orders": {0: 17}}, {"topics": {}})
    (folder / lost).unlink()
    marker = {"batch": 1, "positions": {"orders": {"0": 17}}, "topics": {"topics": {}}}
    (folder / "kafka-move.json").write_text(json.dumps(marker))
    checkpoint.finish_move(folder)
    assert checkpoint.read(folder, lambda _: False) == checkpoint.Progress(2, {"orders": {0: 17}})
    assert checkpoint.known(folder) == {"topics": {}}
    assert not (folder / "kafka-move.json").exists()


def test_the_examples_hold() -> None:
    for module in (stream_sources, query_inputs, root_cause):
        assert doctest.testmod(module).failed == 0
