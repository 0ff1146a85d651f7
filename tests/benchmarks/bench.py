"""What every measure needs: a Spark session, a folder, inputs written once, and a clock."""

import os
import shutil
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from tests.benchmarks.records import FILES, Stretch, records

from cdc import TableSpec, changes, decode
from dlt_local import LocalPipeline

_USUAL = {
    "spark.sql.codegen.wholeStage": "true",
    "spark.sql.codegen.factoryMode": "FALLBACK",
    "spark.sql.shuffle.partitions": str(2 * (os.cpu_count() or 1)),
    "spark.sql.session.timeZone": "UTC",
}
_DECODED = 500_000
"""Changes that are made from records; more of them are copies."""
_PIPELINES = Path(__file__).with_name("pipelines")


@dataclass(frozen=True)
class Result:
    """One measure: seconds of ours and of the peer's, run in turn."""

    measure: str
    peer: str
    goal: str
    ours: tuple[float, ...]
    peers: tuple[float, ...]
    is_faster_goal: bool
    """True where the ratio is the peer's time over ours (so many times as fast), false where it is ours over the
    peer's."""
    limit: float | None
    """None where there is no goal."""
    rows: int = 0
    """Rows that go in; 0 where they do not matter."""
    notes: tuple[str, ...] = ()
    """Sentences for the page: figures that have no peer."""

    @property
    def ratio(self) -> float:
        """Of the medians."""
        ours, peer = median(self.ours), median(self.peers)
        return peer / ours if self.is_faster_goal else ours / peer

    @property
    def rows_a_second_and_core(self) -> float:
        """Of ours."""
        return self.rows / median(self.ours) / (os.cpu_count() or 1)

    @property
    def is_reached(self) -> bool | None:
        """True if the goal is reached, None if there is none."""
        if self.limit is None:
            return None
        return self.ratio >= self.limit if self.is_faster_goal else self.ratio <= self.limit


@dataclass
class Bench:
    """One run of the benchmarks under ``folder``; ``scale`` 1 is the size that the goals speak of."""

    spark: SparkSession
    """What pipelines run on, with the engine's settings."""
    peers: SparkSession
    """What the peers run on, with Spark's own settings: no peer is to suffer from settings made for small data."""
    folder: Path
    scale: float
    rounds: int
    warm_up: int = 1
    """Rounds before those that count."""
    _made: int = field(default=0)

    def rows(self, count: int) -> int:
        """A number of rows at this run's scale."""
        return max(int(count * self.scale), 20)

    def new_folder(self, name: str) -> Path:
        """A folder of its own for one attempt."""
        self._made += 1
        path = self.folder / f"{name}-{self._made}"
        path.mkdir(parents=True)
        return path

    def records(self, table: TableSpec, stretch: Stretch, schema_block: bool = False) -> Path:
        """Records as Parquet files, written on first use."""
        name = f"records-{len(table.columns)}-{stretch.kind}-{stretch.first}-{stretch.count}-{stretch.keys}"
        path = self.folder / (name + ("-schema" if schema_block else ""))
        return self._written(path, lambda: records(self.peers, table, stretch, schema_block))

    def changes(self, table: TableSpec, stretch: Stretch) -> Path:
        """The same records decoded: typed changes as Parquet files, written on first use."""
        raw = self.records(table, stretch)
        path = raw.with_name(raw.name.replace("records", "changes"))
        return self._written(path, lambda: changes(decode(self.peers.read.parquet(str(raw)), table), table))

    def loading(self, table: TableSpec, keys: int) -> Path:
        """Typed changes that insert so many keys; of more than a few, copies with keys of their own."""
        few = min(keys, _DECODED)
        decoded = self.changes(table, Stretch(0, few, few))
        if keys == few:
            return decoded
        spark = self.peers

        def copies() -> DataFrame:
            nth = spark.range(-(-keys // few)).withColumnRenamed("id", "nth")
            copied = spark.read.parquet(str(decoded)).crossJoin(F.broadcast(nth))
            return copied.withColumn("id", F.col("id") + F.col("nth") * few).drop("nth").where(F.col("id") < keys)

        return self._written(decoded.with_name(f"{decoded.name}-{keys}"), copies)

    def _written(self, path: Path, make: Callable[[], DataFrame]) -> Path:
        if not path.exists():
            make().repartition(FILES).write.parquet(str(path))
        return path

    def pipeline(self, source: str, storage: Path, configuration: Mapping[str, str]) -> LocalPipeline:
        """One of the measured pipelines."""
        return LocalPipeline(
            name="benchmark",
            sources=[str(_PIPELINES / f"{source}.py")],
            storage=storage,
            configuration={f"bench.{key}": value for key, value in configuration.items()},
            spark=self.spark,
        )

    def after_warm_up(self, action: Callable[[], float]) -> float:
        """The median of an action's seconds, for a figure that stands beside no peer."""
        return median([action() for _ in range(self.warm_up + self.rounds)][self.warm_up :])

    def peak_memory(self) -> tuple[float, float]:
        """GiB of Java's heap, and of Java's memory beside it (classes, compiled code), in use at most so far."""
        jvm = self.spark._jvm
        assert jvm is not None
        used = {"Heap memory": 0.0, "Non-heap memory": 0.0}
        for pool in jvm.java.lang.management.ManagementFactory.getMemoryPoolMXBeans():
            used[pool.getType().toString()] += pool.getPeakUsage().getUsed() / 2**30
        return used["Heap memory"], used["Non-heap memory"]

    def in_turn(self, ours: Callable[[], float], peer: Callable[[], float]) -> tuple[tuple[float, ...], ...]:
        """Seconds of both, round for round."""
        both = [(ours(), peer()) for _ in range(self.warm_up + self.rounds)][self.warm_up :]
        return tuple(zip(*both, strict=True))


def usual(spark: SparkSession) -> SparkSession:
    """A session as Spark makes one, but for partitions: as many as the machine has use for, not 200."""
    session = spark.newSession()
    for name, value in _USUAL.items():
        session.conf.set(name, value)
    return session


def seconds(action: Callable[[], object]) -> float:
    """How long it takes."""
    began = time.perf_counter()
    action()
    return time.perf_counter() - began


def size_in_bytes(folder: Path) -> int:
    """All that lies in a folder: what was written, where nothing is removed."""
    return sum(file.stat().st_size for file in folder.rglob("*.parquet"))


def deliver(source: Path, to: Path, prefix: str = "") -> None:
    """Let files arrive."""
    to.mkdir(parents=True, exist_ok=True)
    for file in sorted(source.glob("*.parquet")):
        shutil.copyfile(file, to / f"{prefix}{file.name}")


def assert_same(ours: DataFrame, peer: DataFrame) -> None:
    """The same rows in both, or the measure does not count."""
    columns = [F.col(name) for name in ours.columns]
    left, right = ours.select(columns), peer.select(columns)
    missing, extra = right.exceptAll(left).head(3), left.exceptAll(right).head(3)
    assert not missing, f"the pipeline's table lacks {missing}"
    assert not extra, f"the pipeline's table has {extra} in excess"
