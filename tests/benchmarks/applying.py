"""APPLY CHANGES beside the recipe's MERGE, both fed with the same typed changes."""

import shutil
from pathlib import Path
from typing import Literal

from pyspark.sql import functions as F
from pyspark.sql.types import StructType
from tests.benchmarks import recipe
from tests.benchmarks.bench import Bench, Result, assert_same, deliver, seconds, size_in_bytes
from tests.benchmarks.records import Stretch
from tests.benchmarks.tables import NARROW

from cdc.names import target_columns
from dlt_local import LocalPipeline


def first_load(bench: Bench) -> Result:
    """500,000 changes into an empty target."""
    count = bench.rows(500_000)
    ours, peers = _Ours(bench, "1"), _Recipe(bench, "1")
    loading = bench.changes(NARROW, Stretch(0, count, count))
    times = bench.in_turn(lambda: ours.apply(None, loading), lambda: peers.apply(None, loading))
    _assert_same(ours, peers)
    return Result("first load of a target, SCD type 1", "recipe's MERGE", "1.5 x as fast", *times, True, 1.5, count)


def current_rows(bench: Bench) -> Result:
    """500,000 changes onto a target that has their keys."""
    return _apply(bench, "1", "changes onto a target, SCD type 1", "recipe's MERGE", 1.3)


def hot_keys(bench: Bench) -> Result:
    """SCD type 1 where most of the changes are of few keys."""
    return _apply(bench, "1", "changes of few keys mostly, SCD type 1", "recipe's MERGE", None, "hot")


def versions(bench: Bench) -> Result:
    """The same with history."""
    return _apply(bench, "2", "changes onto a target, SCD type 2", "recipe's two steps", 2.0)


def _apply(
    bench: Bench,
    scd_type: str,
    measure: str,
    peer: str,
    limit: float | None,
    kind: Literal["uniform", "hot"] = "uniform",
) -> Result:
    count, keys = bench.rows(500_000), bench.rows(300_000)
    loading = bench.changes(NARROW, Stretch(0, keys, keys))
    changing = bench.changes(NARROW, Stretch(keys, count, keys, kind))
    ours, peers = _Ours(bench, scd_type), _Recipe(bench, scd_type)
    times = bench.in_turn(lambda: ours.apply(loading, changing), lambda: peers.apply(loading, changing))
    _assert_same(ours, peers)
    written = (ours.written / count, peers.written / count)
    note = "{}: {:.0f} bytes written for each change, by the recipe {:.0f}".format(measure, *written)
    goal = "none: for honesty" if limit is None else f"{limit} x as fast"
    return Result(measure, peer, goal, *times, True, limit, count, (note,))


class _Ours:
    """The pipeline: each attempt goes on from a copy of the storage that has the first load."""

    def __init__(self, bench: Bench, scd_type: str) -> None:
        self.bench, self.scd_type = bench, scd_type
        self.input = bench.new_folder("input")
        self.loaded: Path | None = None
        self.target = Path()
        self.written = 0

    def apply(self, loading: Path | None, changing: Path) -> float:
        storage = self.bench.new_folder("ours")
        if loading is not None:
            self._load(loading)
            assert self.loaded is not None
            shutil.copytree(self.loaded, storage, dirs_exist_ok=True)
        deliver(changing, self.input, "2-")
        self.target = storage / "tables" / "default" / "target"
        before = size_in_bytes(storage)
        took = seconds(self._pipeline(storage).run)
        self.written = size_in_bytes(storage) - before
        return took

    def _load(self, loading: Path) -> None:
        shutil.rmtree(self.input)
        deliver(loading, self.input, "1-")
        if self.loaded is None:
            self.loaded = self.bench.new_folder("loaded")
            self._pipeline(self.loaded).run()

    def _pipeline(self, storage: Path) -> LocalPipeline:
        configuration = {"input": str(self.input), "scd_type": self.scd_type}
        return self.bench.pipeline("apply", storage, configuration)


class _Recipe:
    def __init__(self, bench: Bench, scd_type: str) -> None:
        self.bench, self.scd_type = bench, scd_type
        self.loaded: Path | None = None
        self.target = Path()
        self.written = 0

    def apply(self, loading: Path | None, changing: Path) -> float:
        folder = self.bench.new_folder("recipe")
        self.target = folder / "target"
        if loading is None:
            self._create(changing)
        else:
            self._load(loading)
        before = size_in_bytes(self.target)
        took = seconds(lambda: self._stream(changing, folder / "checkpoint"))
        self.written = size_in_bytes(self.target) - before
        return took

    def _create(self, source: Path) -> None:
        spark = self.bench.peers
        schema = spark.read.parquet(str(source)).select(*target_columns(NARROW)).schema
        if self.scd_type == "2":
            place = StructType.fromDDL("commit_lsn string, change_lsn string, event_serial_no bigint")
            schema = schema.add("__START_AT", place).add("__END_AT", place)
        recipe.create(spark, self.target, schema)

    def _load(self, loading: Path) -> None:
        if self.loaded is None:
            self._create(loading)
            self._stream(loading, self.target.parent / "loading")
            self.loaded = self.bench.new_folder("loaded-recipe")
            shutil.copytree(self.target, self.loaded, dirs_exist_ok=True)
        else:
            shutil.copytree(self.loaded, self.target, dirs_exist_ok=True)

    def _stream(self, source: Path, checkpoint: Path) -> None:
        spark = self.bench.peers
        upsert = recipe.upsert_history if self.scd_type == "2" else recipe.upsert_current
        reader = spark.readStream.schema(spark.read.parquet(str(source)).schema)
        recipe.stream(reader.parquet(str(source)), upsert(self.target), checkpoint)


def _assert_same(ours: _Ours, peers: _Recipe) -> None:
    spark = ours.bench.peers
    own, other = (spark.read.format("delta").load(str(path)) for path in (ours.target, peers.target))
    if ours.scd_type == "2":
        # The pipeline's sequence has more fields than the recipe's.
        transactions = {name: F.col(name)["commit_lsn"] for name in ("__START_AT", "__END_AT")}
        own, other = own.withColumns(transactions), other.withColumns(transactions)
    assert_same(own, other)
