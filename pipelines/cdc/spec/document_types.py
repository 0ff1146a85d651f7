"""The columns that documents in extended JSON have, by path: their fields' types as the documents show them."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

_OF_WRAPPER = {
    "$oid": "objectid",
    "$date": "date",
    "$numberInt": "int",
    "$numberLong": "long",
    "$numberDouble": "double",
    "$numberDecimal": "decimal128",
    "$timestamp": "timestamp",
    "$uuid": "uuid",
    "$symbol": "string",
}
_OF_UUID = ("4", "04")
_WIDER = {frozenset({"int", "long"}): "long", frozenset({"int", "double"}): "double"}
_OTHERWISE = "json"
_DEPTH = 3
"""So many names of fields a path has at most; what is deeper is part of a json column."""


class DocumentTypes:
    """The paths of some documents and the type of each."""

    def __init__(self) -> None:
        self._types: dict[str, str] = {}

    def add(self, text: object) -> None:
        """Take in a document; a text that is none is ignored."""
        try:
            document = json.loads(text) if isinstance(text, str) else None
        except ValueError:
            return
        if isinstance(document, dict):
            for path, found in _fields("", document, _DEPTH):
                known = self._types.setdefault(path, found)
                self._types[path] = known if known == found else _WIDER.get(frozenset({known, found}), _OTHERWISE)

    def columns(self) -> tuple[tuple[str, str, bool], ...]:
        """Each path's name, its type, and whether it may be null; a path below one that is a column itself is left out.

        >>> types = DocumentTypes()
        >>> types.add('{"_id": {"$oid": "5f"}, "n": 1, "address": {"city": "Turin"}, "tags": ["a"], "gone": null}')
        >>> types.add('{"_id": {"$oid": "60"}, "n": {"$numberLong": "5"}}')
        >>> types.columns()
        (('_id', 'objectid', False), ('n', 'long', True), ('address.city', 'string', True), ('tags', 'json', True))
        """
        # An object in one document and something else in another.
        mixed = {path for path in self._types if any(each.startswith(f"{path}.") for each in self._types)}
        kept = [each for each in self._types if not any(each.startswith(f"{path}.") for path in mixed)]
        return tuple((path, _OTHERWISE if path in mixed else self._types[path], path != "_id") for path in kept)


def _fields(prefix: str, document: Mapping[str, Any], depth: int) -> Iterator[tuple[str, str]]:
    for name, value in document.items():
        path = f"{prefix}{name}"
        is_object = isinstance(value, dict) and value and not any(each.startswith("$") for each in value)
        plain = is_object and all(each and "." not in each for each in value)
        if value is None or "." in name or not name or (isinstance(value, dict) and "$undefined" in value):
            continue
        if plain and depth > 1 and path != "_id":
            yield from _fields(f"{path}.", value, depth - 1)
        else:
            yield path, _type(value)


def _type(value: object) -> str:
    if isinstance(value, dict):
        subtype = value.get("$type") or (value["$binary"].get("subType") if _is_binary(value) else None)
        if "$binary" in value:
            return "uuid" if subtype in _OF_UUID else "binary"
        return next((of_type for name, of_type in _OF_WRAPPER.items() if name in value), _OTHERWISE)
    if isinstance(value, bool):
        return "boolean"
    return {str: "string", int: "int", float: "double"}.get(type(value), _OTHERWISE)


def _is_binary(value: Mapping[str, Any]) -> bool:
    return isinstance(value.get("$binary"), dict)
