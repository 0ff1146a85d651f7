"""What every measure needs: Spark sessions, inputs that are written once, and a clock."""

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
from tests.benchmarks.result import Times

from cdc import TableSpec, changes, decode
from dlt_local import LocalPipeline

_PEERS_CONF = {
    "spark.sql.codegen.wholeStage": "true",
    "spark.sql.codegen.factoryMode": "FALLBACK",
    "spark.sql.shuffle.partitions": str(2 * (os.cpu_count() or 1)),
    "spark.sql.session.timeZone": "UTC",
}
_DECODED = 500_000
"""The most changes that are decoded from records; further ones are copies."""
_PIPELINES = Path(__file__).with_name("pipelines")


@dataclass
class Bench:
    """One run of the benchmarks under ``folder``; ``scale`` 1 is the size for which the goals are set."""

    spark: SparkSession
    """The session of pipelines, with the engine's settings."""
    peers: SparkSession
    """The session of peers, with Spark's own settings: the engine's are for small data and could slow a peer."""
    folder: Path
    scale: float
    rounds: int
    warm_up: int = 1
    """Rounds before the timed ones."""
    _made: int = field(default=0)

    def rows(self, count: int) -> int:
        """A number of rows, at this run's scale."""
        return max(int(count * self.scale), 20)

    def new_folder(self, name: str) -> Path:
        """A new folder."""
        self._made += 1
        path = self.folder / f"{name}-{self._made}"
        path.mkdir(parents=True)
        return path

    def records(self, table: TableSpec, stretch: Stretch, schema_block: bool = False) -> Path:
        """Parquet files of records, written on first use."""
        name = f"records-{len(table.columns)}-{stretch.kind}-{stretch.first}-{stretch.count}-{stretch.keys}"
        path = self.folder / (name + ("-schema" if schema_block else ""))
        return self._written(path, lambda: records(self.peers, table, stretch, schema_block))

    def changes(self, table: TableSpec, stretch: Stretch) -> Path:
        """Parquet files of the same records decoded to typed changes, written on first use."""
        raw = self.records(table, stretch)
        path = raw.with_name(raw.name.replace("records", "changes"))
        return self._written(path, lambda: changes(decode(self.peers.read.parquet(str(raw)), table), table))

    def loading(self, table: TableSpec, keys: int) -> Path:
        """Typed changes that insert so many keys; beyond those decoded from records they are copies with other keys."""
        base = min(keys, _DECODED)
        decoded = self.changes(table, Stretch(0, base, base))
        if keys == base:
            return decoded
        spark = self.peers

        def copies() -> DataFrame:
            nth = spark.range(-(-keys // base)).withColumnRenamed("id", "nth")
            copied = spark.read.parquet(str(decoded)).crossJoin(F.broadcast(nth))
            return copied.withColumn("id", F.col("id") + F.col("nth") * base).drop("nth").where(F.col("id") < keys)

        return self._written(decoded.with_name(f"{decoded.name}-{keys}"), copies)

    def _written(self, path: Path, make: Callable[[], DataFrame]) -> Path:
        if not path.exists():
            make().repartition(FILES).write.parquet(str(path))
        return path

    def pipeline(self, source: str, storage: Path, configuration: Mapping[str, str]) -> LocalPipeline:
        """A pipeline of tests/benchmarks/pipelines; its file reads ``configuration`` with the prefix `bench.`."""
        return LocalPipeline(
            name="benchmark",
            sources=[str(_PIPELINES / f"{source}.py")],
            storage=storage,
            configuration={f"bench.{key}": value for key, value in configuration.items()},
            spark=self.spark,
        )

    def after_warm_up(self, action: Callable[[], float]) -> float:
        """The median seconds of an action without a peer."""
        return median([action() for _ in range(self.warm_up + self.rounds)][self.warm_up :])

    def peak_memory(self) -> tuple[float, float]:
        """Peak GiB of Java's heap, and of Java's other memory (classes, compiled code)."""
        jvm = self.spark._jvm
        assert jvm is not None
        used = {"Heap memory": 0.0, "Non-heap memory": 0.0}
        for pool in jvm.java.lang.management.ManagementFactory.getMemoryPoolMXBeans():
            used[pool.getType().toString()] += pool.getPeakUsage().getUsed() / 2**30
        return used["Heap memory"], used["Non-heap memory"]

    def in_turn(self, ours: Callable[[], float], peer: Callable[[], float], *, is_warm: bool = False) -> Times:
        """Seconds of both, which alternate; where ``is_warm``, the first round counts too."""
        warm_up = 0 if is_warm else self.warm_up
        rounds = [(ours(), peer()) for _ in range(warm_up + self.rounds)][warm_up:]
        return Times(ours=tuple(mine for mine, _ in rounds), peers=tuple(theirs for _, theirs in rounds))


def session_for_peers(spark: SparkSession) -> SparkSession:
    """A session with Spark's own settings, except for its 200 shuffle partitions: they suit the machine's cores."""
    session = spark.newSession()
    for name, value in _PEERS_CONF.items():
        session.conf.set(name, value)
    return session


def seconds(action: Callable[[], object]) -> float:
    """The time that an action takes."""
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def size_in_bytes(folder: Path) -> int:
    """The size of all Parquet files in a folder; as no file is removed, it grows by all that is written."""
    return sum(file.stat().st_size for file in folder.rglob("*.parquet"))


def deliver(source: Path, to: Path, prefix: str = "") -> None:
    """Copy Parquet files to where a stream reads them."""
    to.mkdir(parents=True, exist_ok=True)
    for file in sorted(source.glob("*.parquet")):
        shutil.copy2(file, to / f"{prefix}{file.name}")


def assert_same(ours: DataFrame, peer: DataFrame) -> None:
    """Check that both have the same rows, without which the times cannot be compared."""
    columns = [F.col(name) for name in ours.columns]
    left, right = ours.select(columns), peer.select(columns)
    missing, surplus = right.exceptAll(left).head(3), left.exceptAll(right).head(3)
    assert not missing, f"rows missing from the pipeline's table: {missing}"
    assert not surplus, f"rows that only the pipeline's table has: {surplus}"
