"""A file's `retention:` field: how long records and changes are kept; of defaults.yml and the rest the nearest wins."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

Kept = Literal["bronze", "changes"]
KEPT: tuple[Kept, ...] = ("bronze", "changes")
FOREVER = "forever"


@dataclass(frozen=True)
class Retention:
    """Days after which rows are no longer kept; None: forever."""

    bronze: int | None = None
    """Records, and their outcomes."""
    changes: int | None = None

    def over(self, place: Mapping[str, Any]) -> "Retention":
        """This, with what a nearer place states in its stead.

        >>> Retention(bronze=30, changes=30).over({"retention": {"bronze": "2 weeks", "changes": "forever"}})
        Retention(bronze=14, changes=None)
        """
        stated: Mapping[str, str] = place.get("retention", {})
        return replace(self, **{what: _days(stated[what]) for what in KEPT if what in stated})


def _days(stated: str) -> int | None:
    if stated == FOREVER:
        return None
    count, unit = stated.split()
    return int(count) * (7 if unit.startswith("week") else 1)
