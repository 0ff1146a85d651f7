"""The `cdc.*` settings in a bundle's pipeline configurations that do not exist, with their places."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cdc.errors import Condition, Diagnostic, Location
from cdc.settings import setting_faults
from cdc.spec.document import Document, ValuePath, read_document


def bundle_faults(bundle: Path) -> Iterator[Diagnostic]:
    """Settings that do not exist, in databricks.yml and the files that it includes.

    Only these settings are looked at: the bundle as a whole is the Databricks CLI's to check, or the engine's.
    """
    main = bundle / "databricks.yml"
    if not main.is_file():
        place = Location(main.as_posix(), 0, 0)
        detail = f"`{main}` does not exist"
        yield Diagnostic(Condition.MISSING_CONF, place, detail, "give the folder of databricks.yml.")
        return
    unreadable: list[Diagnostic] = []
    document = read_document(main, main.as_posix(), unreadable)
    includes = document.data.get("include") or []
    files = sorted({file for pattern in includes if isinstance(pattern, str) for file in bundle.glob(pattern)})
    for each in (document, *(read_document(file, file.as_posix(), unreadable) for file in files)):
        for path in _configurations(each.data, ()):
            yield from _unknown(each, path)


def _configurations(value: Any, path: ValuePath) -> Iterator[ValuePath]:
    """Paths of the mappings that are a pipeline's configuration."""
    if isinstance(value, dict):
        for name, each in value.items():
            if name == "configuration" and isinstance(each, dict):
                yield (*path, name)
            yield from _configurations(each, (*path, name))


def _unknown(document: Document, path: ValuePath) -> Iterator[Diagnostic]:
    configuration: Any = document.data
    for step in path:
        configuration = configuration[step]
    for fault in setting_faults(configuration):
        yield Diagnostic(
            Condition.UNKNOWN_SETTING,
            document.place((*path, fault.name), of_key=True),
            fault.detail,
            fault.fix,
            value=fault.name,
            near_match=fault.near_match,
        )
