"""What an update makes of a document, and how MongoDB describes it: a small model for scripted histories."""

import copy
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tools.mongodb_connector.primary import Description

Document = dict[str, Any]


@dataclass(frozen=True)
class Update:
    """Operators of an update, on dotted paths."""

    sets: Mapping[str, Any] = field(default_factory=dict)
    unsets: tuple[str, ...] = ()
    pushes: Mapping[str, Any] = field(default_factory=dict)
    pops: tuple[str, ...] = ()
    """Paths of arrays that lose their last element."""


def changed_document(document: Document, update: Update) -> Document:
    """The document after the update.

    >>> changed_document({"_id": 1, "a": {"b": 1}}, Update(sets={"a.c": 2}, unsets=("a.b",)))
    {'_id': 1, 'a': {'c': 2}}
    """
    result = copy.deepcopy(document)
    for path, value in update.sets.items():
        parent, name = _parent(result, path, make=True)
        if isinstance(parent, list):
            parent[int(name)] = value
        else:
            parent[name] = value
    for path in update.unsets:
        parent, name = _parent(result, path)
        if isinstance(parent, dict):
            parent.pop(name, None)
    for path, value in update.pushes.items():
        parent, name = _parent(result, path, make=True)
        parent.setdefault(name, []).append(value)
    for path in update.pops:
        parent, name = _parent(result, path)
        parent[name].pop()
    return result


def described(document: Document, update: Update) -> Description:
    """The update as MongoDB describes it.

    >>> described({"_id": 1, "t": [1, 2]}, Update(pushes={"t": 3}, unsets=("a",)))
    {'updatedFields': {'t.2': 3}, 'removedFields': [], 'truncatedArrays': []}
    """
    updated = dict(update.sets)
    for path, value in update.pushes.items():
        array = _at(document, path)
        updated |= {path: [value]} if array is None else {f"{path}.{len(array)}": value}
    removed = [path for path in update.unsets if _has(document, path)]
    truncated = [{"field": path, "newSize": len(_at(document, path)) - 1} for path in update.pops]
    return {"updatedFields": updated, "removedFields": removed, "truncatedArrays": truncated}


def _parent(document: Document, path: str, *, make: bool = False) -> tuple[Any, str]:
    *above, name = path.split(".")
    found: Any = document
    for each in above:
        if isinstance(found, list):
            found = found[int(each)]
        elif make:
            found = found.setdefault(each, {})
        else:
            found = found.get(each, {}) if isinstance(found, dict) else {}
    return found, name


def _at(document: Document, path: str) -> Any:
    parent, name = _parent(document, path)
    return parent.get(name) if isinstance(parent, dict) else None


def _has(document: Document, path: str) -> bool:
    parent, name = _parent(document, path)
    return isinstance(parent, dict) and name in parent
