"""A user's day: many tables with few changes each, through the shipped silver and gold, beside the recipe for each.

Each table adds the same time, so at scale 1 there are ten: `--only many-tables --scale 5` has the fifty of a real day.
"""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyspark.sql import SparkSession
from tests.benchmarks import hand_written, recipe
from tests.benchmarks.bench import Bench, assert_same, seconds, session_for_peers
from tests.benchmarks.records import COLUMNS, Stretch, records
from tests.benchmarks.result import Goal, Result, Times, at_most
from tests.benchmarks.tables import NARROW

from cdc.names import target_columns
from dlt_local import LocalPipeline, create_session

_CHECKOUT = Path(__file__).parents[2]
_PIPELINES = _CHECKOUT / "pipelines"
_SOURCES = [Path(__file__).with_name("pipelines") / "bronze.py", _PIPELINES / "silver/**", _PIPELINES / "gold/**"]
_KEYS = 1000
_CHANGES = 100
_TABLES = 10
_UPDATES_A_DAY = 96
_TABLES_PLANNED_IN_A_SECOND = 15
"""The goal: 300 tables in 20 seconds."""


def many_tables(bench: Bench) -> Result:
    """100 changes to each of many tables, to current rows and history, beside the recipe for each of them."""
    feed = _Feed(bench, _count(bench, _TABLES))
    ours, peer = _Ours(bench, feed), _Recipes(bench, feed)
    feed.deliver(_KEYS)
    ours()
    peer()

    def turn() -> float:
        feed.deliver(_CHANGES)
        return ours()

    times = bench.in_turn(turn, peer)
    _assert_same(ours, peer)
    measure = f"update of {_CHANGES} changes to each of {feed.size} tables, with history"
    return Result(measure, "recipe's stream and MERGE for each, without history", at_most(2), times)


def first_load(bench: Bench) -> Result:
    """The first update of 12 tables with 1,000 records each, beside the recipe for each of the 12."""
    feed = _Feed(bench, _count(bench, 12))
    feed.deliver(_KEYS)

    def ours() -> float:
        return _Ours(bench, feed)()

    times = bench.in_turn(ours, lambda: _Recipes(bench, feed)())
    measure = f"first load of {feed.size} tables with {_KEYS:,} records each, with history"
    return Result(measure, "recipe's stream and MERGE for each, without history", at_most(2), times)


def cold_run(bench: Bench) -> Result:
    """The same update by the command line, beside the recipe as a script, each with a Spark of its own."""
    feed = _Feed(bench, _count(bench, _TABLES // 2))
    ours, peer = _Ours(bench, feed), _Recipes(bench, feed)
    feed.deliver(_KEYS)
    ours()
    peer()

    def turn() -> float:
        feed.deliver(_CHANGES)
        return ours.by_command()

    # Each round is a process of its own.
    times = bench.in_turn(turn, peer.by_script, is_warm=True)
    _assert_same(ours, peer)
    measure = f"update of {feed.size} tables by the command line, from a cold start"
    return Result(measure, "recipe as a script", at_most(2), times)


def updates_in_a_row(bench: Bench) -> Result:
    """96 updates of a table with 100 changes each: the last ten beside the first ten."""
    feed = _Feed(bench, 1)
    ours = _Ours(bench, feed)
    feed.deliver(_KEYS)
    ours()
    count = _count(bench, _UPDATES_A_DAY)
    of_first, took = min(10, count // 2), []
    for _ in range(bench.warm_up):
        feed.deliver(_CHANGES)
        ours()
    before = ours.left_behind()
    for _ in range(count):
        feed.deliver(_CHANGES)
        took.append(ours())
    after = ours.left_behind()
    measure = f"the last {of_first} of {count} updates of a table with {_CHANGES} changes each"
    left = "; ".join(
        f"{part} {(after[part][0] - before[part][0]) / count:,.1f} files and"
        f" {(after[part][1] - before[part][1]) / count / 1024:,.0f} KiB"
        for part in after
    )
    times = Times(tuple(took[-of_first:]), tuple(took[:of_first]))
    return Result(
        measure, f"the first {of_first}", at_most(1.1), times, notes=(f"each of these updates leaves {left}",)
    )


def planning(bench: Bench) -> Result:
    """The graph of 30 tables, some 210 datasets, resolved without running anything; the first time in a process too."""
    feed = _Feed(bench, _count(bench, 30))
    feed.deliver(_CHANGES)
    ours = _Ours(bench, feed)
    first = seconds(ours.pipeline.dry_run)
    times = tuple(seconds(ours.pipeline.dry_run) for _ in range(bench.rounds))
    measure = f"planning of {feed.size} tables, {len(ours.pipeline.dry_run().nodes):,} datasets"
    wanted = feed.size / _TABLES_PLANNED_IN_A_SECOND
    goal = Goal(f"under {wanted:.1f} s", wanted, is_speed=False)
    note = f"{measure}: {first:.1f} s the first time in a process"
    return Result(measure, "one second", goal, Times(times, (1.0,) * len(times)), notes=(note,))


class _Feed:
    """Folders of records, one for each table: the same events, each under its table's name."""

    def __init__(self, bench: Bench, tables: int) -> None:
        self.size = tables
        self.names = [f"orders_{number:03}" for number in range(1, tables + 1)]
        self.folder = bench.new_folder("feed")
        self._spark = bench.peers
        self._next = 0

    def deliver(self, count: int) -> None:
        """Add a file of records to each table's folder: inserts of all keys first, then changes of them."""
        stretch = Stretch(self._next, count, _KEYS, "load" if self._next == 0 else "uniform")
        scratch = self.folder / f".{self._next}"
        records(self._spark, NARROW, stretch).coalesce(1).write.parquet(str(scratch))
        made = pq.read_table(next(scratch.glob("*.parquet")))
        at = made.schema.get_field_index("timestamp")
        made = made.set_column(at, "timestamp", made.column(at).cast("timestamp[us]").cast(pa.timestamp("us", "UTC")))
        place = made.schema.get_field_index("value")
        value, topic = made.column("value").cast("string"), made.schema.get_field_index("topic")
        for name in self.names:
            of_table = pc.replace_substring(value, '"table":"orders"', f'"table":"{name}"').cast("binary")
            topics = pc.replace_substring(made.column("topic"), "orders", name)
            rows = made.set_column(place, made.schema.field(place), of_table)
            (self.folder / name).mkdir(exist_ok=True)
            pq.write_table(
                rows.set_column(topic, made.schema.field(topic), topics),
                self.folder / name / f"{self._next:09}.parquet",
            )
        self._next += count


class _Ours:
    """Updates of the pipeline, all tables at once."""

    def __init__(self, bench: Bench, feed: _Feed) -> None:
        self.names = feed.names
        self.storage, conf = bench.new_folder("many"), bench.new_folder("conf")
        _write_specs(conf, feed.names)
        self._configuration = {"cdc.conf": str(conf), "cdc.connector": "shop", "bench.input": str(feed.folder)}
        self.pipeline = LocalPipeline(
            name="many",
            sources=_SOURCES,
            storage=self.storage,
            configuration=self._configuration,
            root_path=_PIPELINES,
            spark=bench.spark,
        )

    def __call__(self) -> float:
        return seconds(self.pipeline.run)

    def by_command(self) -> float:
        """Seconds of one update by the command line."""
        options = [f"--source={source}" for source in _SOURCES] + [
            f"--set={key}={value}" for key, value in self._configuration.items()
        ]
        places = [f"--storage={self.storage}", f"--root-path={_PIPELINES}", "--name=many", "--quiet"]
        return _command(["dlt_local", "run", *options, *places])

    def left_behind(self) -> dict[str, tuple[int, int]]:
        """Part of the storage -> its number of files, and their bytes."""
        parts: dict[str, list[int]] = {}
        for file in self.storage.rglob("*"):
            if file.is_file():
                place = file.relative_to(self.storage).parts
                part = place[0] if place[0] != "system" else place[min(1, len(place) - 2)]
                parts.setdefault(part, []).append(file.stat().st_size)
        return {part: (len(sizes), sum(sizes)) for part, sizes in sorted(parts.items())}


class _Recipes:
    """The recipe for each table: a stream with `foreachBatch` and MERGE, all started at once, in one process."""

    def __init__(self, bench: Bench, feed: _Feed) -> None:
        self.bench, self.feed, self.folder = bench, feed, bench.new_folder("recipes")

    def __call__(self) -> float:
        return seconds(lambda: run_recipes(self.bench.peers, self.feed.folder, self.folder, self.feed.names))

    def by_script(self) -> float:
        """Seconds of the same in a process of its own."""
        return _command(["tests.benchmarks.many_tables", str(self.feed.folder), str(self.folder), *self.feed.names])


def run_recipes(spark: SparkSession, feed: Path, folder: Path, names: Sequence[str]) -> None:
    """Apply what is new of each table's records to its target."""
    raw, columns = hand_written.raw_row(NARROW), hand_written.typed_columns(NARROW)
    started = []
    for name in names:
        source = str(feed / name)
        changes = recipe.parsed(spark.readStream.schema(COLUMNS).parquet(source), raw, columns)
        target = folder / name / "target"
        if not target.exists():
            recipe.create(spark, target, changes.select(*target_columns(NARROW)).schema)
        started.append(recipe.start(changes, recipe.upsert_current(target), folder / name / "checkpoint"))
    for query in started:
        query.awaitTermination()


def _count(bench: Bench, full: int) -> int:
    return max(int(full * bench.scale), 2)


def _write_specs(conf: Path, names: Sequence[str]) -> None:
    (conf / "connectors").mkdir()
    (conf / "tables/shop").mkdir(parents=True)
    (conf / "connectors/shop.yml").write_text(f"topic_prefix: {NARROW.connector.topic_prefix}\n")
    columns = {column.name: f"{column.type}{'' if column.nullable else ' not null'}" for column in NARROW.columns}
    for name in names:
        spec = {"table": NARROW.source.replace("orders", name), "key": list(NARROW.key), "columns": columns}
        (conf / f"tables/shop/{name}.yml").write_text(json.dumps(spec))


def _assert_same(ours: _Ours, peer: _Recipes) -> None:
    for name in (ours.names[0], ours.names[-1]):
        target = peer.bench.peers.read.format("delta").load(str(peer.folder / name / "target"))
        assert_same(ours.pipeline.table(f"gold.{name}"), target)


def _command(arguments: Sequence[str]) -> float:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (_CHECKOUT, _PIPELINES)))}
    command = [sys.executable, "-m", *arguments]
    return seconds(lambda: subprocess.run(command, cwd=_CHECKOUT, env=environment, check=True, capture_output=True))


def _script(feed: str, folder: str, *names: str) -> None:
    run_recipes(session_for_peers(create_session()), Path(feed), Path(folder), names)


if __name__ == "__main__":
    _script(*sys.argv[1:])
