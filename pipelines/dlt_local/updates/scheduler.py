"""Runs datasets in dependency order on a thread pool; a failed dataset skips only the datasets that read it."""

import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from graphlib import TopologicalSorter
from typing import Literal, Protocol

from dlt_local.errors import LocalPipelineError
from dlt_local.flows.failures import failed
from dlt_local.flows.outcomes import DatasetUpdate, RunResult
from dlt_local.graph.graph import Node


class Listener(Protocol):
    """Follows the schedule; all calls come from the scheduler's own thread."""

    def started(self, dataset: str) -> None:
        """A dataset starts to run."""

    def finished(self, outcome: DatasetUpdate) -> None:
        """A dataset that ran has ended."""

    def not_run(self, outcome: DatasetUpdate) -> None:
        """A dataset was SKIPPED or STOPPED before it started."""


@dataclass(frozen=True)
class Execution:
    """How a schedule runs its datasets."""

    run: Callable[[Node], RunResult]
    """Runs one dataset, on a thread of the pool."""
    parallelism: int
    should_stop: Callable[[], bool]
    """Once true, no further dataset is started."""


def run_all(nodes: Sequence[Node], execution: Execution, listener: Listener) -> tuple[DatasetUpdate, ...]:
    """Run the datasets, each after those of them that it reads; the outcomes are in the order of ``nodes``."""
    outcomes: dict[str, DatasetUpdate] = {}
    by_name = {node.name: node for node in nodes}
    # Inputs outside the schedule are read as they are.
    order = TopologicalSorter({node.name: by_name.keys() & set(map(str, node.inputs)) for node in nodes})
    order.prepare()
    ready: deque[str] = deque()
    running: dict[Future[RunResult], tuple[Node, float]] = {}
    with ThreadPoolExecutor(execution.parallelism, thread_name_prefix="flow") as pool:
        while order.is_active():
            ready.extend(order.get_ready())
            # No more than can run at once, so that none is reported as running, and timed, while it waits.
            while ready and len(running) < execution.parallelism:
                node = by_name[ready.popleft()]
                obstacle = _obstacle(node, outcomes, execution)
                if obstacle is None:
                    listener.started(node.name)
                    running[pool.submit(execution.run, node)] = node, time.monotonic()
                else:
                    outcomes[node.name] = obstacle
                    listener.not_run(obstacle)
                    order.done(node.name)
            finished = wait(running, return_when=FIRST_COMPLETED).done if running else ()
            for future in finished:
                node, started = running.pop(future)
                outcome = replace(_outcome(node, future), seconds=time.monotonic() - started)
                outcomes[node.name] = outcome
                listener.finished(outcome)
                order.done(node.name)
    return tuple(outcomes[node.name] for node in nodes)


def _obstacle(node: Node, outcomes: Mapping[str, DatasetUpdate], execution: Execution) -> DatasetUpdate | None:
    """The outcome of a dataset that must not start; None for one that may."""
    inputs = [outcomes[name] for name in map(str, node.inputs) if name in outcomes]
    if any(each.state in ("FAILED", "SKIPPED") for each in inputs):
        return DatasetUpdate(node.name, node.kind, "SKIPPED")
    return DatasetUpdate(node.name, node.kind, "STOPPED") if execution.should_stop() else None


def _outcome(node: Node, future: "Future[RunResult]") -> DatasetUpdate:
    try:
        result = future.result()
    except LocalPipelineError as error:
        return DatasetUpdate(node.name, node.kind, "FAILED", error=error)
    except Exception as cause:
        flow_error = failed(node.name, "", cause)
        flow_error.__cause__ = cause
        return DatasetUpdate(node.name, node.kind, "FAILED", error=flow_error)
    state: Literal["STOPPED", "IDLE", "COMPLETED"]
    state = "STOPPED" if result.stopped else "IDLE" if result.idle else "COMPLETED"
    return DatasetUpdate(node.name, node.kind, state, result.flows)
