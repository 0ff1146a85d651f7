"""The JSON Schemas of a conf folder's files: the one home of fields, defaults, examples and descriptions.

They lie beside this module, so that they are there wherever the code is; `python -m cdc schemas` copies them
into a conf folder, where editors complete from them.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

from jsonschema import Draft202012Validator
from referencing import Registry, Resource

from cdc.spec.document import ValuePath

Kind = Literal["table", "connector", "defaults"]
FOLDER = Path(__file__).parent / "schema"


@dataclass(frozen=True)
class Refusal:
    """One thing that a schema refuses."""

    path: ValuePath
    keyword: str
    """The schema's keyword: ``required``, ``type``, ``enum``."""
    wanted: Any
    """What the schema has behind the keyword."""
    found: Any
    """The value that it refuses."""
    said: Mapping[str, Any]
    """All that the schema says of such a value."""


@cache
def schema(kind: Kind) -> Mapping[str, Any]:
    """The JSON Schema of one kind of file."""
    loaded: Mapping[str, Any] = json.loads((FOLDER / f"{kind}.schema.json").read_text(encoding="utf-8"))
    return loaded


def refusals(kind: Kind, data: Mapping[str, Any]) -> Iterator[Refusal]:
    """All that the schema refuses of a file's values, in the order of their paths.

    A value is refused once for each keyword: jsonschema says `required` again for each field that is missing.
    """
    seen: set[tuple[ValuePath, str]] = set()
    for error in sorted(_validator(kind).iter_errors(data), key=lambda error: str(error.absolute_path)):
        path: ValuePath = tuple(error.absolute_path)
        if (path, str(error.validator)) in seen:
            continue
        seen.add((path, str(error.validator)))
        part: Any = error.schema
        yield Refusal(
            path,
            str(error.validator),
            error.validator_value,
            error.instance,
            {**field_schema(kind, path), **part},
        )


def field_schema(kind: Kind, path: ValuePath) -> Mapping[str, Any]:
    """What the schema says of the value at ``path``, references followed; empty where it says nothing."""
    found: Mapping[str, Any] = schema(kind)
    for step in path:
        if isinstance(step, int):
            found = resolved(found.get("items", {}))
        else:
            found = resolved(found.get("properties", {}).get(step, found.get("additionalProperties") or {}))
    return found


def resolved(part: Mapping[str, Any]) -> Mapping[str, Any]:
    """A part of a schema together with what it refers to; its own words go before."""
    if "$ref" not in part:
        return part
    name = part["$ref"].rpartition("/")[2]
    shared = {**schema("connector")["$defs"], **schema("table")["$defs"]}
    return {**shared[name], **part}


@cache
def _validator(kind: Kind) -> Draft202012Validator:
    registry: Registry[Any] = Registry()
    shared = Resource.from_contents(dict(schema("table")))
    return Draft202012Validator(dict(schema(kind)), registry=registry.with_resource("table.schema.json", shared))
