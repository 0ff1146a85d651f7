"""What a table's `history:` says: true, false, or which columns' changes make a version."""

from collections.abc import Mapping, Sequence
from typing import Any

from cdc.spec.model import ColumnSpec


def tracking(said: Mapping[str, Any]) -> Mapping[str, Sequence[str]]:
    """The mapping form of ``history``; empty for true and false."""
    history = said.get("history", True)
    return history if isinstance(history, dict) else {}


def has_history(said: Mapping[str, Any]) -> bool:
    """Whether silver keeps every version of the table's rows."""
    return said.get("history", True) is not False and not said.get("append_only", False)


def tracked_targets(said: Mapping[str, Any], columns: Mapping[str, ColumnSpec]) -> tuple[str, ...] | None:
    """Target names of the columns whose change makes a version; None: all. Unknown names count as nothing."""
    lists = tracking(said)
    if "track" in lists:
        return tuple(columns[name].target for name in lists["track"] if name in columns)
    if "track_except" in lists:
        return tuple(column.target for name, column in columns.items() if name not in lists["track_except"])
    return None
