"""A large target is changed by a list of its keys where they can be listed, and merged into where not."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from datetime import date
from decimal import Decimal
from pathlib import Path
from threading import Barrier, BrokenBarrierError
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType
from tests.support.delta_history import commits
from tests.support.small_pipeline import SmallPipeline

from dlt_local.auto_cdc import key_list, target
from dlt_local.auto_cdc.names import KEY
from dlt_local.auto_cdc.target import Difference, Target
from dlt_local.spark.conf_overrides import overridden

_LEAST, _GREATEST = -(2**63), 2**63 - 1


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(target, "REWRITTEN_SHARE", sys.maxsize)
    monkeypatch.setattr(target, "LARGE", 0)


def _write(spark: SparkSession, path: Path, keys: str, rows: Sequence[tuple[Any, ...]]) -> Target:
    schema = StructType.fromDDL(f"{keys}, value string")
    frame = spark.createDataFrame([(*row, "old") for row in rows], schema)
    frame.write.format("delta").option("delta.enableDeletionVectors", "true").save(str(path))
    return Target(path, tuple(schema.names[:-1]))


def _difference(spark: SparkSession, of: Target, keys: str, rows: Sequence[tuple[tuple[Any, ...], bool]]) -> Difference:
    schema = StructType.fromDDL(f"key struct<{keys}>, is_put boolean")
    source = spark.createDataFrame(rows, schema).withColumnRenamed("key", KEY)
    return Difference(
        source,
        rows=len(rows),
        on=(),
        among="TRUE",
        values={**{key: F.col(f"s.{KEY}.{key}") for key in of.keys}, "value": F.lit("new")},
        is_put=F.col("s.is_put"),
        is_new=F.lit(False),
        changes=None,
    )


def _operation(table: Path, commit: int) -> str:
    return commits(table)[commit]["operation"]


@pytest.mark.parametrize(
    ("keys", "five", "operation"),
    [
        ("a bigint", [(_LEAST,), (_GREATEST,), (0,), (7,), (-7,)], "WRITE"),
        ("a string", [("",), ("ä,\n€ 😀",), ("x",), (" x",), ('"',)], "WRITE"),
        ("a string", [("it's",), ("a\\b",), ("${user.home}",), ("x",), ("y",)], "MERGE"),
        ("a string, b string", [("a,1", "b"), ("a", "1,b"), ("", "a,b"), ("a,b", ""), ("a", "b")], "WRITE"),
        ("a int, b date", [(n, date(2026, 3, n)) for n in range(1, 6)], "WRITE"),
        ("a decimal(9,2)", [(Decimal(n) / 4,) for n in range(5)], "WRITE"),
        ("a boolean, b int", [(n % 2 == 0, n) for n in range(5)], "WRITE"),
        ("a double", [(0.5,), (1.5,), (-1.5,), (2.5,), (3.5,)], "MERGE"),
    ],
)
def test_a_large_target_is_changed_in_one_commit(
    spark: SparkSession, tmp_path: Path, large: None, keys: str, five: list[tuple[Any, ...]], operation: str
) -> None:
    updated, removed, added, kept, not_there = five
    table = _write(spark, tmp_path / "table", keys, [updated, removed, kept])
    told = [(updated, True), (added, True), (removed, False), (not_there, False)]
    assert table.change(_difference(spark, table, keys, told)) == (2, 1)
    assert _operation(table.path, 1) == operation
    expected = [(*updated, "new"), (*added, "new"), (*kept, "old")]
    assert sorted(map(tuple, table.read(spark).collect()), key=repr) == sorted(expected, key=repr)


def test_too_many_keys_are_merged(
    spark: SparkSession, tmp_path: Path, large: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(key_list, "LISTED", 1)
    table = _write(spark, tmp_path / "table", "a int", [(1,), (2,)])
    assert table.change(_difference(spark, table, "a int", [((1,), True), ((2,), False)])) == (1, 1)
    assert _operation(table.path, 1) == "MERGE"
    assert table.read(spark).collect() == [(1, "new")]


def test_delta_checks_what_others_replace_afterwards(spark: SparkSession, tmp_path: Path, large: None) -> None:
    table = _write(spark, tmp_path / "table", "a int", [(1,), (2,)])
    table.change(_difference(spark, table, "a int", [((1,), True)]))
    other = table.read(spark).limit(0).unionByName(spark.createDataFrame([(9, "other")], "a int, value string"))
    with pytest.raises(Exception, match="DELTA_REPLACE_WHERE_MISMATCH"):
        other.write.format("delta").mode("overwrite").option("replaceWhere", "a = 1").save(str(table.path))


_VERSIONS = """
    import dlt

    @dlt.view
    def changes():
        schema = "id INT, at STRUCT<commit: INT, change: INT>, name STRING"
        return spark.readStream.schema(schema).json(spark.conf.get("rows"))

    dlt.create_streaming_table("versions")
    dlt.apply_changes(target="versions", source="changes", keys=["id"], sequence_by="at", column_list=["id", "name"],
                      stored_as_scd_type=2)
"""


def _change(id: int, at: int, name: str) -> dict[str, object]:
    return {"id": id, "at": {"commit": at, "change": 0}, "name": name}


@pytest.mark.parametrize(
    ("later", "operation", "expected"),
    [
        # What is new to its key, though others are further on, as it comes from a topic of several partitions.
        (_change(2, 4, "d"), "WRITE", [(1, "a", 1, 5), (1, "b", 5, None), (2, "c", 2, 4), (2, "d", 4, None)]),
        (_change(1, 3, "d"), "MERGE", [(1, "a", 1, 3), (1, "b", 5, None), (1, "d", 3, 5), (2, "c", 2, None)]),
    ],
)
def test_open_versions_are_replaced_by_key_and_ended_ones_are_merged(
    spark: SparkSession,
    tmp_path: Path,
    large: None,
    later: dict[str, object],
    operation: str,
    expected: list[tuple[int, str, int, int | None]],
) -> None:
    pipeline = SmallPipeline(tmp_path, spark, _VERSIONS)
    pipeline.drop(_change(1, 1, "a"), _change(1, 5, "b"), _change(2, 2, "c"))
    pipeline.pipeline.run()
    pipeline.drop(later)
    pipeline.pipeline.run()
    path = pipeline.pipeline.storage.root / "tables" / "default" / "versions"
    assert _operation(path, -1) == operation
    versions = [
        (row["id"], row["name"], row["__START_AT"]["commit"], (row["__END_AT"] or {}).get("commit"))
        for row in pipeline.table("versions")
    ]
    assert sorted(versions) == expected


def test_flows_that_share_a_session_write_one_at_a_time(
    spark: SparkSession, tmp_path: Path, large: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    two, met = Barrier(2), []

    @contextmanager
    def observed(session: SparkSession, settings: Mapping[str, str]) -> Iterator[None]:
        with overridden(session, settings):
            # Breaks where nobody else comes in while one waits inside.
            with suppress(BrokenBarrierError):
                two.wait(timeout=3)
                met.append(True)
            yield

    monkeypatch.setattr(target, "overridden", observed)
    tables = [_write(spark, tmp_path / str(number), "a int", [(1,), (2,)]) for number in range(3)]
    with ThreadPoolExecutor() as pool:
        changed = pool.map(lambda each: each.change(_difference(spark, each, "a int", [((1,), True)])), tables)
        assert list(changed) == [(1, 0)] * 3
    assert not met
    assert not [name for name in target._UNCHECKED if spark.conf.get(name, None) is not None]
