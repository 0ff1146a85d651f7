"""What APPLY CHANGES notes of its batches before and after it writes them."""

from pathlib import Path

from dlt_local.auto_cdc.state import State


def test_a_batch_that_was_cut_off_is_known_to_its_own_retry_and_to_other_flows(tmp_path: Path) -> None:
    state = State(tmp_path, 0)
    assert not state.begin(("orders", 0), [1])
    assert state.begin(("orders", 0), [1])
    assert state.begin(("returns", 0), [2])
    state.end(("returns", 0))
    assert state.begin(("returns", 1), [3])
    state.end(("returns", 1))
    state.end(("orders", 0))
    assert not state.begin(("returns", 2), [4])
    assert state.newest() == [4]


def test_a_batch_without_events_is_neither_begun_nor_ended(tmp_path: Path) -> None:
    state = State(tmp_path, 0)
    state.begin(("orders", 0), [1])
    state.end(("orders", 0))
    state.end(("orders", 1))
    assert not state.begin(("orders", 2), [1])
