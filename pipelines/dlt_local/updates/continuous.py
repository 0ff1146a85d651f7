"""Continuous mode: one update that runs rounds until it is asked to stop, and then ends at a batch boundary."""

import itertools
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from dlt_local.errors import ExpectationFailed, FlowError, StorageAltered
from dlt_local.flows.outcomes import FlowMetrics, Update
from dlt_local.graph.graph import Graph
from dlt_local.observability.progress import Progress

_MAX_PAUSE = 60.0
"""Upper limit in seconds of the pause between retries."""


@dataclass(frozen=True)
class ContinuousMode:
    """How a continuous update runs."""

    stop: threading.Event
    """Set by the user to end the update."""
    trigger_interval: float
    """Minimum seconds from the start of one round to the start of the next."""


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
    return isinstance(error, ExpectationFailed | StorageAltered) or not isinstance(error, FlowError)


def run_rounds(
    run_round: Callable[[int], Update],
    mode: ContinuousMode,
    on_retry: Callable[[Update, float], None],
    on_written: Callable[[Update], None],
) -> Update:
    """Run rounds until the user stops the update or a permanent error ends it.

    Args:
        run_round: runs one round, given its number from 0.
        mode: when to stop, and how often to run.
        on_retry: called with a failed round and the seconds until it is retried.
        on_written: called with the sum of all rounds, after each round that wrote something.

    Returns:
        The sum of all rounds: COMPLETED if the user ended the update, FAILED if an error did.
    """
    total: Update | None = None
    failures = 0
    for number in itertools.count():
        started = time.monotonic()
        update = run_round(number)
        total = update if total is None else total.followed_by(update)
        if any(is_permanent(error) for error in update.errors):
            return total
        if any(not dataset.is_idle for dataset in update.datasets):
            on_written(total)
        failures = failures + 1 if update.errors else 0
        pause = _pause(mode.trigger_interval, failures)
        if update.errors and not mode.stop.is_set():
            on_retry(update, pause)
        if mode.stop.wait(max(0.0, started + pause - time.monotonic())):
            break
    assert total is not None
    return replace(total, state="COMPLETED")


def _pause(interval: float, failures: int) -> float:
    """Seconds from the start of a round to the next: doubled with each failure in a row, up to a minute.

    >>> [_pause(5.0, failures) for failures in (0, 1, 3, 9)], _pause(90.0, 2)
    ([5.0, 10.0, 40.0, 60.0], 90.0)
    """
    return min(interval * 2**failures, max(_MAX_PAUSE, interval)) if failures else interval
