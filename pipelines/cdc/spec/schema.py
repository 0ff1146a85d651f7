"""JSON Schemas of a conf folder's files: the only home of fields, defaults, examples and descriptions.

They are stored next to this module, so they ship with the code; `python -m cdc schemas` copies them to a conf
folder for completion in editors.
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
from cdc.spec.kinds import AUTO, KINDS

FileKind = Literal["table", "connector", "defaults"]
FOLDER = Path(__file__).parent / "schema"


@dataclass(frozen=True)
class Violation:
    """One violation of a schema."""

    path: ValuePath
    keyword: str
    """The schema's keyword: ``required``, ``type``, ``enum``."""
    expected: Any
    """The keyword's value in the schema."""
    found: Any
    """The value that violates it."""
    field: Mapping[str, Any]
    """The schema of that value."""


@cache
def schema(kind: FileKind) -> Mapping[str, Any]:
    """The JSON Schema of one kind of file."""
    loaded: dict[str, Any] = json.loads((FOLDER / f"{kind}.schema.json").read_text(encoding="utf-8"))
    if kind == "connector":
        # Editors complete the name of every kind that there can be; a spec may have those whose records can be decoded.
        loaded["properties"]["kind"]["enum"] = [*(name for name in every_kind() if name in KINDS), AUTO]
    return loaded


@cache
def every_kind() -> tuple[str, ...]:
    """What Debezium's connectors call themselves in ``source.connector``, those of kinds that are not decoded too."""
    stated = json.loads((FOLDER / "connector.schema.json").read_text(encoding="utf-8"))["properties"]["kind"]["enum"]
    return tuple(name for name in stated if name != AUTO)


def violations(kind: FileKind, data: Mapping[str, Any]) -> Iterator[Violation]:
    """Every violation in a file's values, ordered by path.

    One per value and keyword: jsonschema reports `required` once for each missing field.
    """
    seen: set[tuple[ValuePath, str]] = set()
    for error in sorted(_validator(kind).iter_errors(data), key=lambda error: str(error.absolute_path)):
        path: ValuePath = tuple(error.absolute_path)
        if (path, str(error.validator)) in seen:
            continue
        seen.add((path, str(error.validator)))
        part: Any = error.schema
        yield Violation(
            path,
            str(error.validator),
            error.validator_value,
            error.instance,
            {**field_schema(kind, path), **part},
        )


def field_schema(kind: FileKind, path: ValuePath) -> Mapping[str, Any]:
    """The schema of the value at ``path``, references resolved; empty if the schema does not mention it."""
    found: Mapping[str, Any] = schema(kind)
    for step in path:
        if isinstance(step, int):
            found = resolved(found.get("items", {}))
        else:
            found = resolved(found.get("properties", {}).get(step, found.get("additionalProperties") or {}))
    return found


def resolved(part: Mapping[str, Any]) -> Mapping[str, Any]:
    """A part of a schema merged with the definition that it references; its own keywords win."""
    if "$ref" not in part:
        return part
    name = part["$ref"].rpartition("/")[2]
    shared = {**schema("connector")["$defs"], **schema("table")["$defs"]}
    return {**shared[name], **part}


@cache
def _validator(kind: FileKind) -> Draft202012Validator:
    registry: Registry[Any] = Registry()
    shared = Resource.from_contents(dict(schema("table")))
    return Draft202012Validator(dict(schema(kind)), registry=registry.with_resource("table.schema.json", shared))
