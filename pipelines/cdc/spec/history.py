"""A table's `history:` field: true, false, or the columns whose changes make a version."""

from collections.abc import Iterable, Mapping, Sequence
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
    lists, known = tracking(fields), [*columns, *fields.get("computed", {})]
    if "track" in lists:
        return targets_of([name for name in lists["track"] if name in known], columns)
    if "track_except" in lists:
        return targets_of([name for name in known if name not in lists["track_except"]], columns)
    return None


def targets_of(names: Iterable[str], columns: Mapping[str, ColumnSpec]) -> tuple[str, ...]:
    """Target names of listed columns: the source's have its names in lists, computed ones their own."""
    return tuple(columns[name].target if name in columns else name for name in names)
