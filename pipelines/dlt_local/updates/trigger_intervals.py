"""How often each table runs in continuous mode: `pipelines.trigger.interval` of a table, or of the whole pipeline.

As on Databricks (https://docs.databricks.com/ldp/properties): the Spark conf of a table, its property, or a key of the
pipeline's configuration, in this order; an update that runs once has no use for it.
"""

import re
import time
from collections.abc import Callable, Collection, Mapping, Sequence

from dlt_local.declarations.elements import QueryFlow, Table
from dlt_local.errors import DeclarationError
from dlt_local.graph.graph import Node

SETTING = "pipelines.trigger.interval"
_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*(s|sec|seconds?|m|min|minutes?|h|hours?|d|days?)?")
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


def seconds(text: str) -> float | None:
    """The seconds of a duration; a bare number is seconds; None if it is no duration.

    >>> seconds("10 seconds"), seconds("1.5 min"), seconds("2"), seconds("soon")
    (10.0, 90.0, 2.0, None)
    """
    found = _DURATION.fullmatch(text.strip().lower())
    return float(found[1]) * _SECONDS[(found[2] or "s")[0]] if found else None


def intervals(nodes: Sequence[Node], configuration: Mapping[str, str]) -> Mapping[str, float]:
    """Table -> the seconds between its runs, for those that have an interval.

    Raises:
        DeclarationError: TRIGGER_INTERVAL_NOT_VALID.
    """
    found = {}
    for node in nodes:
        text = _declared(node) or configuration.get(SETTING)
        if text is None or not isinstance(node.dataset, Table):
            continue
        interval = seconds(text)
        if interval is None:
            message = f"`{SETTING}` of {node.name} is `{text}`, which is no duration"
            fix = "write it like `10 seconds` or `2 minutes`"
            raise DeclarationError("TRIGGER_INTERVAL_NOT_VALID", message, node.dataset.location, fix)
        found[node.name] = interval
    return found


class Pace:
    """Which tables wait for the end of their interval."""

    def __init__(self, intervals: Mapping[str, float], clock: Callable[[], float] = time.monotonic) -> None:
        self._intervals = intervals
        self._clock = clock
        self._due: dict[str, float] = {}

    def waiting(self) -> frozenset[str]:
        """The tables that do not run yet."""
        now = self._clock()
        return frozenset(name for name, due in self._due.items() if due > now)

    def started(self, names: Collection[str]) -> None:
        """Note which tables run now."""
        now = self._clock()
        self._due |= {name: now + self._intervals[name] for name in names if name in self._intervals}


def _declared(node: Node) -> str | None:
    table = node.dataset
    if not isinstance(table, Table):
        return None
    flows = [flow.flow for flow in node.flows if isinstance(flow.flow, QueryFlow)]
    confs = (table.spark_conf, *(flow.spark_conf for flow in flows))
    declared = [str(conf[SETTING]) for conf in confs if SETTING in conf]
    return (declared[-1] if declared else None) or table.table_properties.get(SETTING)
