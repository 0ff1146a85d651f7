"""A table's `expectations:` field: a condition, or a condition with the action on violation."""

from collections.abc import Mapping
from typing import Any

from cdc.spec.model import Action


def conditions(fields: Mapping[str, Any]) -> dict[str, str]:
    """Name -> SQL condition, whatever the action.

    >>> conditions({"expectations": {"paid": "total > 0", "known": {"condition": "id > 0", "action": "drop"}}})
    {'paid': 'total > 0', 'known': 'id > 0'}
    """
    stated = fields.get("expectations", {})
    return {name: each if isinstance(each, str) else each["condition"] for name, each in _sound(stated)}


def actions(fields: Mapping[str, Any]) -> dict[str, Action]:
    """Name -> action, of the expectations that do more than count.

    >>> actions({"expectations": {"paid": "total > 0", "known": {"condition": "id > 0", "action": "drop"}}})
    {'known': 'drop'}
    """
    stated = {name: each for name, each in _sound(fields.get("expectations", {})) if not isinstance(each, str)}
    return {name: each["action"] for name, each in stated.items() if each.get("action", "warn") != "warn"}


def _sound(stated: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Those with a condition; the schema has reported the others."""
    return [(name, each) for name, each in stated.items() if isinstance(each, str) or "condition" in each]
