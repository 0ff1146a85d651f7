"""Faults from JSON Schema violations: the value, the near match and how to write it."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from cdc.errors import Condition, near_match
from cdc.spec.document import ValuePath
from cdc.spec.reading import Fault, Reading, listed, shown_value
from cdc.spec.schema import FileKind, Violation, resolved, violations

_KINDS = {
    "string": "a string",
    "object": "a mapping",
    "array": "a list",
    "boolean": "true, false",
    "integer": "a whole number",
}


_YAML_1_1_BOOLEANS = {"yes": "true", "on": "true", "y": "true", "no": "false", "off": "false", "n": "false"}
"""Words for true and false in YAML 1.1, which are strings in YAML 1.2."""


def check_against_schema(reading: Reading, kind: FileKind) -> None:
    """Report schema violations, and remove those values from ``reading.data`` so that the rest can be checked."""
    unusable: list[ValuePath] = []
    for violation in violations(kind, reading.data):
        unusable += _REPORTS.get(violation.keyword, _bad_value)(reading, violation)
    for path in unusable:
        remove(reading.data, path)


def remove(data: Any, path: ValuePath) -> None:
    """Remove the value at ``path``; for a list entry the whole list, because the other entries would move."""
    names = path[: next((i for i, step in enumerate(path) if isinstance(step, int)), len(path))]
    for step in names[:-1]:
        data = data.get(step, {}) if isinstance(data, dict) else {}
    if names and isinstance(data, dict):
        data.pop(names[-1], None)


def _unknown_fields(reading: Reading, violation: Violation) -> list[ValuePath]:
    known = list(violation.field["properties"])
    unknown = [name for name in violation.found if name not in known]
    for name in unknown:
        near = near_match(name, known)
        if near and not violation.path:
            reading.misspelt.add(near)
        reading.report(
            Fault(
                Condition.UNKNOWN_FIELD,
                (*violation.path, name),
                f"`{name}` is not a field of {_named(violation.path)}"
                + ("" if near else f"; known fields: {listed(known, most=40)}"),
                "correct the name, or remove the field.",
                value=name,
                near=near,
                of_key=True,
            )
        )
    return [(*violation.path, name) for name in unknown]


def _missing_field(reading: Reading, violation: Violation) -> list[ValuePath]:
    """Required fields that are missing, apart from those with a reported misspelling."""
    properties = violation.field.get("properties", {})
    misspelt = {near_match(name, properties) for name in violation.found if name not in properties}
    for name in violation.expected:
        if name not in violation.found and name not in misspelt:
            detail = f"{_named(violation.path)} lacks the required field `{name}`"
            fix = _for_example(name, resolved(properties.get(name, {})))
            reading.report(Fault(Condition.MISSING_FIELD, violation.path, detail, fix))
    return []


def _wrong_kind(reading: Reading, violation: Violation) -> list[ValuePath]:
    expected = [violation.expected] if isinstance(violation.expected, str) else violation.expected
    *first, last = ", ".join(_KINDS[each] for each in expected).split(", ")
    kinds = f"{', '.join(first)} or {last}" if first else last
    reading.report(
        Fault(
            Condition.WRONG_KIND,
            violation.path,
            f"{_named(violation.path)} {_kind_of(violation.found)}; expected {kinds}",
            _how_to_write(_field(violation.path), violation.field),
            value=violation.found,
            near=_meant_boolean(violation.found) if "boolean" in expected else None,
        )
    )
    return [violation.path]


def _bad_value(reading: Reading, violation: Violation) -> list[ValuePath]:
    one_of = violation.expected if violation.keyword == "enum" else []
    near = near_match(str(violation.found), one_of)
    if "boolean" in violation.field.get("type", ()):
        near = _YAML_1_1_BOOLEANS.get(str(violation.found).lower())
    reading.report(
        Fault(
            Condition[violation.field.get("x-condition", "BAD_VALUE")],
            violation.path,
            f"{_named(violation.path)} {_why(violation)}",
            "use one of those." if one_of else _how_to_write(_field(violation.path), violation.field),
            value=None if isinstance(violation.found, dict | list) else violation.found,
            near=near,
        )
    )
    return [violation.path]


_REPORTS: Mapping[str, Callable[[Reading, Violation], list[ValuePath]]] = {
    "additionalProperties": _unknown_fields,
    "required": _missing_field,
    "type": _wrong_kind,
}


def _why(violation: Violation) -> str:
    """Why a value of the right kind is not allowed."""
    found, expected = violation.found, violation.expected
    several = isinstance(found, dict | list)
    choices = listed(expected) if isinstance(expected, list) else ""
    reasons: dict[str, str] = {
        "enum": f"is `{shown_value(found)}`; expected one of {choices}",
        "pattern": f"is `{shown_value(found)}`, which does not have the expected form",
        "minimum": f"is {shown_value(found)}; the minimum is {expected}",
        "minLength": "is an empty string",
        "minItems": "is an empty list",
        "minProperties": "is an empty mapping",
        "maxItems": f"has {len(found) if several else 1} entries; the maximum is {expected}",
        "maxProperties": f"has {listed(list(map(str, found)) if several else [])}; only one of them is allowed",
        "uniqueItems": "has a duplicate entry",
    }
    return reasons[violation.keyword]


def _field(path: ValuePath) -> str:
    """The field's name; empty for a list entry."""
    return path[-1] if path and isinstance(path[-1], str) else ""


def _named(path: ValuePath) -> str:
    """The value at ``path`` as the subject of a sentence.

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
    kinds = {bool: "true or false", int: "a number", float: "a number", str: "a string", list: "a list"}
    shown = "" if isinstance(value, dict | list) else f"`{shown_value(value)}`, "
    return f"is {shown}{kinds.get(type(value), 'a mapping')}"


def _meant_boolean(value: object) -> str | None:
    """The boolean meant by a YAML 1.1 word or a misspelling; None if it looks like neither."""
    if not isinstance(value, str):
        return None
    return _YAML_1_1_BOOLEANS.get(value.lower()) or near_match(value, ["true", "false"])


def _how_to_write(name: str, field: Mapping[str, Any]) -> str:
    """The fix of a faulty field: the schema's `x-fix`, or its examples."""
    return str(field["x-fix"]) if "x-fix" in field else _for_example(name, field)


def _for_example(name: str, field: Mapping[str, Any]) -> str:
    examples = field.get("examples") or ([field["default"]] if "default" in field else [])
    if not examples:
        return "see docs/table-spec.md."
    written = (f"`{name}: {flow(example)}`" if name else f"`{flow(example)}`" for example in examples)
    return f"for example {' or '.join(written)}."


def flow(value: object) -> str:
    """A value as YAML in one line.

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
