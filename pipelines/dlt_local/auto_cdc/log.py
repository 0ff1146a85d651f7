"""A log in Parquet: parts in a folder, one per batch, and a list of those that count.

A Delta table would do the same and cost half a second per batch to list its files and plan the commit. Nobody else
reads or writes these rows, so replacing the list atomically is all the transaction they need.
"""

import shutil
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, field, replace
from itertools import count
from pathlib import Path
from typing import Any, Literal

from pyspark.sql import DataFrame, Observation, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from dlt_local.delta.storage import read_json, write_json
from dlt_local.delta.transaction import TransactionId
from dlt_local.spark.observations import observed_metrics


@dataclass(frozen=True)
class Growth:
    """How a log has grown since it was last compacted."""

    before: int
    """Rows of its first part: those of the compaction, or of the first batch."""
    rows: int
    """Rows added since."""
    parts: int
    """Parts added since."""


@dataclass(frozen=True)
class Loss:
    """What is wrong with stored state."""

    kind: Literal["MISSING", "DAMAGED", "OUTDATED"]
    what: str


@dataclass(frozen=True)
class _Part:
    rows: int
    schema: int
    """Index into the list's schemas."""
    files: Mapping[str, int] | None = None
    """The size of each of its files; None where an earlier version of the engine wrote it."""


@dataclass(frozen=True)
class _PartList:
    """The content of parts.json."""

    parts: dict[str, _Part] = field(default_factory=dict)
    schemas: list[dict[str, Any]] = field(default_factory=list)
    compactions: int = 0
    times_written: int = 0

    def of_batch(self, batch: TransactionId) -> list[str]:
        """The parts of all attempts at a batch."""
        name = _part_name(batch)
        return [part for part in self.parts if part == name or part.startswith(f"{name}.")]

    def without(self, names: Collection[str]) -> "_PartList":
        return replace(self, parts={name: part for name, part in self.parts.items() if name not in names})

    def with_part(self, name: str, part: _Part, schema: dict[str, Any]) -> "_PartList":
        schemas = self.schemas if schema in self.schemas else [*self.schemas, schema]
        placed = replace(part, schema=schemas.index(schema))
        return replace(self, parts={**self.parts, name: placed}, schemas=schemas)

    @classmethod
    def read(cls, file: Path) -> "_PartList":
        stored = read_json(file, "parts", "schemas", "replaced")
        if stored is None:
            return cls()
        parts = {name: _Part(part["rows"], part["schema"], part.get("files")) for name, part in stored["parts"].items()}
        return cls(parts, stored["schemas"], stored["replaced"], stored.get("written", 0))

    def write(self, file: Path) -> None:
        parts = {name: asdict(part) for name, part in self.parts.items()}
        written = self.times_written + 1
        write_json(file, {"parts": parts, "schemas": self.schemas, "replaced": self.compactions, "written": written})


@dataclass(frozen=True)
class Log:
    """Rows that are appended batch by batch, or compacted as a whole."""

    folder: Path

    def read(self, session: SparkSession, without: Collection[TransactionId] = ()) -> DataFrame | None:
        """Its rows, None if there are none; null in a column that a part does not have.

        Args:
            session: reads the parts.
            without: batches whose parts are left out.
        """
        if (self.folder / "_delta_log").exists() and not self._list.exists():
            # Earlier versions of the engine kept a Delta table here.
            self.compact(session.read.format("delta").load(str(self.folder)))
        listed = _PartList.read(self._list)
        listed = listed.without([name for batch in without for name in listed.of_batch(batch)])
        whole: DataFrame | None = None
        for number, schema in enumerate(listed.schemas):
            names = [name for name, part in listed.parts.items() if part.schema == number]
            if names:
                paths = [str(self.folder / name) for name in names]
                rows = session.read.schema(StructType.fromJson(schema)).parquet(*paths)
                whole = rows if whole is None else whole.unionByName(rows, allowMissingColumns=True)
        return whole

    def append(self, rows: DataFrame, batch: TransactionId, supersede: bool = False) -> None:
        """Add rows of a batch.

        Args:
            rows: the rows.
            batch: the batch; each attempt at it that gets here adds a part.
            supersede: drop the parts of earlier attempts in the same step.
        """
        listed = _PartList.read(self._list)
        names = (_part_name(batch) if n == 0 else f"{_part_name(batch)}.{n}" for n in count())
        name = next(each for each in names if each not in listed.parts)
        written = self._write(rows, name)
        kept = listed.without(listed.of_batch(batch)) if supersede else listed
        kept.with_part(name, written, rows.schema.jsonValue()).write(self._list)

    def compact(self, rows: DataFrame, keep: Collection[TransactionId] = ()) -> None:
        """Put these rows in place of all parts.

        Args:
            rows: the compacted rows.
            keep: batches whose parts stay as they are.
        """
        listed = _PartList.read(self._list)
        kept = {name: listed.parts[name] for batch in keep for name in listed.of_batch(batch)}
        name = f"all-{listed.compactions + 1}"
        written = self._write(rows, name)
        compacted = replace(listed, parts={}, schemas=[], compactions=listed.compactions + 1)
        compacted = compacted.with_part(name, written, rows.schema.jsonValue())
        for other, part in kept.items():
            compacted = compacted.with_part(other, part, listed.schemas[part.schema])
        compacted.write(self._list)
        # Parts of batches that were interrupted before they were listed go too.
        for path in self.folder.iterdir():
            if path.is_dir() and path.name not in compacted.parts:
                shutil.rmtree(path)
            elif path.suffix == ".parquet":
                path.unlink()

    def fields_of(self, column: str) -> tuple[str, ...]:
        """The names of a struct column's fields in their stored order; empty where it was never stored."""
        for schema in _PartList.read(self._list).schemas:
            for stored in StructType.fromJson(schema).fields:
                if stored.name == column and isinstance(stored.dataType, StructType):
                    return tuple(stored.dataType.names)
        return ()

    @property
    def is_empty(self) -> bool:
        """True before anything was appended."""
        return not _PartList.read(self._list).parts and not (self.folder / "_delta_log").exists()

    def growth(self) -> Growth:
        """How it has grown since it was last compacted."""
        first, *others = [part.rows for part in _PartList.read(self._list).parts.values()] or [0]
        return Growth(first, sum(others), len(others))

    @property
    def times_listed(self) -> int:
        """How often its list of parts was written; 0 where an earlier version of the engine wrote it, or nobody."""
        return _PartList.read(self._list).times_written

    def loss(self, times_listed: int, ended: Collection[TransactionId]) -> Loss | None:
        """What is lost or altered of it; None if it is all there.

        Args:
            times_listed: how often its list was known to be written.
            ended: batches that have ended, whose parts must be listed.

        Raises:
            StorageFileDamaged: the list cannot be read.
        """
        listed = _PartList.read(self._list)
        if not self._list.exists():
            is_delta = (self.folder / "_delta_log").exists()
            is_unlisted = any((self.folder / _part_name(batch) / "_SUCCESS").exists() for batch in ended)
            if (times_listed or is_unlisted) and not is_delta:
                return Loss("MISSING", f"{self._list} is gone")
        if listed.times_written < times_listed:
            return Loss("OUTDATED", f"{self._list} is an older copy")
        losses = (_loss(self.folder / name, part) for name, part in listed.parts.items())
        return next((loss for loss in losses if loss is not None), None)

    def _write(self, rows: DataFrame, name: str) -> _Part:
        observation = Observation()
        observed = rows.observe(observation, F.count(F.lit(1)).alias("rows"))
        observed.write.mode("overwrite").parquet(str(self.folder / name))
        written = int(observed_metrics(observation)["rows"])
        return _Part(written, 0, _files(self.folder / name))

    @property
    def _list(self) -> Path:
        return self.folder / "parts.json"


def _files(part: Path) -> dict[str, int]:
    """The data files of a part with their sizes; Spark ignores files with other names."""
    return {file.name: file.stat().st_size for file in part.iterdir() if not file.name.startswith((".", "_"))}


def _loss(folder: Path, part: _Part) -> Loss | None:
    if not folder.is_dir():
        return Loss("MISSING", f"{folder} is gone")
    found = _files(folder)
    if part.files is None:
        return Loss("MISSING", f"{folder} has no file") if part.rows and not found else None
    for name, size in part.files.items():
        if name not in found:
            return Loss("MISSING", f"{folder / name} is gone")
        if found[name] != size:
            return Loss("DAMAGED", f"{folder / name} has {found[name]} bytes, not {size}")
    added = sorted(found.keys() - part.files.keys())
    return Loss("DAMAGED", f"{folder / added[0]} is not a file of the engine") if added else None


def _part_name(batch: TransactionId) -> str:
    return f"{batch.app_id}-{batch.version}"
