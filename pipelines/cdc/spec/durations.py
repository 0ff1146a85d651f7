"""Durations such as `7 days`, and the shortest time for which deleted keys should be remembered."""

from collections.abc import Mapping
from typing import Any

from cdc.errors import Condition
from cdc.spec.reading import Reading

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
    """Report a ``tombstone_retention`` of this file that is short without leave (its own, or ``wider``'s)."""
    said = reading.data.get("tombstone_retention")
    allowed = reading.data.get("allow_short_retention", wider.get("allow_short_retention", False))
    if said is not None and seconds(said) < _TWO_DAYS and not allowed:
        reading.fault(
            Condition.SHORT_TOMBSTONE_RETENTION,
            ("tombstone_retention",),
            f"`tombstone_retention` is `{said}`: a change that arrives later than that after a delete brings "
            "the row back; Databricks waits 2 days",
            "write 2 days or more; or, where no change can be late, `allow_short_retention: true` beside it.",
            value=said,
        )
