"""Records all the way: decoding with typed changes and rejects kept, then current rows, then gold."""

import os
from pathlib import Path

from tests.benchmarks import floor, hand_written, recipe, single_machine
from tests.benchmarks.bench import Bench, Result, assert_same, deliver, seconds
from tests.benchmarks.records import Stretch
from tests.benchmarks.tables import NARROW, WIDE

from cdc import TableSpec
from cdc.names import target_columns
from dlt_local.flows.outcomes import Update

_NAMES = {len(NARROW.columns): "NARROW", len(WIDE.columns): "WIDE"}


def to_silver(bench: Bench) -> Result:
    """500,000 records to typed changes and rejects, beside the recipe from the same records to its one target."""
    count = bench.rows(500_000)
    source = bench.records(NARROW, Stretch(0, count, count))
    ours, peer = _Ours(bench, NARROW, source, ""), _Recipe(bench, source)
    times = bench.in_turn(ours, peer)
    spark = bench.peers
    assert_same(
        ours.table("orders_changes").select(*target_columns(NARROW)), spark.read.format("delta").load(str(peer.target))
    )
    measure = "bronze to silver: typed changes and rejects kept"
    return Result(measure, "recipe, bronze to its one target", "at most 1.2 x its time", *times, False, 1.2, count)


def to_gold(bench: Bench) -> Result:
    """A million records, half of them load and half change 300,000 keys, beside the least that must be done."""
    half, keys = bench.rows(500_000), bench.rows(300_000)
    loading = bench.records(NARROW, Stretch(0, half, half))
    changing = bench.records(NARROW, Stretch(half, half, keys, "uniform"))
    source = _together(bench, loading, changing)
    ours, peer = _Ours(bench, NARROW, source, "1"), _Floor(bench, source)
    times = bench.in_turn(ours, peer)
    assert_same(ours.table("orders"), bench.peers.read.format("delta").load(str(peer.target)))
    measure = "bronze to silver to gold, SCD type 1"
    notes = (
        f"{measure}, seconds of each table: {ours.stages()}",
        _with_history(bench, source, 2 * half, peer),
        "in use at most {:.1f} GiB of heap, and {:.1f} beside it".format(*bench.peak_memory()),
    )
    least, goal = "floor: parse once, last change, one write", "at most 2.5 x its time"
    return Result(measure, least, goal, *times, False, 2.5, 2 * half, notes)


def _with_history(bench: Bench, source: Path, records: int, floor: "_Floor") -> str:
    """The same records to every version of each key, and from those to current rows: once, since nothing stands beside
    it."""
    ours = _Ours(bench, NARROW, source, "2")
    took = ours()
    assert_same(ours.table("orders"), bench.peers.read.format("delta").load(str(floor.target)))
    rate = records / took / (os.cpu_count() or 1)
    return f"the same, SCD type 2: {took:.1f} s, {rate:,.0f} rows/s/core; seconds of each table: {ours.stages()}"


def beside_delta_rs(bench: Bench) -> Result:
    """Records to current rows, beside polars and delta-rs: what one machine can do without Spark."""
    count, keys = bench.rows(500_000), bench.rows(300_000)
    source = _together(
        bench,
        bench.records(NARROW, Stretch(0, keys, keys)),
        bench.records(NARROW, Stretch(keys, count, keys, "uniform")),
    )
    ours, peer = _Ours(bench, NARROW, source, "1"), _DeltaRs(bench, source)
    times = bench.in_turn(ours, peer)
    ids = bench.peers.read.format("delta").load(str(peer.target)).select("id")
    assert_same(ours.table("orders").select("id"), ids)
    measure = "bronze to silver to gold, SCD type 1"
    return Result(
        measure, "polars and delta-rs, untyped rows only", "none: for honesty", *times, False, None, count + keys
    )


def schema_block(bench: Bench) -> Result:
    """The same records with Connect's schema around each value and without."""
    stretch = Stretch(0, bench.rows(200_000), bench.rows(200_000))
    bare, blocked = (bench.records(NARROW, stretch, schema_block=block) for block in (False, True))
    ours, peer = _Ours(bench, NARROW, blocked, ""), _Ours(bench, NARROW, bare, "")
    times = bench.in_turn(ours, peer)
    own, other = (run.table("orders_changes").select(*target_columns(NARROW), "_offset") for run in (ours, peer))
    assert_same(own, other)
    return Result("decoding with a schema block", "without one", "at most 1.6 x its time", *times, False, 1.6)


def wide_table(bench: Bench) -> Result:
    """200 columns beside 12, of as many values."""
    count = bench.rows(160_000)
    few = count * len(NARROW.columns) // len(WIDE.columns)
    narrow = bench.records(NARROW, Stretch(0, count, count))
    wide = bench.records(WIDE, Stretch(0, few, few))
    ours, peer = _Ours(bench, WIDE, wide, ""), _Ours(bench, NARROW, narrow, "")
    times = bench.in_turn(ours, peer)
    for run, records in ((ours, wide), (peer, narrow)):
        delivered, decoded = bench.peers.read.parquet(str(records)).select("offset"), run.table("orders_changes")
        assert_same(decoded.select("_offset"), delivered.withColumnRenamed("offset", "_offset"))
    return Result("200 columns", "as many values in 12 columns", "at most 2 x its time", *times, False, 2)


def _together(bench: Bench, *sources: Path) -> Path:
    folder = bench.new_folder("input")
    for number, source in enumerate(sources):
        deliver(source, folder, f"{number}-")
    return folder


class _Ours:
    def __init__(self, bench: Bench, table: TableSpec, source: Path, scd_type: str) -> None:
        self.bench = bench
        name = _NAMES[len(table.columns)]
        self.configuration = {"input": str(source), "table": name, "scd_type": scd_type}
        self.storage = Path()
        self.update: Update | None = None

    def __call__(self) -> float:
        self.storage = self.bench.new_folder("ours")
        return seconds(self._run)

    def _run(self) -> None:
        self.update = self.bench.pipeline("medallion", self.storage, self.configuration).run()

    def stages(self) -> str:
        """The tables of the last run, each with its seconds."""
        assert self.update is not None
        return ", ".join(f"{each.name.split('.')[-1]} {each.seconds:.1f}" for each in self.update.datasets)

    def table(self, name: str):
        return self.bench.peers.read.format("delta").load(str(self.storage / "tables" / "default" / name))


class _Recipe:
    def __init__(self, bench: Bench, source: Path) -> None:
        self.bench, self.source = bench, source
        self.target = Path()

    def __call__(self) -> float:
        spark, folder = self.bench.peers, self.bench.new_folder("recipe")
        self.target = folder / "target"
        raw, columns = hand_written.raw_row(NARROW), hand_written.typed_columns(NARROW)
        records = spark.readStream.schema(spark.read.parquet(str(self.source)).schema).parquet(str(self.source))
        changes = recipe.parsed(records, raw, columns)
        recipe.create(spark, self.target, changes.select(*target_columns(NARROW)).schema)
        upsert = recipe.upsert_current(self.target)
        return seconds(lambda: recipe.stream(changes, upsert, folder / "checkpoint"))


class _DeltaRs:
    def __init__(self, bench: Bench, source: Path) -> None:
        self.bench, self.source = bench, source
        self.target = Path()

    def __call__(self) -> float:
        self.target = self.bench.new_folder("delta-rs") / "target"
        raw = {field.name: field.dataType.simpleString() for field in hand_written.raw_row(NARROW).fields}
        return seconds(lambda: single_machine.upsert_current(self.source, raw, self.target))


class _Floor:
    def __init__(self, bench: Bench, source: Path) -> None:
        self.bench, self.source = bench, source
        self.target = Path()

    def __call__(self) -> float:
        self.target = self.bench.new_folder("floor") / "target"
        raw, columns = hand_written.raw_row(NARROW), hand_written.typed_columns(NARROW)
        records = self.bench.peers.read.parquet(str(self.source))
        return seconds(lambda: floor.write_current(records, raw, columns, self.target))
