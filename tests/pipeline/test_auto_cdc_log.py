"""The log in which APPLY CHANGES remembers: each batch once, whatever was cut off, and rows of several schemas."""

from pathlib import Path

import pytest
from pyspark.sql import Row, SparkSession

from dlt_local.auto_cdc import log
from dlt_local.auto_cdc.log import Log


@pytest.fixture
def kept(tmp_path: Path) -> Log:
    return Log(tmp_path / "log")


class _CutOff(Exception):
    pass


def _cut_off(*_: object) -> None:
    raise _CutOff


def _rows(spark: SparkSession, kept: Log) -> list[tuple[object, ...]]:
    frame = kept.read(spark)
    return [] if frame is None else sorted(tuple(row) for row in frame.collect())


def test_a_batch_is_added_once_however_often_it_is_tried(spark: SparkSession, kept: Log) -> None:
    assert kept.read(spark) is None
    for number in (0, 0, 1, 0, 1):
        kept.append(spark.range(number, number + 1), ("flow", number))
    kept.append(spark.range(7, 8), ("other", 0))
    assert _rows(spark, kept) == [(0,), (1,), (7,)]
    assert kept.growth() == log.Growth(before=1, rows=2, parts=2)


def test_a_try_that_was_cut_off_before_it_was_listed_counts_for_nothing(
    spark: SparkSession, kept: Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept.append(spark.range(1), ("flow", 0))
    with monkeypatch.context() as context:
        context.setattr(log, "write_json", _cut_off)
        with pytest.raises(_CutOff):
            kept.append(spark.range(5), ("flow", 1))
        with pytest.raises(_CutOff):
            kept.replace(spark.range(5))
    assert _rows(spark, kept) == [(0,)]
    kept.append(spark.range(3, 4), ("flow", 1))
    assert _rows(spark, kept) == [(0,), (3,)]


def test_a_replacement_leaves_no_other_file(spark: SparkSession, kept: Log) -> None:
    for number in range(3):
        kept.append(spark.range(1), ("flow", number))
    kept.replace(spark.range(2))
    kept.append(spark.range(1), ("flow", 2))
    assert _rows(spark, kept) == [(0,), (1,)]
    assert {path.name for path in kept.folder.iterdir()} == {"all-1", "parts.json"}
    assert kept.growth() == log.Growth(before=2, rows=0, parts=0)


def test_parts_with_other_columns_are_read_together(spark: SparkSession, kept: Log) -> None:
    kept.append(spark.createDataFrame([Row(key=1, row=Row(a=1))]), ("flow", 0))
    kept.append(spark.createDataFrame([Row(key=2, row=Row(a=2, b="x"))]), ("flow", 1))
    frame = kept.read(spark)
    assert frame is not None
    assert sorted(frame.select("key", "row.a", "row.b").collect()) == [(1, 1, None), (2, 2, "x")]


def test_a_log_of_an_earlier_version_is_taken_over(spark: SparkSession, kept: Log) -> None:
    spark.range(3).write.format("delta").save(str(kept.folder))
    assert _rows(spark, kept) == [(0,), (1,), (2,)]
    kept.append(spark.range(3, 4), ("flow", 9))
    assert _rows(spark, kept) == [(0,), (1,), (2,), (3,)]
    assert not list(kept.folder.glob("*.parquet"))
    assert not (kept.folder / "_delta_log").exists()
