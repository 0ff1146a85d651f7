"""The shop's pipeline as tests run it: captures delivered as wanted, every table read by a reader that is not Spark."""

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
"""Dataset -> its rows: all that bronze, silver and gold hold."""


@dataclass
class Shop:
    """One shop under ``folder``, with a storage of its own."""

    folder: Path
    spark: SparkSession
    conf: Path = shop.CONF
    other_feed: Feed | None = None
    """Where records come from, if not from a landing folder."""

    @cached_property
    def feed(self) -> Feed:
        """Where records come from."""
        return self.other_feed or Landing(self.folder / "landing")

    @property
    def storage(self) -> Path:
        """The pipeline's storage."""
        return self.folder / "storage"

    @property
    def pipeline(self) -> LocalPipeline:
        """The pipeline; made anew for each update, as by a new process."""
        return shop.pipeline(self.storage, self.feed.source, self.spark, conf=self.conf)

    def update(self, *arriving: Path) -> Update:
        """Let captures arrive, and run an update."""
        self.feed.deliver(arriving)
        return self.pipeline.run()

    def tables(self) -> Tables:
        """Every published table as it is now."""
        return published(self.storage)

    def counts(self) -> dict[str, Counts]:
        """What has become of each source table's records."""
        return counts(self.storage, shop.tables(self.conf))

    def versions(self) -> dict[str, int | None]:
        """The latest Delta version of every dataset, the private ones too."""
        logs = sorted(self.storage.glob("tables/*/*")) + sorted(self.storage.glob("system/private/*/*"))
        return {_dataset(folder): version(folder) for folder in logs}

    def commits(self) -> int:
        """How many Delta commits all datasets have together; it grows while an update runs."""
        return sum(1 + latest for latest in self.versions().values() if latest is not None)


@dataclass
class StagedShop:
    """A shop that had an update for each capture, and what it held after each."""

    shop: Shop
    after: dict[str, Tables] = field(default_factory=dict)
    counts: dict[str, dict[str, Counts]] = field(default_factory=dict)
    commits: dict[str, int] = field(default_factory=dict)

    def run(self) -> None:
        """An update for each capture."""
        for stage in STAGES:
            self.shop.update(CAPTURES / f"{stage}.jsonl")
            self.after[stage] = self.shop.tables()
            self.counts[stage] = self.shop.counts()
            self.commits[stage] = self.shop.commits()

    @property
    def tables(self) -> Tables:
        """What it holds after all captures."""
        return self.after[STAGES[-1]]


def published(storage: Path) -> Tables:
    """Every published table of a storage folder."""
    return {_dataset(folder): rows(folder) for folder in sorted((storage / "tables").glob("*/*"))}


def difference(expected: Tables, got: Tables) -> str:
    """Rows that only one of two sets of tables has, one a line; empty if all tables are equal, in any order."""
    return "\n".join(
        line
        for dataset in sorted({*expected, *got})
        for line in _difference(dataset, expected.get(dataset), got.get(dataset))
    )


def records() -> list[Record]:
    """All records of all captures, in the order in which they came."""
    return [record for stage in STAGES for record in captures.read(CAPTURES / f"{stage}.jsonl")]


def split(every: Sequence[Record], updates: int, folder: Path, random: Random) -> list[list[Path]]:
    """Capture files of a few records each, shared out over as many updates, all in the records' order."""
    files: list[Path] = []
    left = list(every)
    while left:
        count = random.randint(1, 12)
        files.append(_written(folder / f"{len(files):04}.jsonl", left[:count]))
        left = left[count:]
    cuts = sorted(random.sample(range(1, len(files)), updates - 1))
    return [files[begin:end] for begin, end in itertools.pairwise([0, *cuts, len(files)])]


def one_by_one(every: Sequence[Record], folder: Path) -> list[Path]:
    """A capture file for each record."""
    return [_written(folder / f"{number:04}.jsonl", [record]) for number, record in enumerate(every)]


def _written(file: Path, some: Sequence[Record]) -> Path:
    captures.write(file, some)
    return file


def _dataset(folder: Path) -> str:
    return f"{folder.parent.name}.{folder.name}"


def _difference(dataset: str, expected: Sequence[Row] | None, got: Sequence[Row] | None) -> Iterator[str]:
    if expected is None or got is None:
        yield f"{'+' if expected is None else '-'} {dataset}, the whole table"
        return
    wanted, found = Counter(map(repr, expected)), Counter(map(repr, got))
    yield from (f"- {dataset} {row}" for row in sorted((wanted - found).elements()))
    yield from (f"+ {dataset} {row}" for row in sorted((found - wanted).elements()))
