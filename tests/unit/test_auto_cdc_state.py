"""The ledger of batches: which were begun, which ended, and the high watermark."""

from pathlib import Path

from dlt_local.auto_cdc.state import State
from dlt_local.delta.transaction import TransactionId


def test_an_interrupted_batch_is_known_to_its_own_retry_and_to_other_flows(tmp_path: Path) -> None:
    state, first, other = State(tmp_path, 0), TransactionId("orders", 0), TransactionId("returns", 0)
    assert state.ledger().interrupted == ()
    state.begin(first, (1,))
    assert state.ledger().interrupted == (first,)
    state.begin(other, (2,))
    assert state.ledger().interrupted == (first, other)
    state.end(other)
    assert state.ledger().interrupted == (first,)
    state.end(first)
    assert state.ledger().interrupted == ()
    assert state.ledger().high_watermark == (2,)


def test_the_next_batch_of_a_flow_is_interrupted_until_it_ends(tmp_path: Path) -> None:
    state = State(tmp_path, 0)
    state.begin(TransactionId("orders", 0), (1,))
    state.end(TransactionId("orders", 0))
    state.begin(TransactionId("orders", 1), (1,))
    assert state.ledger().interrupted == (TransactionId("orders", 1),)


def test_a_ledger_without_a_watermark_is_read(tmp_path: Path) -> None:
    state = State(tmp_path, 0)
    state.begin(TransactionId("orders", 0), None)
    assert state.ledger().high_watermark is None
