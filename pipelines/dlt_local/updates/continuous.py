"""Continuous mode: one update that goes round and round until it is asked to stop, at a batch boundary."""

import itertools
import threading
import time
from collections.abc import Callable
from dataclasses import replace

from dlt_local.errors import ExpectationFailed, FlowError
from dlt_local.flows.outcomes import FlowMetrics, Update
from dlt_local.graph.graph import Graph
from dlt_local.observability.progress import Progress

_PATIENCE = 60.0
"""Seconds between two tries of what fails again and again, at most."""

# What trying again cannot mend.
_FINAL = ("CHECKPOINT_MISSING", "CHECKPOINT_DAMAGED", "EXPECTATION_FAILED")


class Summed:
    """A progress that is told of one round after another as if they were one."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._before: dict[tuple[str, str], FlowMetrics] = {}
        self._now: dict[tuple[str, str], FlowMetrics] = {}

    def begin(self, title: str, graph: Graph) -> None:
        """The update begins."""
        self._progress.begin(title, graph)

    def state(self, dataset: str, state: str) -> None:
        """A dataset's state, as it is."""
        self._progress.state(dataset, state)

    def batch(self, dataset: str, flow: str, metrics: FlowMetrics) -> None:
        """What a flow did in this round, to which that of the rounds before is added."""
        self._now[dataset, flow] = metrics
        self._progress.batch(dataset, flow, self._before.get((dataset, flow), FlowMetrics()) + metrics)

    def next_round(self) -> None:
        """Another round begins."""
        for flow, metrics in self._now.items():
            self._before[flow] = self._before.get(flow, FlowMetrics()) + metrics
        self._now = {}

    def notice(self, text: str) -> None:
        """Something that a person should know."""
        self._progress.notice(text)

    def end(self, state: str) -> None:
        """The update has ended."""
        self._progress.end(state)


def is_final(error: Exception) -> bool:
    """False for what may be over in a moment: a broker that restarts, a disk that is being cleared."""
    return isinstance(error, ExpectationFailed) or not isinstance(error, FlowError) or error.condition in _FINAL


def repeat(
    once: Callable[[int], Update],
    stop: threading.Event,
    interval: float,
    on_retry: Callable[[Update, float], None],
    on_round: Callable[[Update], None],
) -> Update:
    """Bring the datasets up to date again and again.

    Args:
        once: one round, given its number from 0.
        stop: set by the user who wants an end.
        interval: seconds from the begin of one round to that of the next, at least.
        on_retry: is told of a round that failed and will be tried again, and after how many seconds.
        on_round: is told the sum of all rounds after each in which something was written.

    Returns:
        The sum of all rounds: COMPLETED where the user ended it, FAILED where an error did.
    """
    total: Update | None = None
    failures = 0
    for number in itertools.count():
        began = time.monotonic()
        ended = once(number)
        total = ended if total is None else total.followed_by(ended)
        if any(is_final(error) for error in ended.errors):
            return total
        if any(not dataset.is_idle for dataset in ended.datasets):
            on_round(total)
        failures = failures + 1 if ended.errors else 0
        pause = min(interval * 2**failures, max(_PATIENCE, interval)) if failures else interval
        if ended.errors and not stop.is_set():
            on_retry(ended, pause)
        if stop.wait(max(0.0, began + pause - time.monotonic())):
            break
    assert total is not None
    return replace(total, state="COMPLETED")
