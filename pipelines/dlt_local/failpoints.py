"""Fault injection for tests: the process kills itself at a named point between two writes.

Set ``DLT_LOCAL_FAULT=<point>`` or ``<point>:<n>`` (at the n-th arrival, from 1); unset, a point does nothing.
"""

import os
import signal
from collections import Counter

POINTS = (
    "reset.begun",
    "table.created",
    "append.before",
    "append.after",
    "view.before",
    "view.after",
    "cdc.before",
    "cdc.between",
    "cdc.after",
    "progress.before",
    "progress.after",
    "events.before",
    "events.after",
)
"""Every point there is, in the order in which one update can pass them."""

_arrivals: Counter[str] = Counter()


def reach(point: str) -> None:
    """Pass a point; die there by SIGKILL if the environment says so."""
    wanted = os.environ.get("DLT_LOCAL_FAULT")
    if wanted is None:
        return
    assert point in POINTS, point
    name, _, number = wanted.partition(":")
    if point == name:
        _arrivals[point] += 1
        if _arrivals[point] >= int(number or 1):
            os.kill(os.getpid(), signal.SIGKILL)
