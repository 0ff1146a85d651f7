"""Continuous mode: each failed table rests on its own, and the others go on."""

from tests.unit.test_cli_drawing import node

from dlt_local.errors import ExpectationFailed, FlowError, LocalPipelineError, StorageAltered
from dlt_local.flows.outcomes import DatasetUpdate, Update
from dlt_local.graph.graph import Graph
from dlt_local.updates.continuous import LeftOut, Retries, is_permanent, nodes_of_round
from dlt_local.updates.trigger_intervals import Pace

NODES = (
    node("raw.a", "streaming table"),
    node("raw.b", "streaming table"),
    node("gold.a", "materialized view", ("raw.a",)),
    node("gold.both", "materialized view", ("raw.b", "gold.a")),
)


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def round_of(**errors: bool) -> Update:
    datasets = [
        DatasetUpdate(f"raw.{name}", "streaming table", "FAILED", error=FlowError("FLOW_FAILED", name, "reset"))
        if failed
        else DatasetUpdate(f"raw.{name}", "streaming table", "COMPLETED")
        for name, failed in errors.items()
    ]
    return Update("1", "FAILED" if any(errors.values()) else "COMPLETED", tuple(datasets), Graph(NODES, ()))


def test_each_failure_in_a_row_doubles_the_pause_of_its_table_alone() -> None:
    clock = Clock()
    retries = Retries(5.0, clock)
    assert retries.note(round_of(a=True, b=False)) == {"raw.a": 10.0}
    clock.now = 9.0
    assert retries.resting() == {"raw.a"}
    assert retries.note(round_of(b=True)) == {"raw.b": 10.0}
    clock.now = 10.0
    assert retries.resting() == {"raw.b"}
    assert retries.note(round_of(a=True)) == {"raw.a": 20.0}
    assert retries.resting() == {"raw.a", "raw.b"}
    clock.now = 30.0
    retries.note(round_of(a=False, b=True))
    assert retries.note(round_of(a=True)) == {"raw.a": 10.0}, "a success ends the row of failures"


def test_what_reads_from_a_resting_table_rests_too() -> None:
    assert [each.name for each in nodes_of_round(NODES, LeftOut(frozenset({"raw.a"})))] == ["raw.b"]
    assert [each.name for each in nodes_of_round(NODES, LeftOut(frozenset({"raw.b"})))] == ["raw.a", "gold.a"]
    assert nodes_of_round(NODES, LeftOut()) == NODES


def test_a_table_waits_for_its_interval_alone() -> None:
    clock = Clock()
    pace = Pace({"raw.a": 60.0}, clock)
    assert pace.waiting() == frozenset()
    pace.started(["raw.a", "raw.b"])
    clock.now = 59.0
    assert [each.name for each in nodes_of_round(NODES, LeftOut(waiting=pace.waiting()))] == [
        "raw.b",
        "gold.a",
        "gold.both",
    ]
    pace.started(["raw.b"])
    clock.now = 60.0
    assert pace.waiting() == frozenset()


def test_a_round_that_leaves_datasets_out_keeps_what_they_did() -> None:
    both = round_of(a=True, b=False).followed_by(round_of(b=False))
    assert [(each.name, each.state) for each in both.datasets] == [("raw.a", "FAILED"), ("raw.b", "COMPLETED")]


def test_an_error_is_permanent_if_a_retry_cannot_fix_it() -> None:
    assert is_permanent(FlowError("INPUT_FILE_CHANGED", "raw.a", "changed", is_permanent=True))
    assert is_permanent(StorageAltered("CHECKPOINT_DAMAGED", "raw.a", "older"))
    assert is_permanent(ExpectationFailed("EXPECTATION_FAILED", "raw.a", "broken", is_permanent=True))
    assert is_permanent(LocalPipelineError("broken"))
    assert not is_permanent(FlowError("KAFKA_UNREACHABLE", "raw.a", "no answer"))
