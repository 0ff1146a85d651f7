"""A pipeline of one source file: write the file, drop JSON rows, update, read the tables."""

import json
import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from dlt_local import LocalPipeline

ROWS = 'spark.readStream.schema("id INT, name STRING").json(spark.conf.get("rows"))'
"""A stream of the dropped rows, as an expression in a source file."""


class SmallPipeline:
    """One source file, which finds the folder of dropped JSON rows by `spark.conf.get("rows")`."""

    def __init__(self, folder: Path, spark: SparkSession, source: str) -> None:
        self.folder = folder
        self.file = folder / "source.py"
        self.rows = folder / "rows"
        self.rows.mkdir(parents=True, exist_ok=True)
        self.write(source)
        self._number = 0
        self.pipeline = LocalPipeline(
            "small", [self.file], folder / "storage", spark=spark, configuration={"rows": str(self.rows)}
        )

    def write(self, source: str) -> None:
        """Replace the source file."""
        self.file.write_text(textwrap.dedent(source))

    def drop(self, *rows: Mapping[str, Any]) -> None:
        """Add a file of rows for the next update."""
        self._number += 1
        scratch = self.folder / "scratch"
        scratch.write_text("\n".join(map(json.dumps, rows)))
        scratch.rename(self.rows / f"{self._number:04}.json")

    def table(self, name: str) -> list[dict[str, Any]]:
        """The table's rows in a stable order."""
        rows = [row.asDict(recursive=True) for row in self.pipeline.table(name).collect()]
        return sorted(rows, key=lambda row: json.dumps(row, default=str, sort_keys=True))

    def versions(self) -> dict[str, int]:
        """The number of Delta commits of each published table, by `schema/table`."""
        tables = self.pipeline.storage.root / "tables"
        return {
            str(log.parent.relative_to(tables)): len(list(log.glob("*.json"))) for log in tables.glob("*/*/_delta_log")
        }
