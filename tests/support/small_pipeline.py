"""A pipeline of one source file for a test: write the file, drop JSON rows, run, read."""

import json
import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from dlt_local import LocalPipeline


class SmallPipeline:
    """One source file over one folder of JSON rows, which the file reads by `spark.conf.get("rows")`."""

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
        self.file.write_text(textwrap.dedent(source))

    def drop(self, *rows: Mapping[str, Any]) -> None:
        """Rows for the next update."""
        self._number += 1
        scratch = self.folder / "scratch"
        scratch.write_text("\n".join(map(json.dumps, rows)))
        scratch.rename(self.rows / f"{self._number:04}.json")

    def table(self, name: str) -> list[dict[str, Any]]:
        """The table's rows, in an order that is always the same."""
        found = [row.asDict(recursive=True) for row in self.pipeline.table(name).collect()]
        return sorted(found, key=lambda row: json.dumps(row, default=str, sort_keys=True))

    def versions(self) -> dict[str, int]:
        """Table -> its latest Delta version."""
        tables = self.pipeline.storage.root / "tables"
        return {
            str(log.parent.relative_to(tables)): len(list(log.glob("*.json"))) for log in tables.glob("*/*/_delta_log")
        }
