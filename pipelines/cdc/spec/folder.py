"""Which files a conf folder has, and what is wrong with where they lie.

conf/defaults.yml                      what holds for every table; may be absent
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
    """The files of a conf folder, or those that belong to one connector of it."""

    root: Path
    defaults: Path | None
    connectors: dict[str, Path]
    """By the connector's name, in its order."""
    tables: dict[str, tuple[Path, ...]]
    """By the connector whose folder they lie in."""
    misplaced: tuple[Path, ...]
    """Table files that lie in no connector's folder."""


def find_files(root: Path, connector: str | None = None) -> ConfFolder:
    """Look into a conf folder; what is not there is empty."""
    folders = sorted(path for path in _entries(root / "tables") if path.is_dir())
    return ConfFolder(
        root=root,
        defaults=next((path for path in _yaml_files(root) if path.stem == "defaults"), None),
        connectors={path.stem: path for path in _yaml_files(root / "connectors") if connector in (None, path.stem)},
        tables={path.name: _yaml_files(path) for path in folders if connector in (None, path.name)},
        misplaced=_yaml_files(root / "tables"),
    )


def folder_faults(found: ConfFolder, connector: str | None) -> Iterator[Diagnostic]:
    """What is wrong with the files' places."""
    if not found.root.is_dir():
        fix = "give the folder that holds connectors/ and tables/, from where the command runs."
        yield _fault(Condition.MISSING_CONF, found.root, f"there is no folder `{found.root}`", fix)
    elif connector is not None and connector not in found.connectors:
        yield _unknown_connector(found, connector, found.root / "connectors")
    elif not found.connectors:
        fix = "write conf/connectors/<connector>.yml with its `topic_prefix:`."
        yield _fault(Condition.MISSING_CONF, found.root / "connectors", "there is no connector's file", fix)
    for name in found.tables:
        if name not in found.connectors and name != connector:
            yield _unknown_connector(found, name, found.root / "tables" / name)
    for path in found.misplaced:
        fix = f"move it to {(found.root / 'tables').as_posix()}/<connector>/{path.name}."
        yield _fault(Condition.MISPLACED_FILE, path, "a table's file lies in the folder of its connector", fix)
    for name in found.connectors:
        if not found.tables.get(name):
            yield _no_tables(found, name)


def _unknown_connector(found: ConfFolder, name: str, place: Path) -> Diagnostic:
    known = list(find_files(found.root).connectors)
    there_are = f"there are: {listed(known)}" if known else "there is none"
    return Diagnostic(
        Condition.UNKNOWN_CONNECTOR,
        Location(place.as_posix(), 0, 0),
        f"there is no file connectors/{name}.yml; {there_are}",
        "correct the name, or write that file.",
        value=name,
        near_match=near_match(name, known),
    )


def _no_tables(found: ConfFolder, name: str) -> Diagnostic:
    place = found.root / "tables" / name
    return Diagnostic(
        Condition.NO_TABLES,
        Location(place.as_posix(), 0, 0),
        f"connector `{name}` has no tables, so a pipeline of it declares nothing",
        f"write them: `python -m cdc scaffold --connector {name} --capture FILE` makes them from a capture.",
        value=name,
        severity="warning",
    )


def _fault(condition: Condition, path: Path, detail: str, fix: str) -> Diagnostic:
    return Diagnostic(condition, Location(path.as_posix(), 0, 0), detail, fix)


def _yaml_files(folder: Path) -> tuple[Path, ...]:
    return tuple(path for path in _entries(folder) if path.suffix in _SUFFIXES and path.is_file())


def _entries(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if folder.is_dir() else []
