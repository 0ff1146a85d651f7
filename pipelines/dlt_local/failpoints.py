"""Failpoints for crash tests: the process kills itself at a named point between two writes.

Set ``DLT_LOCAL_FAULT=<point>``, or ``<point>:<n>`` to die at the n-th arrival, from 1. Unset, failpoints do nothing.
"""

import os
import signal
from collections import Counter

POINTS = (
    "reset.begun",
    "table.created",
    "batch.begun",
    "append.before",
    "append.after",
    "view.before",
    "view.after",
    "cdc.before",
    "cdc.between",
    "cdc.after",
    "batch.written",
    "progress.before",
    "progress.after",
    "rebuild.built",
    "rebuild.replacing",
    "events.before",
    "events.after",
)
"""All failpoints, in the order in which an update can reach them."""

_arrivals: Counter[str] = Counter()


def reach(point: str) -> None:
    """Mark a failpoint; the process dies here by SIGKILL if `DLT_LOCAL_FAULT` names it."""
    armed = os.environ.get("DLT_LOCAL_FAULT")
    if armed is None:
        return
    assert point in POINTS, point
    name, _, arrival = armed.partition(":")
    if point == name:
        _arrivals[point] += 1
        if _arrivals[point] >= int(arrival or 1):
            os.kill(os.getpid(), signal.SIGKILL)
