"""The deployed pipeline with a test's own conf folder and records."""

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession
from tests.support.conf_folder import write_conf
from tests.support.records import Record
from tools import captures

from dlt_local import LocalPipeline, Update

_PIPELINES = Path(__file__).resolve().parents[2] / "pipelines"
_TIMESTAMP = 1_772_366_400_000


class CdcPipeline:
    """One connector, `shop`: its conf files, its topics' records and the pipeline's storage."""

    def __init__(self, folder: Path, spark: SparkSession, conf: Mapping[str, str]) -> None:
        self.folder = folder
        self.spark = spark
        self.landing = folder / "landing"
        self.landing.mkdir(parents=True)
        self._offsets: Counter[str] = Counter()
        self._files = 0
        self.configure(conf)

    def configure(self, conf: Mapping[str, str]) -> None:
        """Write files into the conf folder, replacing existing ones."""
        write_conf(self.folder / "conf", conf)

    def deliver(self, records: Iterable[Record | captures.Record]) -> None:
        """Let records arrive; each without an offset gets the next one of its topic."""
        self._files += 1
        captures.write(self.landing / f"{self._files:04}.jsonl", map(self._placed, records))

    def update(self, **settings: str) -> Update:
        """Run an update; `replay_rejects="1"` sets `cdc.replay_rejects`."""
        return self.pipeline(**settings).run()

    def pipeline(self, **settings: str) -> LocalPipeline:
        """The pipeline, built again as in a new process."""
        return LocalPipeline(
            name="test",
            sources=[_PIPELINES / layer / "**" for layer in ("bronze", "silver", "gold")],
            storage=self.folder / "storage",
            configuration={
                "cdc.conf": str(self.folder / "conf"),
                "cdc.connector": "shop",
                "cdc.source": f"capture:{self.landing}",
                **{f"cdc.{name}": value for name, value in settings.items()},
            },
            root_path=_PIPELINES,
            spark=self.spark,
        )

    def arguments(self) -> tuple[str, ...]:
        """The pipeline as options of the command line, for an update in a process of its own (`crash`)."""
        pipeline = self.pipeline()
        settings = [("--set", f"{key}={value}") for key, value in pipeline.configuration.items()]
        sources = [("--source", source) for source in pipeline.sources[1:]]
        return tuple(part for pair in [*sources, *settings, ("--root-path", str(_PIPELINES))] for part in pair)

    def rows(self, dataset: str, *columns: str, where: str = "true", **settings: str) -> list[tuple[Any, ...]]:
        """SQL expressions over a dataset's rows, in a stable order."""
        selected = self.pipeline(**settings).table(dataset).where(where).selectExpr(*columns)
        return sorted((tuple(row) for row in selected.collect()), key=repr)

    def _placed(self, record: Record | captures.Record) -> captures.Record:
        if isinstance(record, captures.Record):
            return record
        offset = self._offsets[record.topic]
        self._offsets[record.topic] += 1
        return captures.Record(record.topic, 0, offset, _TIMESTAMP, (), record.key_bytes, record.value_bytes)
