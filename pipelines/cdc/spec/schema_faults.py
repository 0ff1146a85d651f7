"""What a JSON Schema refuses, in this project's words: the value, the near match, how to write it."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from cdc.errors import Condition, near_match
from cdc.spec.document import ValuePath
from cdc.spec.reading import Reading, listed, shown_value
from cdc.spec.schema import Kind, Refusal, refusals, resolved

_KINDS = {
    "string": "a text",
    "object": "a mapping",
    "array": "a list",
    "boolean": "true, false",
    "integer": "a whole number",
}


_ELSEWHERE_BOOLEAN = {"yes": "true", "on": "true", "y": "true", "no": "false", "off": "false", "n": "false"}
"""Words for true and false in YAML 1.1, which are texts in YAML 1.2."""


def check_against_schema(reading: Reading, kind: Kind) -> None:
    """Report what the schema refuses, and take it out of ``reading.data``: the rest can be looked at then."""
    unusable: list[ValuePath] = []
    for refusal in refusals(kind, reading.data):
        unusable += _REPORTS.get(refusal.keyword, _bad_value)(reading, refusal)
    for path in unusable:
        take_out(reading.data, path)


def take_out(data: Any, path: ValuePath) -> None:
    """Remove the value at ``path``; of a list's entry the whole list, since the others would move."""
    names = path[: next((i for i, step in enumerate(path) if isinstance(step, int)), len(path))]
    for step in names[:-1]:
        data = data.get(step, {}) if isinstance(data, dict) else {}
    if names and isinstance(data, dict):
        data.pop(names[-1], None)


def _unknown_fields(reading: Reading, refusal: Refusal) -> list[ValuePath]:
    known = list(refusal.said["properties"])
    strangers = [name for name in refusal.found if name not in known]
    for name in strangers:
        near = near_match(name, known)
        if near and not refusal.path:
            reading.misspelt.add(near)
        reading.fault(
            Condition.UNKNOWN_FIELD,
            (*refusal.path, name),
            f"`{name}` is no field of {_named(refusal.path)}"
            + ("" if near else f"; there are: {listed(known, most=40)}"),
            "correct the name, or take the field out.",
            value=name,
            near=near,
            of_key=True,
        )
    return [(*refusal.path, name) for name in strangers]


def _missing_field(reading: Reading, refusal: Refusal) -> list[ValuePath]:
    """All fields of a mapping that must be there and are not, but those of which a misspelling is reported."""
    properties = refusal.said.get("properties", {})
    misspelt = {near_match(name, properties) for name in refusal.found if name not in properties}
    for name in refusal.wanted:
        if name not in refusal.found and name not in misspelt:
            fix = _for_example(name, resolved(properties.get(name, {})))
            reading.fault(Condition.MISSING_FIELD, refusal.path, f"{_named(refusal.path)} has no `{name}`", fix)
    return []


def _wrong_kind(reading: Reading, refusal: Refusal) -> list[ValuePath]:
    wanted = [refusal.wanted] if isinstance(refusal.wanted, str) else refusal.wanted
    *first, last = ", ".join(_KINDS[each] for each in wanted).split(", ")
    kinds = f"{', '.join(first)} or {last}" if first else last
    reading.fault(
        Condition.WRONG_KIND,
        refusal.path,
        f"{_named(refusal.path)} {_kind_of(refusal.found)}; {kinds} is wanted",
        _how_to_write(_field(refusal.path), refusal.said),
        value=refusal.found,
        near=_meant_boolean(refusal.found) if "boolean" in wanted else None,
    )
    return [refusal.path]


def _bad_value(reading: Reading, refusal: Refusal) -> list[ValuePath]:
    one_of = refusal.wanted if refusal.keyword == "enum" else []
    near = near_match(str(refusal.found), one_of)
    if "boolean" in refusal.said.get("type", ()):
        near = _ELSEWHERE_BOOLEAN.get(str(refusal.found).lower())
    reading.fault(
        Condition[refusal.said.get("x-condition", "BAD_VALUE")],
        refusal.path,
        f"{_named(refusal.path)} {_why(refusal)}",
        "write one of those." if one_of else _how_to_write(_field(refusal.path), refusal.said),
        value=None if isinstance(refusal.found, dict | list) else refusal.found,
        near=near,
    )
    return [refusal.path]


_REPORTS: Mapping[str, Callable[[Reading, Refusal], list[ValuePath]]] = {
    "additionalProperties": _unknown_fields,
    "required": _missing_field,
    "type": _wrong_kind,
}


def _why(refusal: Refusal) -> str:
    """What is wrong with a value that is of the right kind."""
    found, wanted = refusal.found, refusal.wanted
    several = isinstance(found, dict | list)
    choices = listed(wanted) if isinstance(wanted, list) else ""
    reasons: dict[str, str] = {
        "enum": f"is `{shown_value(found)}`; it is one of {choices}",
        "pattern": f"is `{shown_value(found)}`, which does not have the form that is wanted",
        "minimum": f"is {shown_value(found)}; it is {wanted} or more",
        "minLength": "is an empty text",
        "minItems": "is an empty list",
        "minProperties": "is an empty mapping",
        "maxItems": f"has {len(found) if several else 1} entries; there may be {wanted}",
        "maxProperties": f"has {listed(list(map(str, found)) if several else [])}; there may be only one of them",
        "uniqueItems": "has an entry twice",
    }
    return reasons[refusal.keyword]


def _field(path: ValuePath) -> str:
    """The field's name; empty for a list's entry."""
    return path[-1] if path and isinstance(path[-1], str) else ""


def _named(path: ValuePath) -> str:
    """The value that a sentence is about.

    >>> _named(("columns", "id", "type")), _named(("key", 0)), _named(("expectations", "positive"))
    ('`type` of column `id`', 'entry 1 of `key`', '`positive` of `expectations`')
    """
    match path:
        case []:
            return "the file"
        case ["columns", name]:
            return f"column `{name}`"
        case [*_, int(index)]:
            return f"entry {index + 1} of {_named(path[:-1])}"
        case [name]:
            return f"`{name}`"
    return f"`{path[-1]}` of {_named(path[:-1])}"


def _kind_of(value: object) -> str:
    if value is None:
        return "is empty"
    kinds = {bool: "true or false", int: "a number", float: "a number", str: "a text", list: "a list"}
    shown = "" if isinstance(value, dict | list) else f"`{shown_value(value)}`, "
    return f"is {shown}{kinds.get(type(value), 'a mapping')}"


def _meant_boolean(value: object) -> str | None:
    """The word for what other YAML readers, or quick fingers, take for true or false."""
    if not isinstance(value, str):
        return None
    return _ELSEWHERE_BOOLEAN.get(value.lower()) or near_match(value, ["true", "false"])


def _how_to_write(name: str, said: Mapping[str, Any]) -> str:
    """How to write a field, from the schema's own words."""
    return str(said["x-fix"]) if "x-fix" in said else _for_example(name, said)


def _for_example(name: str, said: Mapping[str, Any]) -> str:
    examples = said.get("examples") or ([said["default"]] if "default" in said else [])
    if not examples:
        return "see docs/table-spec.md."
    written = (f"`{name}: {flow(example)}`" if name else f"`{flow(example)}`" for example in examples)
    return f"write for example {' or '.join(written)}."


def flow(value: object) -> str:
    """A value as one line of YAML.

    >>> flow({"track": ["status"], "total": "decimal(18,2)"}), flow(False), flow("2 days")
    ('{track: [status], total: "decimal(18,2)"}', 'false', '2 days')
    """
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name}: {flow(each)}" for name, each in value.items()) + "}"
    if isinstance(value, list):
        return f"[{', '.join(map(flow, value))}]"
    if isinstance(value, str) and value and not any(sign in value for sign in ",{}[]:#*&!|>'\"%@`"):
        return value
    return json.dumps(value, ensure_ascii=False)
