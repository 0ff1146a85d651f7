"""The reference part of docs/table-spec.md, generated from the JSON Schemas and the conditions."""

from collections.abc import Iterator, Mapping
from typing import Any

from cdc.errors import Condition
from cdc.spec.kinds import KINDS, Kind
from cdc.spec.schema import FileKind, resolved, schema
from cdc.spec.schema_faults import flow

_TITLES: Mapping[FileKind, str] = {
    "table": "A table: `conf/tables/<connector>/<table>.yml`",
    "connector": "A connector: `conf/connectors/<connector>.yml`",
    "defaults": "Defaults: `conf/defaults.yml`",
}
_HEAD = ("| field | value | default | meaning |", "|---|---|---|---|")


def reference() -> str:
    """All fields with values, default and meaning, all types and all faults, as Markdown."""
    column = schema("table")["$defs"]["column"]
    lines = [
        *_section(_TITLES["table"], schema("table")),
        *_section("A column: a mapping in a table's `columns:`", column),
        *_section(_TITLES["connector"], schema("connector")),
        *_section(_TITLES["defaults"], schema("defaults")),
        "## Types",
        "",
        *(line for kind in KINDS.values() for line in _types(kind)),
        "",
        "## Faults",
        "",
        "| condition | when |",
        "|---|---|",
        *(f"| {condition.name} | {_cell(condition.value)} |" for condition in Condition),
    ]
    return "\n".join(lines) + "\n"


def _types(kind: Kind) -> Iterator[str]:
    yield f"{kind.title}'s types: {', '.join(kind.known_types)}, and their synonyms."
    if kind.omitted:
        yield f"The connector omits {', '.join(kind.omitted)} columns, so a spec cannot contain them."


def _section(title: str, part: Mapping[str, Any]) -> Iterator[str]:
    """A heading and a table with all fields of a mapping."""
    yield from (f"## {title}", "", *_HEAD)
    yield from _rows(part, "")
    yield ""


def _rows(part: Mapping[str, Any], prefix: str) -> Iterator[str]:
    """One row per field, followed by the rows of its nested fields."""
    for name, referring in part["properties"].items():
        field = resolved(referring)
        required = name in part.get("required", ())
        default = "required" if required else f"`{flow(field['default'])}`" if "default" in field else ""
        yield f"| `{prefix}{name}` | {_values(field)} | {default} | {_cell(field.get('description', ''))} |"
        if "properties" in field:
            yield from _rows(field, f"{prefix}{name}.")


def _values(field: Mapping[str, Any]) -> str:
    """The values that a field may have, with examples."""
    if "enum" in field:
        return ", ".join(f"`{value}`" for value in field["enum"])
    words = {
        "string": "string",
        "object": "mapping",
        "array": "list",
        "boolean": "true, false",
        "integer": "number",
    }
    kinds = [field["type"]] if isinstance(field["type"], str) else field["type"]
    examples = [f"`{flow(example)}`" for example in field.get("examples", ())]
    return _cell(", ".join(words[kind] for kind in kinds) + (f": {', '.join(examples)}" if examples else ""))


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
