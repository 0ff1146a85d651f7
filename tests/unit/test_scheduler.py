"""The scheduler: datasets run after what they read, side by side where they can; a failure skips only its readers."""

import threading
from collections.abc import Callable

from tests.unit.test_cli_drawing import node

from dlt_local.errors import FlowError
from dlt_local.flows.outcomes import DatasetUpdate, RunResult
from dlt_local.graph.graph import Node
from dlt_local.updates.scheduler import Execution, run_all

NODES = (
    node("raw.a", "streaming table"),
    node("raw.b", "streaming table"),
    node("gold.a", "materialized view", ("raw.a",)),
    node("gold.both", "materialized view", ("raw.b", "gold.a")),
    node("gold.b", "materialized view", ("raw.b",)),
)


class Calls:
    """What the scheduler reports, in order."""

    def __init__(self) -> None:
        self.started_: list[str] = []
        self.finished_: list[DatasetUpdate] = []
        self.not_run_: list[DatasetUpdate] = []

    def started(self, dataset: str) -> None:
        self.started_.append(dataset)

    def finished(self, outcome: DatasetUpdate) -> None:
        self.finished_.append(outcome)

    def not_run(self, outcome: DatasetUpdate) -> None:
        self.not_run_.append(outcome)


def done(node: Node) -> RunResult:
    return RunResult(idle=False, flows={})


def run(
    run_one: Callable[[Node], RunResult] = done, should_stop: Callable[[], bool] = lambda: False, parallelism: int = 1
) -> tuple[dict[str, str], Calls]:
    calls = Calls()
    outcomes = run_all(NODES, Execution(run_one, parallelism, should_stop), calls)
    assert [outcome.name for outcome in outcomes] == [each.name for each in NODES]
    return {outcome.name: outcome.state for outcome in outcomes}, calls


def test_every_dataset_starts_after_its_inputs_have_finished() -> None:
    finished: set[str] = set()

    def run_one(node: Node) -> RunResult:
        assert finished.issuperset(map(str, node.inputs))
        finished.add(node.name)
        return RunResult(idle=True, flows={})

    states, _ = run(run_one, parallelism=3)
    assert set(states.values()) == {"IDLE"}


def test_independent_datasets_run_side_by_side() -> None:
    both = threading.Barrier(2)

    def run_one(node: Node) -> RunResult:
        if node.name.startswith("raw."):
            both.wait(60)
        return done(node)

    states, _ = run(run_one, parallelism=2)
    assert set(states.values()) == {"COMPLETED"}


def test_a_failure_skips_only_its_direct_and_indirect_readers() -> None:
    def run_one(node: Node) -> RunResult:
        if node.name == "raw.a":
            raise ValueError("unreadable")
        return done(node)

    states, calls = run(run_one)
    assert states == {
        "raw.a": "FAILED",
        "raw.b": "COMPLETED",
        "gold.a": "SKIPPED",
        "gold.both": "SKIPPED",
        "gold.b": "COMPLETED",
    }
    assert [outcome.name for outcome in calls.not_run_] == ["gold.a", "gold.both"]
    (error,) = [outcome.error for outcome in calls.finished_ if outcome.error]
    assert isinstance(error, FlowError) and "unreadable" in str(error)


def test_nothing_starts_once_the_user_has_asked_to_stop() -> None:
    stop = threading.Event()

    def run_one(node: Node) -> RunResult:
        stop.set()
        return RunResult(idle=False, flows={}, stopped=True)

    states, calls = run(run_one, stop.is_set)
    assert set(states.values()) == {"STOPPED"}
    assert "gold.both" not in calls.started_


def test_inputs_outside_the_schedule_are_read_as_they_are() -> None:
    outcomes = run_all(NODES[2:], Execution(done, 1, lambda: False), Calls())
    assert [outcome.state for outcome in outcomes] == ["COMPLETED"] * 3


def test_a_dataset_is_started_only_when_there_is_a_thread_for_it() -> None:
    calls, running = Calls(), 0

    def run_one(node: Node) -> RunResult:
        nonlocal running
        running = max(running, len(calls.started_) - len(calls.finished_))
        return done(node)

    many = [node(f"raw.{number}", "streaming table") for number in range(20)]
    run_all(many, Execution(run_one, 2, lambda: False), calls)
    assert running == 2
    assert len(calls.finished_) == 20
