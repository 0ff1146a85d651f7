"""Continuous mode: one update that runs rounds until it is asked to stop, and then ends at a batch boundary.

A table that fails is left out of the next rounds for a while, with all that read it; the others go on.
"""

import itertools
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from dlt_local.errors import FlowError
from dlt_local.flows.outcomes import FlowMetrics, Update
from dlt_local.graph.graph import Graph, Node
from dlt_local.observability.progress import Progress
from dlt_local.updates.trigger_intervals import Pace

_MAX_PAUSE = 60.0
"""Upper limit in seconds of a table's pause between retries."""


@dataclass(frozen=True)
class ContinuousMode:
    """How a continuous update runs."""

    stop: threading.Event
    """Set by the user to end the update."""
    trigger_interval: float
    """Minimum seconds from the start of one round to the start of the next."""


@dataclass(frozen=True)
class LeftOut:
    """The datasets that a round leaves out."""

    resting: frozenset[str] = frozenset()
    """They have failed, and run again later: what reads from them is left out too."""
    waiting: frozenset[str] = frozenset()
    """Their trigger interval has not ended."""


class CumulativeProgress:
    """Passes progress on with each flow's metrics summed over all rounds."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._earlier_rounds: dict[tuple[str, str], FlowMetrics] = {}
        self._this_round: dict[tuple[str, str], FlowMetrics] = {}

    def begin(self, title: str, graph: Graph) -> None:
        """The update starts."""
        self._progress.begin(title, graph)

    def next_round(self) -> None:
        """Another round starts."""
        for flow, metrics in self._this_round.items():
            self._earlier_rounds[flow] = self._earlier_rounds.get(flow, FlowMetrics()) + metrics
        self._this_round = {}

    def state(self, dataset: str, state: str) -> None:
        """A dataset has a new state."""
        self._progress.state(dataset, state)

    def batch(self, dataset: str, flow: str, metrics: FlowMetrics) -> None:
        """A flow has finished another batch; its totals in this round so far."""
        self._this_round[dataset, flow] = metrics
        self._progress.batch(dataset, flow, self._earlier_rounds.get((dataset, flow), FlowMetrics()) + metrics)


def is_permanent(error: Exception) -> bool:
    """False for errors that may pass, such as a restarting broker or a full disk."""
    return not isinstance(error, FlowError) or error.is_permanent


class Retries:
    """When each failed table runs again."""

    def __init__(self, interval: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._interval = interval
        self._clock = clock
        self._failures: dict[str, int] = {}
        self._due: dict[str, float] = {}

    def resting(self) -> frozenset[str]:
        """The tables that do not run yet."""
        now = self._clock()
        return frozenset(name for name, due in self._due.items() if due > now)

    def note(self, update: Update) -> Mapping[str, float]:
        """Take in what a round has done.

        Returns:
            The tables that failed, each with the seconds until it runs again.
        """
        pauses = {}
        for dataset in update.datasets:
            if dataset.error is None:
                self._failures.pop(dataset.name, None)
                self._due.pop(dataset.name, None)
            else:
                self._failures[dataset.name] = self._failures.get(dataset.name, 0) + 1
                pauses[dataset.name] = _pause(self._interval, self._failures[dataset.name])
                self._due[dataset.name] = self._clock() + pauses[dataset.name]
        return pauses


def nodes_of_round(nodes: Sequence[Node], left_out: LeftOut) -> tuple[Node, ...]:
    """The datasets of a round: all but those that rest or wait, and those that read from one that rests."""
    resting = set(left_out.resting)
    kept = []
    for node in nodes:
        if node.name in resting or any(str(name) in resting for name in node.inputs):
            resting.add(node.name)
        elif node.name not in left_out.waiting:
            kept.append(node)
    return tuple(kept)


def run_rounds(
    run_round: Callable[[int, LeftOut], Update],
    mode: ContinuousMode,
    pace: Pace,
    on_retry: Callable[[Exception, float], None],
    on_written: Callable[[Update], None],
) -> Update:
    """Run rounds until the user stops the update or a permanent error ends it.

    Args:
        run_round: runs one round, given its number from 0 and the datasets that it leaves out.
        mode: when to stop, and how often to run.
        pace: the tables that run less often.
        on_retry: called with each error of a round and the seconds until its dataset runs again.
        on_written: called with the sum of all rounds, after each round that wrote something.

    Returns:
        The sum of all rounds: COMPLETED if the user ended the update, FAILED if an error did.
    """
    total: Update | None = None
    retries = Retries(mode.trigger_interval)
    for number in itertools.count():
        started = time.monotonic()
        update = run_round(number, LeftOut(retries.resting(), pace.waiting()))
        total = update if total is None else total.followed_by(update)
        if any(is_permanent(error) for error in update.errors):
            return total
        if any(not dataset.is_idle for dataset in update.datasets):
            on_written(total)
        pauses = retries.note(update)
        if not mode.stop.is_set():
            for dataset in update.datasets:
                if dataset.error is not None:
                    on_retry(dataset.error, pauses[dataset.name])
        if mode.stop.wait(max(0.0, started + mode.trigger_interval - time.monotonic())):
            break
    assert total is not None
    return replace(total, state="COMPLETED")


def _pause(interval: float, failures: int) -> float:
    """Seconds until a table that has failed so many times in a row runs again: doubled each time, up to a minute.

    >>> [_pause(5.0, failures) for failures in (1, 3, 9)], _pause(90.0, 2)
    ([10.0, 40.0, 60.0], 90.0)
    """
    return min(interval * 2.0**failures, max(_MAX_PAUSE, interval))
