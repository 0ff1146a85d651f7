"""Keys of resources: each is used once in all files and for all kinds, because `bundle run <key>` finds it by the key.

The check of Databricks' command line, in `bundle/config/validate/unique_resource_keys.go` of its source: it sees the
resources before those of a target are merged in, and refuses one that two files define as it does two with one key.
"""

from collections.abc import Iterator, Sequence

from dlt_local.bundle.document import Value
from dlt_local.errors import DeclarationError


def key_faults(documents: Sequence[Value]) -> Iterator[DeclarationError]:
    """The keys that are used twice, each where it is used again.

    Args:
        documents: the bundle's files, in the order of their includes.
    """
    first: dict[str, tuple[str, Value]] = {}
    for document in documents:
        for path, key, value in _keys(document):
            if key in first:
                used_by, place = first[key]
                what = "is defined" if used_by == path else f"has the key of `{used_by}`"
                message = f"`{path}` {what} in {place.location}; a key is used once in the whole bundle"
                fix = "give one of them another key" if used_by != path else "write the resource in one file"
                yield DeclarationError("DUPLICATE_RESOURCE_KEY", message, value.location, fix)
            else:
                first[key] = (path, value)


def _keys(document: Value) -> Iterator[tuple[str, str, Value]]:
    kinds = (document.find("resources") or document.with_content({})).fields
    for kind, resources in kinds.items():
        for key, value in resources.fields.items():
            yield f"resources.{kind}.{key}", key, value
    for key, value in (document.find("scripts") or document.with_content({})).fields.items():
        yield f"scripts.{key}", key, value
