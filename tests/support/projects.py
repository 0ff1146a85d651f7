"""Projects as others write them (tests/projects): run by their own files, update by update, beside their rows.

`case.yml` of each says what the project is like, with which options it runs, and update by update which files arrive
and what its tables hold then. Of a row, only the columns that the case names are compared.
"""

import datetime
import decimal
import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from pyspark.sql import SparkSession

from dlt_local import LocalPipeline
from dlt_local.cli.settings import Options, settings
from dlt_local.flows.outcomes import Update

FOLDER = Path(__file__).parents[1] / "projects"
NAMES = sorted(path.parent.name for path in FOLDER.glob("*/case.yml"))
Rows = Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class Step:
    """One update of a project."""

    given: Mapping[str, Rows | str] = field(default_factory=dict)
    """Path -> its content, as text, or as rows of JSON."""
    tables: Mapping[str, Rows] = field(default_factory=dict)
    """Table -> its rows after the update."""


@dataclass(frozen=True)
class Case:
    """A project and what it must come to."""

    like: str
    updates: Sequence[Step]
    sources: Sequence[str] = ()
    bundle: bool = False
    spec: bool = False
    configuration: Mapping[str, str] = field(default_factory=dict)
    """A value that is a folder of the case is given as its path."""
    map: Mapping[str, str] = field(default_factory=dict)
    outside: Mapping[str, Rows] = field(default_factory=dict)
    """Tables outside of the pipeline."""


class Project:
    """A copy of a project in a folder of its own."""

    def __init__(self, name: str, folder: Path, spark: SparkSession | None = None) -> None:
        self.folder = folder
        read = yaml.safe_load((FOLDER / name / "case.yml").read_text(encoding="utf-8"))
        self.case = Case(**{**read, "updates": [Step(**step) for step in read["updates"]]})
        self.home = folder / "project"
        shutil.copytree(FOLDER / name / "project", self.home)
        for table, rows in self.case.outside.items():
            self._write(Path("storage/external", *table.split("."), "1.json"), rows)
        self.pipeline = self._pipeline(spark)

    def run(self, step: Step) -> Update:
        """Let the step's files arrive, and update."""
        for path, content in step.given.items():
            self._write(Path(path), content)
        return self.pipeline.run()

    def differences(self, step: Step) -> Iterator[str]:
        """What the tables have otherwise than the step says."""
        for name, expected in step.tables.items():
            columns = sorted({column for row in expected for column in row})
            found = [row.asDict() for row in self.pipeline.table(name).collect()]
            have = sorted(json.dumps({each: _plain(row[each]) for each in columns if each in row}) for row in found)
            want = sorted(json.dumps({each: _plain(row[each]) for each in columns if each in row}) for row in expected)
            if have != want:
                yield f"{name}\n  has      {have}\n  expected {want}"

    def rows_streamed(self, update: Update) -> int:
        """The rows that an update wrote into streaming tables; a view of outside tables is computed each time."""
        streaming = [each for each in update.datasets if each.kind == "streaming table"]
        return sum(metrics.num_output_rows for each in streaming for metrics in each.flows.values())

    def _pipeline(self, spark: SparkSession | None) -> LocalPipeline:
        case = self.case
        for place in ("landing", *case.map.values()):
            (self.folder / place).mkdir(exist_ok=True)
        chosen = settings(
            Options(
                sources=tuple(str(self.home / source) for source in case.sources),
                storage=self.folder / "storage",
                bundle=self.home if case.bundle or not (case.sources or case.spec) else None,
                spec=self.home if case.spec else None,
                configuration={key: self._placed(value) for key, value in self._configuration().items()},
            )
        )
        return LocalPipeline(
            chosen.name,
            chosen.sources,
            chosen.storage_folder(),
            catalog=chosen.catalog,
            schema=chosen.schema,
            configuration=chosen.configuration,
            root_path=chosen.root_path,
            path_map={path: str(self.folder / place) for path, place in case.map.items()},
            spark=spark,
        )

    def _configuration(self) -> Mapping[str, str]:
        return {"landing": "landing", **self.case.configuration} if self.case.spec else self.case.configuration

    def _placed(self, value: str) -> str:
        is_folder = value.isalpha() and value.islower()
        return str(self.folder / value) if is_folder else value

    def _write(self, path: Path, content: Rows | str) -> None:
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        text = content if isinstance(content, str) else "\n".join(json.dumps(row, default=str) for row in content)
        file.write_text(text, encoding="utf-8")


def _plain(value: object) -> object:
    if isinstance(value, datetime.date):
        return str(value)
    return float(value) if isinstance(value, decimal.Decimal) else value
