"""One configuration out of many: files in their order, then the target's own words over it."""

from collections.abc import Mapping

from dlt_local.bundle.document import Content, Value
from dlt_local.errors import DeclarationError


def merge(below: Value, above: Value, faults: list[DeclarationError]) -> Value:
    """Put one value over another, as Databricks does.

    Mappings are merged key by key, sequences are joined end to end, of two scalars the upper one holds, and null
    changes nothing. A mapping over a scalar, or the like, is a fault.
    """
    if above.content is None or below.content is None:
        return below if above.content is None else above
    if isinstance(below.content, Mapping) and isinstance(above.content, Mapping):
        merged = dict(below.content)
        for key, value in above.content.items():
            merged[key] = merge(merged[key], value, faults) if key in merged else value
        return below.with_content(merged)
    if isinstance(below.content, tuple) and isinstance(above.content, tuple):
        return below.with_content((*below.content, *above.content))
    if _kind(below.content) != _kind(above.content):
        message = f"{_kind(above.content)} stands here, where {below.location} has {_kind(below.content)}"
        faults.append(DeclarationError("CANNOT_MERGE", message, above.location, "give both the same form"))
        return below
    return above


def _kind(content: Content) -> str:
    if isinstance(content, Mapping):
        return "a mapping"
    return "a sequence" if isinstance(content, tuple) else "a single value"
