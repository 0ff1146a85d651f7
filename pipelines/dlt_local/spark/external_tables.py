"""Tables that a pipeline reads and no source file declares: a folder on this machine for each name."""

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from dlt_local.names import EXTERNAL_SCHEMA, TableName

SETTING = "dlt_local.table."
"""Prefix of the configuration keys: `dlt_local.table.samples.nyctaxi.trips` is the folder or file of that table."""

_FORMATS = {
    ".parquet": "parquet",
    ".json": "json",
    ".jsonl": "json",
    ".ndjson": "json",
    ".csv": "csv",
    ".orc": "orc",
    ".txt": "text",
}
_OPTIONS = {"csv": {"header": "true", "inferSchema": "true"}}


@dataclass(frozen=True)
class ExternalTable:
    """The files of a table outside of the pipeline."""

    path: Path
    format: str

    @property
    def options(self) -> Mapping[str, str]:
        """The options to read it with."""
        return _OPTIONS.get(self.format, {})

    @classmethod
    def at(cls, path: Path) -> "ExternalTable | None":
        """The table at a path: a Delta table, or files of one format; None if there is no such thing."""
        if (path / "_delta_log").is_dir():
            return cls(path, "delta")
        suffixes = (file.suffix.lower() for file in _files(path) if not file.name.startswith(("_", ".")))
        found = next((_FORMATS[suffix] for suffix in suffixes if suffix in _FORMATS), None)
        return None if found is None else cls(path, found)


def _files(path: Path) -> Iterator[Path]:
    """The files of a table, partitions included; other folders below it are other tables."""
    if path.is_file():
        yield path
    for each in sorted(path.iterdir()) if path.is_dir() else ():
        if each.is_file() or "=" in each.name:
            yield from _files(each)


@dataclass(frozen=True)
class ExternalTables:
    """Where the tables outside of a pipeline are."""

    folder: Path
    """`<folder>/<catalog>/<schema>/<table>` is a table's place where no setting names another."""
    settings: Mapping[str, str] = field(default_factory=dict)
    """Name -> place."""

    @classmethod
    def of(cls, configuration: Mapping[str, str], folder: Path) -> "ExternalTables":
        """Those of a pipeline's configuration."""
        names = {key: value for key, value in configuration.items() if key.startswith(SETTING)}
        return cls(folder, {key.removeprefix(SETTING).lower(): value for key, value in names.items()})

    def place(self, name: tuple[str, ...]) -> Path:
        """Where the table is, or would be."""
        setting = self.settings.get(".".join(name).lower())
        return Path(setting).absolute() if setting is not None else self.folder.joinpath(*name)

    def find(self, name: tuple[str, ...]) -> ExternalTable | None:
        """The table of this name; None if there is none."""
        return None if is_path(name) else ExternalTable.at(self.place(name))


def registered_name(name: tuple[str, ...]) -> TableName:
    """The name by which the session has a table outside of the pipeline.

    >>> str(registered_name(("samples", "nyctaxi", "trips")))
    '__dlt_local_external.samples__nyctaxi__trips'
    """
    text = "__".join(name).lower()
    plain = re.sub(r"\W", "_", text)
    # Spark takes no other characters, and two names must not become one.
    return TableName(
        EXTERNAL_SCHEMA, plain if plain == text else f"{plain}_{hashlib.sha256(text.encode()).hexdigest()[:8]}"
    )


def is_path(name: tuple[str, ...]) -> bool:
    """True for a name that holds a path, as in `delta.`/data/orders``."""
    return any("/" in part for part in name)
