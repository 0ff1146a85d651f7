"""The plain-Python model of AUTO CDC agrees with every case that states rows, whatever the order of events."""

import json
from collections import Counter
from random import Random

import pytest
from tests.conformance.case import Case, folders, load
from tests.conformance.modelled import is_modelled, table_after
from tests.conformance.tables import difference
from tests.support.auto_cdc_model import Event, Refused, Rules, target
from tests.support.histories import FLOWS, Flow, deliveries, poison

CASES = load(*folders())
_STATED = [
    (case, batch)
    for case in filter(is_modelled, CASES)
    for batch in range(len(case.batches))
    if case.acceptable_after(batch) is not None and batch != case.failing_batch
]


@pytest.mark.parametrize(("case", "batch"), _STATED, ids=[f"{case.name}-after-{batch}" for case, batch in _STATED])
def test_the_model_s_table_is_the_stated_one(case: Case, batch: int) -> None:
    got = table_after(case, batch)
    acceptable = case.acceptable_after(batch) or []
    assert any(not difference(rows, got) for rows in acceptable), difference(acceptable[0], got)


@pytest.mark.parametrize(
    "case",
    [case for case in CASES if str(case.facts.get("expect_error")).endswith(("NULL_KEY", "NULL_SEQUENCE"))],
    ids=lambda case: case.name,
)
def test_the_model_refuses_null_keys_and_null_sequences(case: Case) -> None:
    assert case.failing_batch is not None
    with pytest.raises(Refused):
        table_after(case, case.failing_batch)
    if case.failing_batch:
        table_after(case, case.failing_batch - 1)


RULES = Rules(keys=("id",), columns=("id", "a", "b"), scd_type=2, tracked=frozenset("a"))


def event(sequence: int, a: str | None = None, b: str | None = None) -> Event:
    return Event("upsert", sequence, {"id": 1, "a": a, "b": b})


def test_consecutive_equal_rows_keep_the_first_start_and_the_last_untracked_values() -> None:
    rows = target([event(3, "x", "late"), event(1, "x", "early"), event(5, "y")], RULES)
    assert rows == [
        {"id": 1, "a": "x", "b": "late", "__START_AT": 1, "__END_AT": 5},
        {"id": 1, "a": "y", "b": None, "__START_AT": 5, "__END_AT": None},
    ]


def test_the_greatest_row_wins_among_upserts_at_one_sequence() -> None:
    tied = [event(1, "x", None), event(1, "x", "b"), event(1, None, "z")]
    assert [row["b"] for row in target(tied, RULES)] == ["b"]
    assert target(tied, RULES) == target(tied[::-1], RULES)


@pytest.mark.parametrize("flow", FLOWS, ids=lambda flow: flow.name)
def test_order_and_duplicates_of_events_do_not_matter(flow: Flow) -> None:
    random = Random(flow.name)
    batches = deliveries(random, flow.source, range(3), batches=2)
    events = [flow.event(row) for rows in batches for row in rows]
    shuffled = events + random.sample(events, len(events) // 3)
    random.shuffle(shuffled)
    assert not difference(target(events, flow.rules), target(shuffled, flow.rules))


@pytest.mark.parametrize("flow", FLOWS, ids=lambda flow: flow.name)
def test_random_histories_have_deletes_duplicates_ties_and_nulls(flow: Flow) -> None:
    """Tests with histories that lack them would prove nothing."""
    rows = [row for rows in deliveries(Random(flow.source), flow.source, range(3), batches=2) for row in rows]
    positions = Counter((row["history"], row["id"], row["seq"]) for row in rows)
    deliveries_of_row = Counter(json.dumps(row, sort_keys=True) for row in rows)
    assert len({row["op"] for row in rows} & {"u", "c", "d"}) == 3
    assert max(deliveries_of_row.values()) > 1
    assert flow.source == "authors" or max(positions.values()) > max(deliveries_of_row.values())
    assert any(row["op"] == "t" for row in rows) is flow.has_truncates
    assert {row["a"] for row in rows} == {None, "x", "y"}


@pytest.mark.parametrize("flow", FLOWS, ids=lambda flow: flow.name)
def test_an_event_with_a_null_key_or_sequence_is_refused(flow: Flow) -> None:
    for seed in range(20):
        with pytest.raises(Refused):
            target([flow.event(poison(Random(seed), flow))], flow.rules)
