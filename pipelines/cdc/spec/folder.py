"""The files of a conf folder, and the faults of their places.

conf/defaults.yml                      defaults for every table; optional
conf/connectors/<connector>.yml        one connector
conf/tables/<connector>/<table>.yml    one table
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from cdc.errors import Condition, Diagnostic, Location, near_match
from cdc.spec.reading import listed

_SUFFIXES = (".yml", ".yaml")


@dataclass(frozen=True)
class ConfFolder:
    """The files of a conf folder, or those of one connector."""

    root: Path
    defaults: Path | None
    connectors: dict[str, Path]
    """By connector name, sorted."""
    tables: dict[str, tuple[Path, ...]]
    """By the connector whose folder they are in."""
    misplaced: tuple[Path, ...]
    """Table files that are not in a connector's folder."""


def find_files(root: Path, connector: str | None = None) -> ConfFolder:
    """The files in a conf folder; missing parts are empty."""
    folders = sorted(path for path in _entries(root / "tables") if path.is_dir())
    return ConfFolder(
        root=root,
        defaults=next((path for path in _yaml_files(root) if path.stem == "defaults"), None),
        connectors={path.stem: path for path in _yaml_files(root / "connectors") if connector in (None, path.stem)},
        tables={path.name: _yaml_files(path) for path in folders if connector in (None, path.name)},
        misplaced=_yaml_files(root / "tables"),
    )


def folder_faults(found: ConfFolder, connector: str | None) -> Iterator[Diagnostic]:
    """Faults of the files' places."""
    if not found.root.is_dir():
        fix = "give the path of the folder that contains connectors/ and tables/, relative to the working directory."
        yield _fault(Condition.MISSING_CONF, found.root, f"folder `{found.root}` does not exist", fix)
    elif connector is not None and connector not in found.connectors:
        yield _unknown_connector(found, connector, found.root / "connectors")
    elif not found.connectors:
        fix = "create conf/connectors/<connector>.yml with a `topic_prefix:`."
        yield _fault(Condition.MISSING_CONF, found.root / "connectors", "there is no connector file", fix)
    for name in found.tables:
        if name not in found.connectors and name != connector:
            yield _unknown_connector(found, name, found.root / "tables" / name)
    for path in found.misplaced:
        fix = f"move it to {(found.root / 'tables').as_posix()}/<connector>/{path.name}."
        yield _fault(Condition.MISPLACED_FILE, path, "the file is not in the folder of a connector", fix)
    for name in found.connectors:
        if not found.tables.get(name):
            yield _no_tables(found, name)


def _unknown_connector(found: ConfFolder, name: str, place: Path) -> Diagnostic:
    known = list(find_files(found.root).connectors)
    existing = f"existing connectors: {listed(known)}" if known else "there are no connector files"
    return Diagnostic(
        Condition.UNKNOWN_CONNECTOR,
        Location(place.as_posix(), 0, 0),
        f"file connectors/{name}.yml does not exist; {existing}",
        "correct the name, or create that file.",
        value=name,
        near_match=near_match(name, known),
    )


def _no_tables(found: ConfFolder, name: str) -> Diagnostic:
    place = found.root / "tables" / name
    return Diagnostic(
        Condition.NO_TABLES,
        Location(place.as_posix(), 0, 0),
        f"connector `{name}` has no tables, so its pipeline declares nothing",
        f"add table specs; `python -m cdc scaffold --connector {name} --capture FILE` generates them from a capture.",
        value=name,
        severity="warning",
    )


def _fault(condition: Condition, path: Path, detail: str, fix: str) -> Diagnostic:
    return Diagnostic(condition, Location(path.as_posix(), 0, 0), detail, fix)


def _yaml_files(folder: Path) -> tuple[Path, ...]:
    return tuple(path for path in _entries(folder) if path.suffix in _SUFFIXES and path.is_file())


def _entries(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if folder.is_dir() else []
