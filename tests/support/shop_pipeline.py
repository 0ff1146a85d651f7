"""The shop's pipeline in tests: deliver captures, update, read every table with a reader that is not Spark."""

import itertools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from random import Random

from demo import shop
from demo.counts import Counts, counts
from demo.feeds import Feed, Landing
from demo.tables import Row, rows
from pyspark.sql import SparkSession
from tests.support.shop_model import CAPTURES, STAGES
from tools import captures
from tools.captures import Record

from dlt_local import LocalPipeline, Update
from dlt_local.delta.delta_log import version

Tables = Mapping[str, Sequence[Row]]
"""Dataset -> its rows, for all of bronze, silver and gold."""


@dataclass
class Shop:
    """One shop and its storage under ``folder``."""

    folder: Path
    spark: SparkSession
    conf: Path = shop.CONF
    other_feed: Feed | None = None
    """The source of records, if it is not a landing folder."""

    @cached_property
    def feed(self) -> Feed:
        """The source of records."""
        return self.other_feed or Landing(self.folder / "landing")

    @property
    def storage(self) -> Path:
        """The pipeline's storage."""
        return self.folder / "storage"

    @property
    def pipeline(self) -> LocalPipeline:
        """The pipeline, built again for each update as in a new process."""
        return shop.pipeline(self.storage, self.feed.source, self.spark, conf=self.conf)

    def update(self, *arriving: Path) -> Update:
        """Deliver captures and run an update."""
        self.feed.deliver(arriving)
        return self.pipeline.run()

    def tables(self) -> Tables:
        """Every published table as it is now."""
        return published(self.storage)

    def counts(self) -> dict[str, Counts]:
        """The outcomes of each source table's records."""
        return counts(self.storage, shop.tables(self.conf))

    def versions(self) -> dict[str, int | None]:
        """The latest Delta version of every dataset, including private ones."""
        logs = sorted(self.storage.glob("tables/*/*")) + sorted(self.storage.glob("system/private/*/*"))
        return {_dataset(folder): version(folder) for folder in logs}

    def commits(self) -> int:
        """The number of Delta commits of all datasets; it grows while an update runs."""
        return sum(1 + latest for latest in self.versions().values() if latest is not None)


@dataclass
class StagedShop:
    """A shop with an update for each capture, and its tables after each."""

    shop: Shop
    after: dict[str, Tables] = field(default_factory=dict)
    counts: dict[str, dict[str, Counts]] = field(default_factory=dict)
    commits: dict[str, int] = field(default_factory=dict)

    def run(self) -> None:
        """Run an update for each capture."""
        for stage in STAGES:
            self.shop.update(CAPTURES / f"{stage}.jsonl")
            self.after[stage] = self.shop.tables()
            self.counts[stage] = self.shop.counts()
            self.commits[stage] = self.shop.commits()

    @property
    def tables(self) -> Tables:
        """The tables after all captures."""
        return self.after[STAGES[-1]]


def published(storage: Path) -> Tables:
    """Every published table of a storage folder."""
    return {_dataset(folder): rows(folder) for folder in sorted((storage / "tables").glob("*/*"))}


def difference(expected: Tables, got: Tables) -> str:
    """The rows in only one of two sets of tables, one a line; empty if all tables are equal, in any order."""
    return "\n".join(
        line
        for dataset in sorted({*expected, *got})
        for line in _difference(dataset, expected.get(dataset), got.get(dataset))
    )


def records() -> list[Record]:
    """All records of all captures, in order of arrival."""
    return [record for stage in STAGES for record in captures.read(CAPTURES / f"{stage}.jsonl")]


def split(every: Sequence[Record], updates: int, folder: Path, random: Random) -> list[list[Path]]:
    """Capture files of a few records each, distributed over this many updates, all in the records' order."""
    files: list[Path] = []
    remaining = list(every)
    while remaining:
        count = random.randint(1, 12)
        files.append(_written(folder / f"{len(files):04}.jsonl", remaining[:count]))
        remaining = remaining[count:]
    cuts = sorted(random.sample(range(1, len(files)), updates - 1))
    return [files[start:end] for start, end in itertools.pairwise([0, *cuts, len(files)])]


def one_by_one(every: Sequence[Record], folder: Path) -> list[Path]:
    """A capture file for each record."""
    return [_written(folder / f"{number:04}.jsonl", [record]) for number, record in enumerate(every)]


def _written(file: Path, chunk: Sequence[Record]) -> Path:
    captures.write(file, chunk)
    return file


def _dataset(folder: Path) -> str:
    return f"{folder.parent.name}.{folder.name}"


def _difference(dataset: str, expected: Sequence[Row] | None, got: Sequence[Row] | None) -> Iterator[str]:
    if expected is None or got is None:
        yield f"{'+' if expected is None else '-'} {dataset}, the whole table"
        return
    wanted, actual = Counter(map(repr, expected)), Counter(map(repr, got))
    yield from (f"- {dataset} {row}" for row in sorted((wanted - actual).elements()))
    yield from (f"+ {dataset} {row}" for row in sorted((actual - wanted).elements()))
