"""Merges configurations as Databricks does: one file into another, and a target's settings into the bundle's."""

from collections.abc import Mapping

from dlt_local.bundle.document import Content, Value
from dlt_local.errors import DeclarationError


def merge(base: Value, override: Value, faults: list[DeclarationError]) -> Value:
    """``base`` with the values of ``override``.

    Mappings are merged key by key, sequences are concatenated, a scalar replaces a scalar, and null changes nothing.
    Two values of different kinds, such as a mapping and a scalar, are a fault.
    """
    if base.content is None or override.content is None:
        return base if override.content is None else override
    if isinstance(base.content, Mapping) and isinstance(override.content, Mapping):
        merged = dict(base.content)
        for key, value in override.content.items():
            merged[key] = merge(merged[key], value, faults) if key in merged else value
        return base.with_content(merged)
    if isinstance(base.content, tuple) and isinstance(override.content, tuple):
        return base.with_content((*base.content, *override.content))
    if _kind(base.content) != _kind(override.content):
        message = f"{_kind(override.content)} is written here, but {base.location} has {_kind(base.content)}"
        faults.append(DeclarationError("CANNOT_MERGE", message, override.location, "make both the same kind"))
        return base
    return override


def _kind(content: Content) -> str:
    if isinstance(content, Mapping):
        return "a mapping"
    return "a sequence" if isinstance(content, tuple) else "a single value"
