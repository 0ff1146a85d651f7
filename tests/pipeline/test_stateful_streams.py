"""Streams with state: aggregations, joins, deduplication, groups; over several updates, and over a retried batch."""

import gzip
import json
import random
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.support.crash import die_at
from tests.support.small_pipeline import SmallPipeline

from dlt_local import UpdateFailed

EVENTS = """
from pyspark import pipelines as dp
from pyspark.sql import functions as F

def events(folder="rows"):
    return spark.readStream.schema("id INT, name STRING, at TIMESTAMP").json(spark.conf.get(folder))
"""
COUNTED = (
    EVENTS
    + """
@dp.table
@dp.expect_or_drop("named", "name IS NOT NULL")
def counted():
    return events().groupBy("name").count()

@dp.materialized_view
def names():
    return spark.read.table("counted").agg(F.sum("count").alias("rows"))
"""
)


def minute(number: int) -> str:
    return f"2026-01-01T00:{number:02}:00Z"


def event(id: int, name: str, at: int = 0) -> dict[str, object]:
    return {"id": id, "name": name, "at": minute(at)}


def test_an_aggregation_without_a_watermark_rewrites_its_table(spark: SparkSession, tmp_path: Path) -> None:
    small = SmallPipeline(tmp_path, spark, COUNTED)
    small.drop(event(1, "a"), event(2, "b"), {"id": 3})
    small.pipeline.run()
    assert small.table("counted") == [{"name": "a", "count": 1}, {"name": "b", "count": 1}]
    small.drop(event(4, "a"), event(5, "c"))
    # Between the table's commit and the checkpoint's: the batch comes again.
    die_at(small.file, small.pipeline.storage.root, "append.after", ("--set", f"rows={small.rows}"))
    counts = {"a": 2, "b": 1, "c": 1}
    assert {row["name"]: row["count"] for row in small.table("counted")} == counts
    small.pipeline.run()
    assert {row["name"]: row["count"] for row in small.table("counted")} == counts
    assert small.table("names") == [{"rows": 4}]
    small.drop(event(6, "b"))
    update = small.pipeline.run()
    assert update["default.counted"].flows["default.counted"].num_output_rows == 3
    counts = counts | {"b": 2}
    assert {row["name"]: row["count"] for row in small.table("counted")} == counts
    small.pipeline.run(full_refresh=["counted"])
    assert {row["name"]: row["count"] for row in small.table("counted")} == counts


def test_state_survives_batches_of_very_different_size(spark: SparkSession, tmp_path: Path) -> None:
    """The first batch is large enough to be given more shuffle partitions; its state must not be."""
    counted = COUNTED.replace('.schema("id', '.option("maxFilesPerTrigger", 1).schema("id')
    small = SmallPipeline(tmp_path, spark, counted.replace('groupBy("name")', 'groupBy(F.col("id").alias("name"))'))
    seeded = random.Random(1)
    large = [{"id": number % 50, "name": str(seeded.random())} for number in range(100_000)]
    with gzip.open(small.rows / "0000.json.gz", "wt") as file:
        file.writelines(json.dumps(row) + "\n" for row in large)
    small.drop(*({"id": id} for id in range(50)))
    small.drop(*({"id": id} for id in range(50)))
    small.pipeline.run()
    assert (small.rows / "0000.json.gz").stat().st_size > 1024 * 1024
    assert {row["count"] for row in small.table("counted")} == {2002}
    assert small.table("names") == [{"rows": 50 * 2002}]


STATEFUL = (
    EVENTS
    + """
from pyspark.sql.streaming import StatefulProcessor
from pyspark.sql.streaming.state import GroupStateTimeout

def watermarked(folder="rows"):
    return events(folder).withWatermark("at", "5 minutes")

@dp.table
def windows():
    counted = watermarked().groupBy(F.window("at", "10 minutes").alias("w"), "name").count()
    return counted.select("w.start", "name", "count")

@dp.table
def latest_ids():
    return watermarked().dropDuplicatesWithinWatermark(["id"])

@dp.table
def matched():
    left, right = watermarked().alias("l"), watermarked("other").alias("r")
    near = F.expr("l.id = r.id AND r.at BETWEEN l.at AND l.at + INTERVAL 2 MINUTES")
    return left.join(right, near).selectExpr("l.id", "l.name", "r.name AS other")

@dp.materialized_view
def people():
    return spark.createDataFrame([("a", "Ada"), ("b", "Ben")], "name STRING, full STRING")

@dp.table
def named():
    return events().join(spark.read.table("people"), "name", "left").select("id", "full")

def total(key, frames, state):
    seen = (state.get[0] if state.exists else 0) + sum(len(frame) for frame in frames)
    state.update((seen,))
    import pandas
    yield pandas.DataFrame({"name": [key[0]], "seen": [seen]})

class Largest(StatefulProcessor):
    def init(self, handle):
        self.largest = handle.getValueState("largest", "id LONG")

    def handleInputRows(self, key, frames, timers):
        import pandas
        ids = [int(id) for frame in frames for id in frame["id"]]
        if self.largest.exists():
            ids.append(self.largest.get()[0])
        self.largest.update((max(ids),))
        yield pandas.DataFrame({"name": [key[0]], "largest": [max(ids)]})

    def close(self):
        pass

@dp.table
def largest():
    by_name = events().groupBy("name")
    return by_name.transformWithStateInPandas(Largest(), "name STRING, largest LONG", "append", "none")

@dp.table
def totals():
    by_name = events().groupBy("name")
    return by_name.applyInPandasWithState(
        total, "name STRING, seen LONG", "seen LONG", "append", GroupStateTimeout.NoTimeout
    )
"""
)


def test_streams_with_state_go_on_from_one_update_to_the_next(spark: SparkSession, tmp_path: Path) -> None:
    small = SmallPipeline(tmp_path, spark, STATEFUL)
    other = SmallPipeline(tmp_path / "of the other", spark, "")
    small.pipeline.configuration |= {"other": str(other.rows)}
    other.drop(event(1, "x", 1))
    small.drop(event(1, "a", 0), event(2, "b", 3), event(2, "b", 3))
    small.pipeline.run()
    small.drop(event(2, "b", 3), event(3, "a", 4), event(4, "a", 30))
    other.drop(event(3, "y", 5), event(4, "z", 59))
    small.pipeline.run()
    small.drop(event(5, "c", 31), event(6, "late", 1))
    other.drop(event(9, "w", 59))
    small.pipeline.run()
    assert sorted((row["name"], row["count"]) for row in small.table("windows")) == [("a", 2), ("b", 3)]
    assert sorted(row["id"] for row in small.table("latest_ids")) == [1, 2, 3, 4, 5]
    assert sorted((row["id"], row["name"], row["other"]) for row in small.table("matched")) == [
        (1, "a", "x"),
        (3, "a", "y"),
    ]
    assert sorted((row["id"], row["full"] or "") for row in small.table("named")) == [
        (1, "Ada"), (2, "Ben"), (2, "Ben"), (2, "Ben"), (3, "Ada"), (4, "Ada"), (5, ""), (6, ""),
    ]  # fmt: skip
    assert sorted((row["name"], row["largest"]) for row in small.table("largest")) == [
        ("a", 1), ("a", 4), ("b", 2), ("b", 2), ("c", 5), ("late", 6),
    ]  # fmt: skip
    assert sorted((row["name"], row["seen"]) for row in small.table("totals")) == [
        ("a", 1), ("a", 3), ("b", 2), ("b", 3), ("c", 1), ("late", 1),
    ]  # fmt: skip


REFUSED = {
    "array in the state": (
        "def keep(key, batches, state):\n    yield from batches\n\n@dp.table\ndef t():\n"
        '    return events().groupBy("name").applyInPandasWithState(\n'
        '        keep, "name STRING", "seen ARRAY<STRING>", "append", "NoTimeout")\n',
        r"STREAM_NOT_SUPPORTED .*\n.*`default.t` keeps an array(.|\n)*JSON text",
    ),
    "two flows": (
        'dp.create_streaming_table("t")\n\n@dp.append_flow(target="t")\ndef one():\n'
        '    return events().groupBy("name").count()\n\n@dp.append_flow(target="t")\ndef two():\n'
        '    return events().selectExpr("name", "1L AS count")\n',
        r"MIXED_FLOWS .*\n.*flow `one` rewrites default.t(.|\n)*watermark, or a table of its own",
    ),
    "streamed": (
        '@dp.table\ndef t():\n    return events().groupBy("name").count()\n\n'
        '@dp.table\ndef u():\n    return spark.readStream.table("t")\n',
        r"STREAMING_READ_OF_CHANGING_TABLE .*\n.*streams from default.t, an aggregation without a watermark",
    ),
    "sorted": (
        '@dp.table\ndef t():\n    return events().orderBy("id")\n',
        r"STREAM_NOT_SUPPORTED .*\n.*`default.t`.*Sorting is not supported(.|\n)*materialized view",
    ),
    "outer join": (
        '@dp.table\ndef t():\n    return events().join(events(), "id", "left")\n',
        r"STREAM_NOT_SUPPORTED .*\n.*`default.t`.*LeftOuter",
    ),
    "sink": (
        'dp.create_sink("s", "delta", {"path": "/nowhere"})\n\n@dp.append_flow(target="s")\ndef to_s():\n'
        '    return events().groupBy("name").count()\n',
        r"STREAM_NOT_SUPPORTED .*\n.*`(default\.)?to_s`(.|\n)*withWatermark",
    ),
    "changes": (
        '@dp.temporary_view\ndef v():\n    return events().groupBy("name").count()\n\n'
        'dp.create_streaming_table("t")\ndp.create_auto_cdc_flow("t", "v", ["name"], "count")\n',
        r"STREAM_NOT_SUPPORTED .*\n(.|\n)*withWatermark",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_stream_that_spark_cannot_run_is_refused_before_anything_is_written(
    spark: SparkSession, tmp_path: Path, case: str
) -> None:
    source, message = REFUSED[case]
    small = SmallPipeline(tmp_path, spark, EVENTS + "\n" + source)
    small.drop(event(1, "a"))
    with pytest.raises(UpdateFailed, match=message):
        small.pipeline.run()
    assert small.versions() == {}


def test_sql_streams_with_a_watermark(spark: SparkSession, tmp_path: Path) -> None:
    small = SmallPipeline(tmp_path, spark, EVENTS + "\n@dp.table\ndef raw():\n    return events()\n")
    (tmp_path / "windows.sql").write_text(
        "CREATE STREAMING TABLE windows AS SELECT window(at, '10 minutes').start AS start, count(*) AS n\n"
        "FROM STREAM(raw) WATERMARK at DELAY OF INTERVAL 5 MINUTES GROUP BY window(at, '10 minutes');\n"
        "CREATE STREAMING TABLE counted AS SELECT name, count(*) AS n FROM STREAM raw GROUP BY name;\n"
    )
    small.pipeline.sources += (str(tmp_path / "windows.sql"),)
    small.drop(event(1, "a", 0), event(2, "a", 1))
    small.pipeline.run()
    small.drop(event(3, "b", 40))
    small.pipeline.run()
    assert [row["n"] for row in small.table("windows")] == [2]
    assert {row["name"]: row["n"] for row in small.table("counted")} == {"a": 2, "b": 1}
