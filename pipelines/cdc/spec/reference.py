"""The reference part of docs/table-spec.md, made from the JSON Schemas and the conditions."""

from collections.abc import Iterator, Mapping
from typing import Any

from cdc.errors import Condition
from cdc.spec.schema import Kind, resolved, schema
from cdc.spec.schema_faults import flow
from cdc.spec.sqlserver_types import LEFT_OUT, known_types

_TITLES: Mapping[Kind, str] = {
    "table": "A table: `conf/tables/<connector>/<table>.yml`",
    "connector": "A connector: `conf/connectors/<connector>.yml`",
    "defaults": "Defaults: `conf/defaults.yml`",
}
_HEAD = ("| field | value | default | meaning |", "|---|---|---|---|")


def reference() -> str:
    """Every field with its values, default and meaning, every type, every fault, as Markdown."""
    column = schema("table")["$defs"]["column"]
    lines = [
        *_section(_TITLES["table"], schema("table")),
        *_section("A column: a mapping in a table's `columns:`", column),
        *_section(_TITLES["connector"], schema("connector")),
        *_section(_TITLES["defaults"], schema("defaults")),
        "## Types",
        "",
        f"Of SQL Server: {', '.join(known_types())}; and the synonyms that its DDL knows.",
        f"The connector leaves out {', '.join(LEFT_OUT)}, so a spec cannot have them.",
        "",
        "## Faults",
        "",
        "| condition | when |",
        "|---|---|",
        *(f"| {condition.name} | {_cell(condition.value)} |" for condition in Condition),
    ]
    return "\n".join(lines) + "\n"


def _section(title: str, part: Mapping[str, Any]) -> Iterator[str]:
    """A heading and a table of all fields of a mapping."""
    yield from (f"## {title}", "", *_HEAD)
    yield from _rows(part, "")
    yield ""


def _rows(part: Mapping[str, Any], prefix: str) -> Iterator[str]:
    """One row for each field, followed by those of the mapping that it may be."""
    for name, referring in part["properties"].items():
        said = resolved(referring)
        needed = name in part.get("required", ())
        default = "needed" if needed else f"`{flow(said['default'])}`" if "default" in said else ""
        yield f"| `{prefix}{name}` | {_values(said)} | {default} | {_cell(said.get('description', ''))} |"
        if "properties" in said:
            yield from _rows(said, f"{prefix}{name}.")


def _values(said: Mapping[str, Any]) -> str:
    """What may stand there, in words, with an example where the default shows none."""
    if "enum" in said:
        return ", ".join(f"`{value}`" for value in said["enum"])
    words = {
        "string": "text",
        "object": "mapping",
        "array": "list",
        "boolean": "true, false",
        "integer": "number",
    }
    kinds = [said["type"]] if isinstance(said["type"], str) else said["type"]
    examples = [f"`{flow(example)}`" for example in said.get("examples", ())]
    return _cell(", ".join(words[kind] for kind in kinds) + (f": {', '.join(examples)}" if examples else ""))


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
