"""Durations such as `7 days`, and the minimum tombstone retention."""

from collections.abc import Mapping
from typing import Any

from cdc.errors import Condition
from cdc.spec.reading import Fault, Reading

_SECONDS = {"second": 1, "minute": 60, "hour": 3600, "day": 86_400, "week": 604_800}
_TWO_DAYS = 2 * 86_400


def seconds(duration: str | int) -> int:
    """A duration in seconds.

    >>> seconds("7 days"), seconds("1 week"), seconds(3600)
    (604800, 604800, 3600)
    """
    if isinstance(duration, int):
        return duration
    count, unit = duration.split()
    return int(count) * _SECONDS[unit.removesuffix("s")]


def check_retention(reading: Reading, wider: Mapping[str, Any]) -> None:
    """Report a ``tombstone_retention`` in this file below two days, unless the file or ``wider`` allows it."""
    stated = reading.data.get("tombstone_retention")
    allowed = reading.data.get("allow_short_retention", wider.get("allow_short_retention", False))
    if stated is not None and seconds(stated) < _TWO_DAYS and not allowed:
        reading.report(
            Fault(
                Condition.SHORT_TOMBSTONE_RETENTION,
                ("tombstone_retention",),
                f"`tombstone_retention` is `{stated}`: a change that arrives later than that after a delete "
                "restores the row; Databricks' default is 2 days",
                "set 2 days or more; if changes always arrive in order, add `allow_short_retention: true`.",
                value=stated,
            )
        )
