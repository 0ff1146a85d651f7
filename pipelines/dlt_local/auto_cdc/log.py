"""A log of the engine's own: Parquet parts in a folder, and a list of those that count.

A Delta table would do the same and cost half a second for each batch, to find its own files and to plan the commit.
Nobody else reads or writes these rows, so the list, replaced whole, is all the transaction that they need.
"""

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, Observation, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from dlt_local.delta.storage import read_json, write_json
from dlt_local.spark.observations import observed_metrics


@dataclass(frozen=True)
class Growth:
    """How a log has grown."""

    before: int
    """Rows that its first part has: those of the last replacement, or of the first batch."""
    rows: int
    """Rows that came since."""
    parts: int
    """Parts that came since."""


@dataclass(frozen=True)
class Part:
    """Rows of one batch that are written, and count once they are listed."""

    name: str
    rows: int
    schema: dict[str, Any]
    batch: tuple[str, int]


@dataclass(frozen=True)
class Log:
    """Rows that are only ever added to, batch by batch, or replaced as a whole."""

    folder: Path

    def read(self, session: SparkSession) -> DataFrame | None:
        """Its rows, None where nothing was ever added; null in a column that a part has not."""
        if (self.folder / "_delta_log").exists() and not self._list.exists():
            # As earlier versions of the engine kept it.
            self.replace(session.read.format("delta").load(str(self.folder)))
        kept = self._kept()
        whole: DataFrame | None = None
        for number, schema in enumerate(kept["schemas"]):
            paths = [str(self.folder / name) for name, part in kept["parts"].items() if part["schema"] == number]
            rows = session.read.schema(StructType.fromJson(schema)).parquet(*paths)
            whole = rows if whole is None else whole.unionByName(rows, allowMissingColumns=True)
        return whole

    def append(self, rows: DataFrame, batch: tuple[str, int]) -> None:
        """Add rows, once for each batch however often it is tried."""
        self.add(self.write(rows, batch))

    def write(self, rows: DataFrame, batch: tuple[str, int]) -> Part | None:
        """Write rows that do not count yet; None where those of this batch do already."""
        app, number = batch
        if self._kept()["batches"].get(app, -1) >= number:
            return None
        name = f"{app}-{number}"
        return Part(name, self._write(rows, name), rows.schema.jsonValue(), batch)

    def add(self, part: Part | None) -> None:
        """Let a part count."""
        if part is None:
            return
        kept, (app, number) = self._kept(), part.batch
        schemas = kept["schemas"] if part.schema in kept["schemas"] else [*kept["schemas"], part.schema]
        parts = {**kept["parts"], part.name: {"rows": part.rows, "schema": schemas.index(part.schema)}}
        batches = {**kept["batches"], app: number}
        write_json(self._list, {**kept, "parts": parts, "schemas": schemas, "batches": batches})

    def replace(self, rows: DataFrame) -> None:
        """Put these rows in place of all others."""
        kept = self._kept()
        turn = kept["replaced"] + 1
        count = self._write(rows, name := f"all-{turn}")
        parts = {name: {"rows": count, "schema": 0}}
        write_json(self._list, {**kept, "parts": parts, "schemas": [rows.schema.jsonValue()], "replaced": turn})
        # Also what a batch had written that was cut off before it was listed.
        for other in self.folder.iterdir():
            if other.is_dir() and other.name != name:
                shutil.rmtree(other)
            elif other.suffix == ".parquet":
                other.unlink()

    def growth(self) -> Growth:
        """How it has grown since it was last replaced."""
        first, *others = [part["rows"] for part in self._kept()["parts"].values()] or [0]
        return Growth(first, sum(others), len(others))

    def _write(self, rows: DataFrame, name: str) -> int:
        count = Observation()
        observed = rows.observe(count, F.count(F.lit(1)).alias("rows"))
        observed.write.mode("overwrite").parquet(str(self.folder / name))
        return int(observed_metrics(count)["rows"])

    def _kept(self) -> dict[str, Any]:
        return read_json(self._list) or {"parts": {}, "schemas": [], "batches": {}, "replaced": 0}

    @property
    def _list(self) -> Path:
        return self.folder / "parts.json"
