"""A file's `table_properties:` field: Delta's and Databricks' properties of the tables, for all layers or for one."""

from collections.abc import Iterator, Mapping
from typing import Any

from cdc.errors import Condition
from cdc.spec.document import ValuePath
from cdc.spec.layers import LAYERS, Layer, TableProperties
from cdc.spec.reading import Fault, Reading

_OWNED = {
    "pipelines.reset.allowed": "remove it: bronze is never reset, and `--rebuild` needs the others to be.",
    "pipelines.cdc.tombstonegcthresholdinseconds": "set `tombstone_retention:` instead, such as 7 days.",
    "pipelines.applychanges.tombstonegcthresholdinseconds": "set `tombstone_retention:` instead, such as 7 days.",
    "comment": "set `comment:` of the table spec instead.",
}
"""Property in lower case -> what to do instead."""
_OWNED_PREFIXES = {
    "rows.": "remove it: it follows from the spec, and tells whether stored rows fit an edit.",
    "report.": "remove it: it follows from the spec, and tells the report what to count.",
}


def properties_in(place: Mapping[str, Any]) -> TableProperties:
    """The table properties that a file sets itself; those of one layer win over those of all.

    >>> properties_in({"table_properties": {"a": True, "gold": {"b": 2}}})
    TableProperties(bronze=(('a', 'true'),), silver=(('a', 'true'),), gold=(('a', 'true'), ('b', '2')))
    """
    stated: Mapping[str, Any] = place.get("table_properties", {})
    shared = {name: value for name, value in stated.items() if name not in LAYERS}
    return TableProperties(*(_pairs({**shared, **stated.get(layer, {})}) for layer in LAYERS))


def place_of(reading: Reading, layer: Layer, name: str) -> ValuePath | None:
    """Where a file sets a property of a layer; None if it does not."""
    stated = reading.data.get("table_properties", {})
    if name in stated.get(layer, {}):
        return ("table_properties", layer, name)
    return ("table_properties", name) if name in stated else None


def check_properties(reading: Reading) -> None:
    """Report the properties that the pipeline sets itself."""
    for path, name in _stated(reading.data.get("table_properties", {})):
        fix = _OWNED.get(name.lower()) or next(
            (fix for prefix, fix in _OWNED_PREFIXES.items() if name.lower().startswith(prefix)), None
        )
        if fix:
            detail = f"the pipeline sets the table property `{name}` itself"
            reading.report(Fault(Condition.RESERVED_PROPERTY, path, detail, fix, value=name, of_key=True))


def _stated(properties: Mapping[str, Any]) -> Iterator[tuple[ValuePath, str]]:
    for name, value in properties.items():
        if name in LAYERS:
            yield from ((("table_properties", name, each), each) for each in value)
        else:
            yield ("table_properties", name), name


def _pairs(properties: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    return tuple((name, _text(value)) for name, value in properties.items())


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
