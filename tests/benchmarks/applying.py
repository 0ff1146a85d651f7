"""AUTO CDC beside the recipe's MERGE, both fed with the same typed changes."""

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pyspark.sql import functions as F
from pyspark.sql.types import StructType
from tests.benchmarks import recipe
from tests.benchmarks.bench import Bench, assert_same, deliver, seconds, size_in_bytes
from tests.benchmarks.records import Stretch
from tests.benchmarks.result import Goal, Result, as_fast, no_goal
from tests.benchmarks.tables import NARROW

from cdc.names import target_columns
from dlt_local import LocalPipeline

ScdType = Literal["1", "2"]


@dataclass(frozen=True)
class _Onto:
    """A measure of changes onto a target that has their keys."""

    measure: str
    peer: str
    goal: Goal
    scd_type: ScdType
    kind: Literal["uniform", "hot"] = "uniform"


def first_load(bench: Bench) -> Result:
    """500,000 changes into an empty target."""
    count = bench.rows(500_000)
    ours, peer = _Pipeline(bench, "1"), _Recipe(bench, "1")
    loading = bench.changes(NARROW, Stretch(0, count, count))
    times = bench.in_turn(lambda: ours.apply(None, loading), lambda: peer.apply(None, loading))
    _assert_same(ours, peer)
    return Result("first load of a target, SCD type 1", "recipe's MERGE", as_fast(1.0), times, count)


def current_rows(bench: Bench) -> Result:
    """500,000 changes onto a target that has their keys."""
    return _apply(bench, _Onto("changes onto a target, SCD type 1", "recipe's MERGE", as_fast(1.0), "1"))


def hot_keys(bench: Bench) -> Result:
    """SCD type 1 where most of the changes are of few keys."""
    goal = no_goal(is_speed=True)
    return _apply(bench, _Onto("changes of few keys mostly, SCD type 1", "recipe's MERGE", goal, "1", "hot"))


def versions(bench: Bench) -> Result:
    """500,000 changes onto a target with history."""
    return _apply(bench, _Onto("changes onto a target, SCD type 2", "recipe's two steps", as_fast(1.0), "2"))


def _apply(bench: Bench, onto: _Onto) -> Result:
    count, keys = bench.rows(500_000), bench.rows(300_000)
    loading = bench.changes(NARROW, Stretch(0, keys, keys))
    changing = bench.changes(NARROW, Stretch(keys, count, keys, onto.kind))
    ours, peer = _Pipeline(bench, onto.scd_type), _Recipe(bench, onto.scd_type)
    times = bench.in_turn(lambda: ours.apply(loading, changing), lambda: peer.apply(loading, changing))
    _assert_same(ours, peer)
    written = f"{ours.written / count:.0f} bytes written for each change, by the recipe {peer.written / count:.0f}"
    return Result(onto.measure, onto.peer, onto.goal, times, count, (f"{onto.measure}: {written}",))


class _Pipeline:
    """Our side: each round continues from a copy of the storage after the first load."""

    def __init__(self, bench: Bench, scd_type: ScdType) -> None:
        self.bench, self.scd_type = bench, scd_type
        self.input = bench.new_folder("input")
        self.loaded: Path | None = None
        self.target = Path()
        self.written = 0

    def apply(self, loading: Path | None, changing: Path) -> float:
        """The seconds of an update with the changes, after the load if there is one."""
        storage = self.bench.new_folder("ours")
        if loading is not None:
            shutil.copytree(self._load(loading), storage, dirs_exist_ok=True)
        deliver(changing, self.input, "2-")
        self.target = storage / "tables" / "default" / "target"
        before = size_in_bytes(storage)
        took = seconds(self._pipeline(storage).run)
        self.written = size_in_bytes(storage) - before
        return took

    def _load(self, loading: Path) -> Path:
        """The storage after the load; the input holds no other changes then."""
        shutil.rmtree(self.input)
        deliver(loading, self.input, "1-")
        if self.loaded is None:
            self.loaded = self.bench.new_folder("loaded")
            self._pipeline(self.loaded).run()
        return self.loaded

    def _pipeline(self, storage: Path) -> LocalPipeline:
        configuration = {"input": str(self.input), "scd_type": self.scd_type}
        return self.bench.pipeline("apply", storage, configuration)


class _Recipe:
    """The peer: each round continues from a copy of the table after the first load."""

    def __init__(self, bench: Bench, scd_type: ScdType) -> None:
        self.bench, self.scd_type = bench, scd_type
        self.loaded: Path | None = None
        self.target = Path()
        self.written = 0

    def apply(self, loading: Path | None, changing: Path) -> float:
        """The seconds of a stream with the changes, after the load if there is one."""
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
            position = StructType.fromDDL("commit_lsn string, change_lsn string, event_serial_no bigint")
            schema = schema.add("__START_AT", position).add("__END_AT", position)
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


def _assert_same(ours: _Pipeline, peer: _Recipe) -> None:
    spark = ours.bench.peers
    mine, theirs = (spark.read.format("delta").load(str(path)) for path in (ours.target, peer.target))
    if ours.scd_type == "2":
        # The pipeline's sequence has more fields than the recipe's.
        transactions = {name: F.col(name)["commit_lsn"] for name in ("__START_AT", "__END_AT")}
        mine, theirs = mine.withColumns(transactions), theirs.withColumns(transactions)
    assert_same(mine, theirs)
