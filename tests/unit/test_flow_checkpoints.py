"""Checkpoints and the progress file: what one update leaves to the next, without Spark."""

import doctest
import json
from pathlib import Path

import pytest

from dlt_local.delta import transaction
from dlt_local.errors import FlowError
from dlt_local.flows.checkpoint import Checkpoint, Position
from dlt_local.flows.last_update import LastUpdate
from dlt_local.flows.outcomes import FlowMetrics


@pytest.fixture
def checkpoint(tmp_path: Path) -> Checkpoint:
    """A checkpoint whose stream has committed the microbatches 0 and 1."""
    folder = tmp_path / "checkpoint"
    for part in ("offsets", "commits"):
        (folder / part).mkdir(parents=True)
        for batch in ("0", "1", ".1.crc"):
            (folder / part / batch).write_text("")
    (folder / "metadata").write_text('{"id": "query"}')
    return Checkpoint("default.orders", "orders", folder)


def test_a_position_is_the_query_and_its_last_commit(checkpoint: Checkpoint) -> None:
    assert checkpoint.position() == Position("query", 1)
    (checkpoint.folder / "metadata").unlink()
    assert checkpoint.position() is None


@pytest.mark.parametrize("recorded", [None, Position("query", 0), Position("query", 1)])
def test_a_checkpoint_at_or_past_its_recorded_position_is_accepted(
    checkpoint: Checkpoint, recorded: Position | None
) -> None:
    checkpoint.check(recorded)


@pytest.mark.parametrize("recorded", [Position("query", 2), Position("another", 1)])
def test_another_or_older_checkpoint_is_damaged(checkpoint: Checkpoint, recorded: Position) -> None:
    with pytest.raises(FlowError, match=r"CHECKPOINT_DAMAGED  default\.orders(.|\n)*--rebuild default\.orders"):
        checkpoint.check(recorded)


def test_a_checkpoint_without_its_folder_is_missing(tmp_path: Path) -> None:
    with pytest.raises(FlowError, match="CHECKPOINT_MISSING"):
        Checkpoint("default.orders", "orders", tmp_path / "gone").check(None)


def test_only_before_the_first_batch_is_a_half_written_one_removed(checkpoint: Checkpoint) -> None:
    checkpoint.clear_half_written_batch()
    assert (checkpoint.folder / "offsets" / ".1.crc").exists()
    for file in checkpoint.folder.glob("*/[01]"):
        file.unlink()
    checkpoint.clear_half_written_batch()
    assert not list((checkpoint.folder / "offsets").iterdir())


def test_a_write_runs_once_unless_it_fails(checkpoint: Checkpoint) -> None:
    def fail() -> FlowMetrics:
        raise OSError

    with pytest.raises(OSError):
        checkpoint.once(fail)
    three = FlowMetrics(num_output_rows=3)
    assert checkpoint.once(lambda: three) == FlowMetrics(num_output_rows=3, batches=1)
    assert checkpoint.once(lambda: three) == FlowMetrics()


def test_the_application_id_stays(checkpoint: Checkpoint) -> None:
    assert checkpoint.app_id() == checkpoint.app_id()


def test_the_progress_file_gives_back_what_was_written(tmp_path: Path) -> None:
    last = LastUpdate({"a.b": "id@1", "/rows": None}, "f", {"flow": "query"}, {"flow": Position("q", 3), "once": None})
    last.write(tmp_path / "progress.json")
    assert LastUpdate.read(tmp_path / "progress.json") == last
    stored = json.loads((tmp_path / "progress.json").read_text())
    assert stored["checkpoints"] == {"flow": {"id": "q", "batch": 3}, "once": {}}


def test_an_early_progress_file_names_its_flows_only(tmp_path: Path) -> None:
    file = tmp_path / "progress.json"
    assert LastUpdate.read(file) == LastUpdate()
    file.write_text('{"inputs": {}, "fingerprint": null, "checkpoints": ["orders"]}')
    assert LastUpdate.read(file) == LastUpdate(inputs={}, checkpoints={"orders": None})


def test_metrics_add_up() -> None:
    one = FlowMetrics(num_output_rows=1, failed={"a": 1}, batches=1)
    other = FlowMetrics(num_output_rows=2, dropped_rows=1, failed={"a": 1, "b": 2}, checked_rows=3, batches=1)
    assert one + other == FlowMetrics(3, 1, None, {"a": 2, "b": 2}, 3, 2)


def test_the_examples_run() -> None:
    assert doctest.testmod(transaction).failed == 0
