"""A table's `history:` field: true, false, or the columns whose changes make a version."""

from collections.abc import Mapping, Sequence
from typing import Any

from cdc.spec.model import ColumnSpec


def tracking(fields: Mapping[str, Any]) -> Mapping[str, Sequence[str]]:
    """``history`` in its mapping form; empty for true and false."""
    history = fields.get("history", True)
    return history if isinstance(history, dict) else {}


def has_history(fields: Mapping[str, Any]) -> bool:
    """True if silver keeps every version of a row."""
    return fields.get("history", True) is not False and not fields.get("append_only", False)


def tracked_targets(fields: Mapping[str, Any], columns: Mapping[str, ColumnSpec]) -> tuple[str, ...] | None:
    """Target names of the columns whose change makes a version; None means all. Unknown names are ignored."""
    lists = tracking(fields)
    if "track" in lists:
        return tuple(columns[name].target for name in lists["track"] if name in columns)
    if "track_except" in lists:
        return tuple(column.target for name, column in columns.items() if name not in lists["track_except"])
    return None
