"""Records through all layers: decoding to typed changes and rejects, then current rows, then gold."""

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from pyspark.sql import DataFrame
from tests.benchmarks import floor, hand_written, recipe, single_machine
from tests.benchmarks.bench import Bench, assert_same, deliver, seconds
from tests.benchmarks.records import Stretch
from tests.benchmarks.result import Result, at_most, no_goal
from tests.benchmarks.tables import NARROW, WIDE, Width

from cdc.names import target_columns
from dlt_local.flows.outcomes import Update

ScdType = Literal["", "1", "2"]
"""The target's SCD type; empty for a pipeline that ends at silver."""


def to_silver(bench: Bench) -> Result:
    """500,000 records to typed changes and rejects, beside the recipe from the same records to its one target."""
    count = bench.rows(500_000)
    source = bench.records(NARROW, Stretch(0, count, count))
    ours, peer = _Medallion(bench, source), _Recipe(bench, source)
    times = bench.in_turn(ours, peer)
    assert_same(ours.table("orders_changes").select(*target_columns(NARROW)), peer.table())
    measure = "bronze to silver: typed changes and rejects kept"
    return Result(measure, "recipe, bronze to its one target", at_most(1.3), times, count)


def to_gold(bench: Bench) -> Result:
    """A million records, half a load and half changes of 300,000 keys, beside the least work of any solution."""
    half, keys = bench.rows(500_000), bench.rows(300_000)
    loading = bench.records(NARROW, Stretch(0, half, half))
    changing = bench.records(NARROW, Stretch(half, half, keys, "uniform"))
    source = _together(bench, loading, changing)
    ours, peer = _Medallion(bench, source, "1"), _Floor(bench, source)
    times = bench.in_turn(ours, peer)
    assert_same(ours.table("orders"), peer.table())
    measure = "bronze to silver to gold, SCD type 1"
    notes = (
        f"{measure}, seconds of each table: {ours.stages()}",
        _with_history(bench, source, 2 * half, peer),
        "at most {:.1f} GiB of heap in use, and {:.1f} beside it".format(*bench.peak_memory()),
    )
    return Result(measure, "floor: parse once, last change, one write", at_most(3), times, 2 * half, notes)


def _with_history(bench: Bench, source: Path, records: int, floor: "_Floor") -> str:
    """The same records to versions and from those to current rows; one round, as there is no peer."""
    ours = _Medallion(bench, source, "2")
    took = ours()
    assert_same(ours.table("orders"), floor.table())
    rate = records / took / (os.cpu_count() or 1)
    return f"the same, SCD type 2: {took:.1f} s, {rate:,.0f} rows/s/core; seconds of each table: {ours.stages()}"


def beside_delta_rs(bench: Bench) -> Result:
    """Records to current rows, beside polars and delta-rs, which need no Spark."""
    count, keys = bench.rows(500_000), bench.rows(300_000)
    source = _together(
        bench,
        bench.records(NARROW, Stretch(0, keys, keys)),
        bench.records(NARROW, Stretch(keys, count, keys, "uniform")),
    )
    ours, peer = _Medallion(bench, source, "1"), _DeltaRs(bench, source)
    # The measure before has run the same pipeline.
    times = bench.in_turn(ours, peer, is_warm=True)
    assert_same(ours.table("orders").select("id"), peer.table().select("id"))
    measure = "bronze to silver to gold, SCD type 1"
    return Result(measure, "polars and delta-rs, untyped rows only", no_goal(is_speed=False), times, count + keys)


def schema_block(bench: Bench) -> Result:
    """The same records with Connect's schema block around each value, beside those without."""
    stretch = Stretch(0, bench.rows(200_000), bench.rows(200_000))
    bare, blocked = (bench.records(NARROW, stretch, schema_block=block) for block in (False, True))
    ours, peer = _Medallion(bench, blocked), _Medallion(bench, bare)
    times = bench.in_turn(ours, peer)
    with_block, without = (
        run.table("orders_changes").select(*target_columns(NARROW), "_offset") for run in (ours, peer)
    )
    assert_same(with_block, without)
    return Result("decoding with a schema block", "without one", at_most(1.6), times)


def wide_table(bench: Bench) -> Result:
    """200 columns, beside as many values in 12 columns."""
    count = bench.rows(160_000)
    few = count * len(NARROW.columns) // len(WIDE.columns)
    narrow = bench.records(NARROW, Stretch(0, count, count))
    wide = bench.records(WIDE, Stretch(0, few, few))
    ours, peer = _Medallion(bench, wide, width="wide"), _Medallion(bench, narrow)
    times = bench.in_turn(ours, peer)
    for run, records in ((ours, wide), (peer, narrow)):
        delivered, decoded = bench.peers.read.parquet(str(records)).select("offset"), run.table("orders_changes")
        assert_same(decoded.select("_offset"), delivered.withColumnRenamed("offset", "_offset"))
    return Result("200 columns", "as many values in 12 columns", at_most(2), times)


def _together(bench: Bench, *sources: Path) -> Path:
    folder = bench.new_folder("input")
    for number, source in enumerate(sources):
        deliver(source, folder, f"{number}-")
    return folder


@dataclass
class _Medallion:
    """The pipeline of pipelines/medallion.py, from an empty storage in each round."""

    bench: Bench
    source: Path
    scd_type: ScdType = ""
    width: Width = "narrow"
    storage: Path = field(init=False)
    update: Update = field(init=False)

    def __call__(self) -> float:
        self.storage = self.bench.new_folder("ours")
        return seconds(self._run)

    def _run(self) -> None:
        configuration = {"input": str(self.source), "width": self.width, "scd_type": self.scd_type}
        self.update = self.bench.pipeline("medallion", self.storage, configuration).run()

    def stages(self) -> str:
        """The tables of the last round, each with its seconds."""
        return ", ".join(f"{each.name.split('.')[-1]} {each.seconds:.1f}" for each in self.update.datasets)

    def table(self, name: str) -> DataFrame:
        """A table of the last round."""
        return self.bench.peers.read.format("delta").load(str(self.storage / "tables" / "default" / name))


@dataclass
class _Peer:
    """A peer that makes one table from records, in a new folder in each round."""

    bench: Bench
    source: Path
    target: Path = field(init=False)

    def table(self) -> DataFrame:
        """The table of the last round."""
        return self.bench.peers.read.format("delta").load(str(self.target))


class _Recipe(_Peer):
    def __call__(self) -> float:
        spark, folder = self.bench.peers, self.bench.new_folder("recipe")
        self.target = folder / "target"
        raw, columns = hand_written.raw_row(NARROW), hand_written.typed_columns(NARROW)
        records = spark.readStream.schema(spark.read.parquet(str(self.source)).schema).parquet(str(self.source))
        changes = recipe.parsed(records, raw, columns)
        recipe.create(spark, self.target, changes.select(*target_columns(NARROW)).schema)
        upsert = recipe.upsert_current(self.target)
        return seconds(lambda: recipe.stream(changes, upsert, folder / "checkpoint"))


class _DeltaRs(_Peer):
    def __call__(self) -> float:
        self.target = self.bench.new_folder("delta-rs") / "target"
        raw = {field.name: field.dataType.simpleString() for field in hand_written.raw_row(NARROW).fields}
        return seconds(lambda: single_machine.upsert_current(self.source, raw, self.target))


class _Floor(_Peer):
    def __call__(self) -> float:
        self.target = self.bench.new_folder("floor") / "target"
        raw, columns = hand_written.raw_row(NARROW), hand_written.typed_columns(NARROW)
        records = self.bench.peers.read.parquet(str(self.source))
        return seconds(lambda: floor.write_current(records, raw, columns, self.target))
