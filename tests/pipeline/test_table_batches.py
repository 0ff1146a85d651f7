"""Streams over a table that run as batches: a streaming query would write the same rows, and goes on where they end.

TABLE_BATCHES_SEED repeats a history; a failure shows it.
"""

import os
import time
from pathlib import Path
from random import Random

import pytest
from pyspark.sql import SparkSession
from tests.support.crash import die_at
from tests.support.small_pipeline import ROWS, SmallPipeline

from dlt_local.flows.table_batch import SETTING

SEED = int(os.environ.get("TABLE_BATCHES_SEED") or time.time_ns() % 1_000_000_007)
CHAIN = f"""
    import dlt
    from pyspark.sql import functions as F

    @dlt.table
    def raw():
        return {ROWS}

    @dlt.table
    @dlt.expect_or_drop("named", "name IS NOT NULL")
    def words():
        return spark.readStream.table("raw").select("id", F.explode(F.split("name", " ")).alias("name"))

    @dlt.table
    def long_words():
        return spark.readStream.table("LIVE.words").where("length(name) > 1")

    @dlt.table
    def only_a():
        return spark.readStream.table("words").where("name = 'a' AND id >= 0").select("id")

    dlt.create_streaming_table("latest")
    dlt.apply_changes(target="latest", source="raw", keys=["id"], sequence_by="name")
"""


def last_batch(small: SmallPipeline, dataset: str) -> tuple[int, bool]:
    """The number of a stream's last batch, and whether a streaming query has run it, which leaves checksums."""
    folder = next((small.folder / "storage/system/checkpoints").glob(f"*.{dataset}/*/offsets"))
    last = max(int(file.name) for file in folder.iterdir() if file.name.isdigit())
    return last, (folder / f".{last}.crc").exists()


def made(folder: Path, spark: SparkSession, source: str) -> SmallPipeline:
    """A pipeline whose streams over tables run as batches."""
    small = SmallPipeline(folder, spark, source)
    small.pipeline.configuration[SETTING] = "true"
    return small


def test_whichever_runs_when_the_tables_are_the_same(spark: SparkSession, tmp_path: Path) -> None:
    random, small = Random(SEED), made(tmp_path, spark, CHAIN)
    dropped: list[tuple[int, str]] = []
    for number in range(5):
        for _ in range(random.randint(0, 2)):
            rows = [(random.randint(1, 4), f"{len(dropped):03} {random.choice('aabcd')} cc") for _ in range(2)]
            small.drop(*({"id": key, "name": name} for key, name in rows))
            dropped += rows
        small.pipeline.configuration[SETTING] = "true" if number in (1, 2) else random.choice(("true", "false"))
        small.pipeline.run()
        words = sorted((key, word) for key, name in dropped for word in name.split())
        seed = f"TABLE_BATCHES_SEED={SEED}, update {number}"
        assert sorted((row["id"], row["name"]) for row in small.table("words")) == words, seed
        expected = [(key, word) for key, word in words if len(word) > 1]
        assert sorted((row["id"], row["name"]) for row in small.table("long_words")) == expected, seed
        assert [row["id"] for row in small.table("only_a")] == [key for key, word in words if word == "a"], seed
        assert {row["id"]: row["name"] for row in small.table("latest")} == {
            key: max(name for other, name in dropped if other == key) for key, _ in dropped
        }, seed


def test_a_batch_is_what_runs(spark: SparkSession, tmp_path: Path) -> None:
    small = made(tmp_path, spark, CHAIN)
    for number in range(2):
        small.drop({"id": number, "name": "a bb"})
        small.pipeline.run()
    for dataset in ("words", "long_words", "latest"):
        assert last_batch(small, dataset) == (1, False)
    small.pipeline.configuration[SETTING] = "false"
    small.drop({"id": 3, "name": "a bb"})
    small.pipeline.run()
    for dataset in ("words", "long_words", "latest"):
        assert last_batch(small, dataset) == (2, True)


def _settings(small: SmallPipeline) -> tuple[str, ...]:
    return tuple(part for key, value in small.pipeline.configuration.items() for part in ("--set", f"{key}={value}"))


@pytest.mark.parametrize("fault", ["batch.begun", "batch.written:2"])
def test_a_batch_that_was_killed_is_written_once(spark: SparkSession, tmp_path: Path, fault: str) -> None:
    small = made(tmp_path, spark, CHAIN)
    for number, is_killed in enumerate((True, False, True, False)):
        small.drop({"id": number, "name": "a bb"}, {"id": number, "name": "b"})
        if is_killed:
            die_at(small.file, small.folder / "storage", fault, _settings(small))
        else:
            small.pipeline.run()
    assert [row["id"] for row in small.table("words")] == [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3]
    assert [row["id"] for row in small.table("long_words")] == [0, 1, 2, 3]
    assert [row["id"] for row in small.table("only_a")] == [0, 1, 2, 3]
    assert len(small.table("latest")) == 4


def test_a_batch_without_rows_is_not_written(spark: SparkSession, tmp_path: Path) -> None:
    small = made(tmp_path, spark, CHAIN)
    small.drop({"id": 1, "name": "a"})
    small.pipeline.run()
    small.drop({"id": 2, "name": "b"})
    (metrics,) = small.pipeline.run()["default.only_a"].flows.values()
    assert (metrics.batches, metrics.num_output_rows) == (1, 0)
    assert last_batch(small, "only_a") == (1, False)
    # Its creation, and the batch with a row.
    assert small.versions()["default/only_a"] == 2


@pytest.mark.parametrize("fault", ["batch.begun:3", "batch.written:3"])
def test_a_batch_without_rows_that_was_killed_is_passed_over_once(
    spark: SparkSession, tmp_path: Path, fault: str
) -> None:
    small = made(tmp_path, spark, CHAIN)
    small.drop({"id": 1, "name": "a"})
    small.pipeline.run()
    small.drop({"id": 2, "name": "b"})
    die_at(small.file, small.folder / "storage", fault, _settings(small))
    small.pipeline.run()
    small.drop({"id": 3, "name": "b a"}, {"id": 4, "name": "b"})
    small.pipeline.run()
    assert [row["id"] for row in small.table("only_a")] == [1, 3]
    assert [row["id"] for row in small.table("words")] == [1, 2, 3, 3, 4]


ONLY_A_STREAMING_QUERY = {
    "the time": "spark.readStream.table('raw').selectExpr('id', 'current_timestamp() IS NOT NULL AS is_late')",
    "state": "spark.readStream.table('raw').dropDuplicates(['id', 'name'])",
    "another order": "spark.readStream.option('maxFilesPerTrigger', 1).table('raw')",
    "two tables": "spark.readStream.table('raw').union(spark.readStream.table('raw')).dropDuplicates(['id', 'name'])",
    "partitions": "spark.readStream.table('parted')",
}


def test_what_only_a_streaming_query_can_do_is_left_to_it(spark: SparkSession, tmp_path: Path) -> None:
    flows = "".join(
        f"""
    @dlt.table(name="{name.replace(" ", "_")}")
    def query():
        return {query}
    """
        for name, query in ONLY_A_STREAMING_QUERY.items()
    )
    parted = """
    @dlt.table(partition_cols=["id"])
    def parted():
        return spark.readStream.table("raw")
    """
    small = made(tmp_path, spark, CHAIN + parted + flows)
    for number in range(2):
        small.drop({"id": 2 * number, "name": "a"}, {"id": 2 * number + 1, "name": "b"})
        small.pipeline.run()
    for name in ONLY_A_STREAMING_QUERY:
        table = name.replace(" ", "_")
        assert [row["id"] for row in small.table(table)] == [0, 1, 2, 3], name
        assert last_batch(small, table)[1], name


def test_commits_that_do_more_than_add_rows_are_left_to_a_streaming_query(spark: SparkSession, tmp_path: Path) -> None:
    small = made(tmp_path, spark, CHAIN)
    small.drop({"id": 1, "name": "aa"}, {"id": 2, "name": "bb"})
    small.pipeline.run()
    table = next((small.folder / "storage/tables").glob("*/raw"))
    spark.sql(f"ALTER TABLE delta.`{table}` SET TBLPROPERTIES ('some.note' = 'x')")
    small.drop({"id": 3, "name": "cc"})
    small.pipeline.run()
    assert last_batch(small, "words") == (1, True)
    small.drop({"id": 4, "name": "dd"})
    spark.sql(f"OPTIMIZE delta.`{table}`")
    small.pipeline.run()
    # A compacted file adds no rows.
    assert last_batch(small, "words") == (2, False)
    assert [row["id"] for row in small.table("words")] == [1, 2, 3, 4]
