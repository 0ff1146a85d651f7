"""The key-list writer changes a large target in one commit, or leaves it to MERGE where keys cannot be listed."""

import sys
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import date
from decimal import Decimal
from functools import partial
from pathlib import Path
from threading import Barrier, BrokenBarrierError
from typing import Any

import pytest
from pyspark.sql import SparkSession
from tests.support.delta_history import commits
from tests.support.row_changes import row_changes, stored_target
from tests.support.small_pipeline import SmallPipeline

from dlt_local.auto_cdc import strategies, writers
from dlt_local.auto_cdc.strategies import ChangeStatistics, Strategies, Thresholds, Writer, choose_writer
from dlt_local.auto_cdc.writers import Written
from dlt_local.spark.conf_overrides import overridden

_LEAST, _GREATEST = -(2**63), 2**63 - 1
AS_LARGE = partial(choose_writer, thresholds=Thresholds(rewritten_share=sys.maxsize, small_bytes=-1, large_bytes=0))


def _operation(table: Path, commit: int) -> str:
    return commits(table)[commit]["operation"]


@pytest.mark.parametrize("writer", [writers.replace_keys, writers.rewrite, writers.merge])
@pytest.mark.parametrize(
    ("keys", "five"),
    [
        ("a bigint", [(_LEAST,), (_GREATEST,), (0,), (7,), (-7,)]),
        ("a string", [("",), ("ä,\n€ 😀",), ("x",), (" x",), ('"',)]),
        ("a string, b string", [("a,1", "b"), ("a", "1,b"), ("", "a,b"), ("a,b", ""), ("a", "b")]),
        ("a int, b date", [(n, date(2026, 3, n)) for n in range(1, 6)]),
        ("a decimal(9,2)", [(Decimal(n) / 4,) for n in range(5)]),
        ("a boolean, b int", [(n % 2 == 0, n) for n in range(5)]),
    ],
)
def test_every_writer_leaves_the_same_rows(
    spark: SparkSession, tmp_path: Path, keys: str, five: list[tuple[Any, ...]], writer: Callable[..., Written]
) -> None:
    updated, removed, added, untouched, missing = five
    target = stored_target(spark, tmp_path / "table", keys, [updated, removed, untouched])
    changes = row_changes(spark, target, keys, [(updated, True), (added, True), (removed, False), (missing, False)])
    assert writer(changes, target) == Written(2, 1)
    assert len(commits(target.path)) == 2
    expected = [(*updated, "new"), (*added, "new"), (*untouched, "old")]
    assert sorted(map(tuple, target.read(spark).collect()), key=repr) == sorted(expected, key=repr)


@pytest.mark.parametrize("key", ["it's", "a\\b", "${user.home}"])
def test_a_key_that_needs_escaping_is_not_listed(spark: SparkSession, tmp_path: Path, key: str) -> None:
    target = stored_target(spark, tmp_path / "table", "a string", [("x",)])
    assert writers.replace_keys(row_changes(spark, target, "a string", [((key,), True)]), target) is None
    assert len(commits(target.path)) == 1


@pytest.mark.parametrize(
    ("keys", "expected"),
    [("a int", Writer.KEY_LIST), ("a double", Writer.MERGE), ("a int, b timestamp", Writer.MERGE)],
)
def test_keys_of_inexact_text_are_merged(spark: SparkSession, tmp_path: Path, keys: str, expected: Writer) -> None:
    target = stored_target(spark, tmp_path / "table", keys, [])
    statistics = replace(target.statistics(), rows=1_000)
    assert AS_LARGE(ChangeStatistics(0, 1, 0, True), statistics) is expected


def test_delta_checks_later_writes_of_others(spark: SparkSession, tmp_path: Path) -> None:
    target = stored_target(spark, tmp_path / "table", "a int", [(1,), (2,)])
    writers.replace_keys(row_changes(spark, target, "a int", [((1,), True)]), target)
    other = target.read(spark).limit(0).unionByName(spark.createDataFrame([(9, "other")], "a int, value string"))
    with pytest.raises(Exception, match="DELTA_REPLACE_WHERE_MISMATCH"):
        other.write.format("delta").mode("overwrite").option("replaceWhere", "a = 1").save(str(target.path))


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
        # Newer than all of its key, though other keys are further on, as from a topic of several partitions.
        (_change(2, 4, "d"), "WRITE", [(1, "a", 1, 5), (1, "b", 5, None), (2, "c", 2, 4), (2, "d", 4, None)]),
        (_change(1, 3, "d"), "MERGE", [(1, "a", 1, 3), (1, "b", 5, None), (1, "d", 3, 5), (2, "c", 2, None)]),
    ],
)
def test_open_versions_are_replaced_by_key_and_ended_ones_are_merged(
    spark: SparkSession,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    later: dict[str, object],
    operation: str,
    expected: list[tuple[int, str, int, int | None]],
) -> None:
    monkeypatch.setattr(strategies, "DEFAULT", Strategies(writer=AS_LARGE))
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
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
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

    monkeypatch.setattr(writers, "overridden", observed)
    targets = [stored_target(spark, tmp_path / str(number), "a int", [(1,), (2,)]) for number in range(3)]
    changes = [row_changes(spark, target, "a int", [((1,), True)]) for target in targets]
    with ThreadPoolExecutor() as pool:
        assert list(pool.map(writers.replace_keys, changes, targets)) == [Written(1, 0)] * 3
    assert not met
    assert not [name for name in writers.UNCHECKED if spark.conf.get(name, None) is not None]
