"""Continuous mode: one update that goes round and round until it is asked to stop, at a batch boundary."""

import threading
import time
from collections.abc import Callable

from dlt_local.errors import ExpectationFailed, FlowError
from dlt_local.update import Update

_PATIENCE = 60.0
"""Seconds between two tries of what fails again and again, at most."""

# What trying again cannot mend.
_FINAL = ("CHECKPOINT_MISSING", "EXPECTATION_FAILED")


def is_final(error: Exception) -> bool:
    """False for what may be over in a moment: a broker that restarts, a disk that is being cleared."""
    return isinstance(error, ExpectationFailed) or not isinstance(error, FlowError) or error.condition in _FINAL


def repeat(
    once: Callable[[], Update],
    stop: threading.Event,
    interval: float,
    on_retry: Callable[[Update, float], None],
    on_round: Callable[[Update], None],
) -> Update:
    """Bring the datasets up to date again and again.

    Args:
        once: one round.
        stop: set by the user who wants an end.
        interval: seconds from the begin of one round to that of the next, at least.
        on_retry: is told of a round that failed and will be tried again, and after how many seconds.
        on_round: is told the sum of all rounds after each in which something was written.

    Returns:
        The sum of all rounds: COMPLETED where the user ended it, FAILED where an error did.
    """
    total: Update | None = None
    failures = 0
    while True:
        began = time.monotonic()
        ended = once()
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
            return total
