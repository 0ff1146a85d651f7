"""The log of the auxiliary state: what counts, whatever was interrupted, and rows of several schemas."""

from pathlib import Path

import pytest
from pyspark.sql import Row, SparkSession

from dlt_local.auto_cdc import log
from dlt_local.auto_cdc.log import Log
from dlt_local.delta.transaction import TransactionId

FIRST, SECOND, OTHER = TransactionId("flow", 0), TransactionId("flow", 1), TransactionId("other", 0)


@pytest.fixture
def stored(tmp_path: Path) -> Log:
    return Log(tmp_path / "log")


class _Interrupted(Exception):
    pass


def _interrupt(*_: object) -> None:
    raise _Interrupted


def _rows(spark: SparkSession, stored: Log, *without: TransactionId) -> list[tuple[object, ...]]:
    frame = stored.read(spark, without)
    return [] if frame is None else sorted(tuple(row) for row in frame.collect())


def test_batches_are_appended(spark: SparkSession, stored: Log) -> None:
    assert stored.read(spark) is None
    for number, batch in enumerate((FIRST, SECOND, OTHER)):
        stored.append(spark.range(number, number + 1), batch)
    assert _rows(spark, stored) == [(0,), (1,), (2,)]
    assert _rows(spark, stored, SECOND) == [(0,), (2,)]
    assert stored.growth() == log.Growth(before=1, rows=2, parts=2)


def test_another_attempt_adds_to_the_first_or_supersedes_it(spark: SparkSession, stored: Log) -> None:
    stored.append(spark.range(1), FIRST)
    stored.append(spark.range(1, 2), FIRST)
    assert _rows(spark, stored) == [(0,), (1,)]
    for start in (5, 6, 7):
        stored.append(spark.range(start, start + 1), FIRST, supersede=True)
    stored.append(spark.range(9, 10), TransactionId("flow", 10))
    assert _rows(spark, stored) == [(7,), (9,)]
    assert _rows(spark, stored, FIRST) == [(9,)]


def test_an_attempt_that_was_interrupted_before_it_was_listed_counts_for_nothing(
    spark: SparkSession, stored: Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored.append(spark.range(1), FIRST)
    with monkeypatch.context() as context:
        context.setattr(log, "write_json", _interrupt)
        with pytest.raises(_Interrupted):
            stored.append(spark.range(5), SECOND)
        with pytest.raises(_Interrupted):
            stored.compact(spark.range(5))
    assert _rows(spark, stored) == [(0,)]
    stored.append(spark.range(3, 4), SECOND)
    assert _rows(spark, stored) == [(0,), (3,)]


def test_compaction_leaves_no_other_file(spark: SparkSession, stored: Log) -> None:
    for batch in (FIRST, SECOND, OTHER):
        stored.append(spark.range(1), batch)
    stored.compact(spark.range(2))
    assert _rows(spark, stored) == [(0,), (1,)]
    assert {path.name for path in stored.folder.iterdir()} == {"all-1", "parts.json"}
    assert stored.growth() == log.Growth(before=2, rows=0, parts=0)


def test_compaction_keeps_the_parts_of_an_interrupted_batch(spark: SparkSession, stored: Log) -> None:
    stored.append(spark.range(1), FIRST)
    stored.append(spark.createDataFrame([(7, "x")], "id BIGINT, b STRING"), SECOND)
    stored.compact(spark.range(5, 6), keep=[SECOND])
    assert _rows(spark, stored, SECOND) == [(5,)]
    assert _rows(spark, stored) == [(5, None), (7, "x")]


def test_parts_with_other_columns_are_read_together(spark: SparkSession, stored: Log) -> None:
    stored.append(spark.createDataFrame([Row(key=1, row=Row(a=1))]), FIRST)
    stored.append(spark.createDataFrame([Row(key=2, row=Row(a=2, b="x"))]), SECOND)
    frame = stored.read(spark)
    assert frame is not None
    assert sorted(frame.select("key", "row.a", "row.b").collect()) == [(1, 1, None), (2, 2, "x")]


def test_a_log_of_an_earlier_version_is_taken_over(spark: SparkSession, stored: Log) -> None:
    spark.range(3).write.format("delta").save(str(stored.folder))
    assert _rows(spark, stored) == [(0,), (1,), (2,)]
    stored.append(spark.range(3, 4), TransactionId("flow", 9))
    assert _rows(spark, stored) == [(0,), (1,), (2,), (3,)]
    assert not list(stored.folder.glob("*.parquet"))
    assert not (stored.folder / "_delta_log").exists()
