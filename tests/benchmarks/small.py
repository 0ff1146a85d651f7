"""Updates with little or nothing to do: the fixed cost of an update, and whether it grows with the table."""

from pathlib import Path

from delta.tables import DeltaTable
from pyspark.sql import functions as F
from tests.benchmarks.bench import Bench, assert_same, deliver, seconds
from tests.benchmarks.recipe import ORDER
from tests.benchmarks.records import Stretch
from tests.benchmarks.result import Goal, Result, at_most
from tests.benchmarks.tables import NARROW

from cdc.names import target_columns


def hundred_changes(bench: Bench) -> Result:
    """An update of 100 changes to one table, beside one MERGE of 100 rows."""
    loading = bench.changes(NARROW, Stretch(0, 1000, 1000))
    ours, peer = _Updates(bench, loading, 1000), _Merges(bench, loading)
    times = bench.in_turn(ours, peer)
    ours.assert_right()
    return Result("update of 100 changes, one table", "one MERGE of 100 rows", at_most(8), times)


def growth(bench: Bench) -> Result:
    """10,000 changes into 10 million rows, beside 10,000 into 100 thousand."""
    sizes = [bench.rows(count) for count in (100_000, 10_000_000)]
    small, large = (_Updates(bench, bench.loading(NARROW, n), n, bench.rows(10_000)) for n in sizes)
    times = bench.in_turn(large, small)
    for updates in (small, large):
        updates.assert_right()
    return Result("10,000 changes into 10 million rows", "into 100 thousand", at_most(1.4), times)


def idle(bench: Bench) -> Result:
    """An update of 50 tables without new input, beside five appends."""
    source = bench.changes(NARROW, Stretch(0, 100, 100))
    folder = bench.new_folder("appends")
    fifty, one = (_Idle(bench, source, tables) for tables in (bench.rows(50), 1))
    rows = bench.peers.range(100).withColumn("text", F.col("id").cast("string"))

    def append() -> None:
        for _ in range(5):
            rows.write.format("delta").mode("append").save(str(folder / "table"))

    times = bench.in_turn(fifty, lambda: seconds(append))
    measure = "idle update, 50 tables"
    note = f"{measure}: of one table, {bench.after_warm_up(one):.2f} s"
    goal = Goal("less than their time", 1, is_speed=False)
    return Result(measure, "five bare appends", goal, times, notes=(note,))


class _Idle:
    """Updates without new input."""

    def __init__(self, bench: Bench, source: Path, tables: int) -> None:
        configuration = {"input": str(source), "tables": str(tables)}
        self.pipeline = bench.pipeline("many", bench.new_folder("idle"), configuration)
        self.pipeline.run()

    def __call__(self) -> float:
        return seconds(self._run)

    def _run(self) -> None:
        assert all(dataset.is_idle for dataset in self.pipeline.run().datasets)


class _Updates:
    """Updates of one target, each with new changes."""

    def __init__(self, bench: Bench, loading: Path, keys: int, changes: int = 100) -> None:
        self.bench, self.keys, self.count = bench, keys, changes
        self.applied: list[Path] = []
        self.input = bench.new_folder("input")
        self.storage = bench.new_folder("updates")
        deliver(loading, self.input, "0-")
        configuration = {"input": str(self.input), "scd_type": "1"}
        self.pipeline = bench.pipeline("apply", self.storage, configuration)
        self.pipeline.run()
        self.next = keys

    def __call__(self) -> float:
        changes = self.bench.changes(NARROW, Stretch(self.next, self.count, self.keys, "uniform"))
        self.next += self.count
        self.applied.append(changes)
        deliver(changes, self.input, f"{self.next}-")
        return seconds(self.pipeline.run)

    def assert_right(self) -> None:
        """Check that changed keys have the rows of their last changes and that the other keys still exist."""
        spark = self.bench.peers
        target = spark.read.format("delta").load(str(self.storage / "tables" / "default" / "target"))
        changed = spark.read.parquet(*map(str, self.applied))
        last = changed.groupBy("id").agg(F.max_by(F.struct("*"), F.struct(*ORDER)).alias("last")).select("last.*")
        rows = last.where("_op <> 'd'").select(target.columns).localCheckpoint()
        assert_same(target.join(F.broadcast(last.select("id")), "id", "left_semi"), rows)
        deleted = last.where("_op = 'd'").count()
        assert target.count() == self.keys - deleted


class _Merges:
    """MERGEs of the same 100 rows into one table."""

    def __init__(self, bench: Bench, loading: Path) -> None:
        self.bench = bench
        spark = bench.peers
        self.target = bench.new_folder("merges") / "target"
        spark.read.parquet(str(loading)).select(*target_columns(NARROW)).write.format("delta").save(str(self.target))
        self.rows = spark.read.parquet(str(loading)).select(*target_columns(NARROW)).limit(100).localCheckpoint()

    def __call__(self) -> float:
        return seconds(self._merge)

    def _merge(self) -> None:
        table = DeltaTable.forPath(self.bench.peers, str(self.target))
        merge = table.alias("t").merge(self.rows.alias("s"), "t.id = s.id")
        merge.whenMatchedUpdateAll().whenNotMatchedInsertAll().execute()
