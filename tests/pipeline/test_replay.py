"""Rejects are decoded again with a fixed spec: `cdc.replay_rejects` names a replay, which takes each once."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from tests.support.cdc_pipeline import CdcPipeline
from tests.support.records import Topic

from cdc.replay import BadReplay, replay
from dlt_local.errors import LocalPipelineError

STRICT = """
    table: shop.dbo.orders
    key: [id]
    columns: {id: int, customer: nvarchar(20) not null, total: int}
"""
FIXED = STRICT.replace(" not null", "")
orders = Topic("shopserver.shop.dbo.orders")
RECORDS = (
    orders.create(id=1, customer=None, total=10).at("30:10:1"),
    orders.update(id=1, customer="Ada", total=20).at("30:20:1"),
    orders.create(id=2, customer=None, total=5).at("30:30:1"),
    orders.create(id=3, customer="Bob", total="many").at("30:40:1"),
    orders.tombstone(id=4),
)
Rows = list[tuple[Any, ...]]


@dataclass(frozen=True)
class Tables:
    """The tables of orders after an update."""

    changes: int
    ignored: int
    rejects: Rows
    current: Rows
    history: Rows
    still_rejected: Rows
    replayed: int


def replayed(pipeline: CdcPipeline, name: str) -> Tables:
    """Run a replay and read the tables."""
    pipeline.update(replay_rejects=name)
    return Tables(
        changes=len(pipeline.rows("silver.orders_changes", "1")),
        ignored=len(pipeline.rows("silver.orders_decoded", "1", where="_outcome = 'ignored'")),
        rejects=pipeline.rows("silver.orders_rejects", "offset", "reason"),
        current=pipeline.rows("gold.orders", "id", "customer", "total"),
        history=pipeline.rows("gold.orders_history", "id", "version", "total"),
        still_rejected=pipeline.rows("silver.orders_rejects_open", "offset", "reason"),
        replayed=len(pipeline.rows("silver.orders_replays", "1")),
    )


@pytest.fixture(scope="module")
def replays(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> tuple[Tables, Tables]:
    """The strict spec rejects three records; after its fix come a replay, one more reject, and another replay."""
    pipeline = CdcPipeline(tmp_path_factory.mktemp("replay"), spark, {"tables/shop/orders.yml": STRICT})
    pipeline.deliver(RECORDS)
    pipeline.update()
    pipeline.configure({"tables/shop/orders.yml": FIXED})
    first = replayed(pipeline, "first")
    pipeline.deliver([orders.create(id=5, customer="Eve", total="few").at("30:50:1")])
    return first, replayed(pipeline, "second")


def test_a_replay_decodes_each_reject_once(replays: tuple[Tables, Tables]) -> None:
    first, _ = replays
    assert first.rejects == [(0, "UNEXPECTED_NULL"), (2, "UNEXPECTED_NULL"), (3, "WRONG_TYPE")]
    assert (first.changes, first.ignored, first.replayed) == (3, 1, 3)
    assert first.current == [(1, "Ada", 20), (2, None, 5)]


def test_a_replayed_change_takes_its_place_in_the_history(replays: tuple[Tables, Tables]) -> None:
    first, _ = replays
    # The replayed insert comes before the update, though it was decoded last.
    assert first.history == [(1, 1, 10), (1, 2, 20), (2, 1, 5)]


def test_a_later_replay_reads_all_rejects_again_without_duplicates(replays: tuple[Tables, Tables]) -> None:
    first, second = replays
    assert (second.changes, second.ignored) == (3, 1)
    assert second.replayed == first.replayed + 4


def test_rejects_that_no_replay_could_decode_stay_open(replays: tuple[Tables, Tables]) -> None:
    first, second = replays
    assert first.still_rejected == [(3, "WRONG_TYPE")]
    assert second.still_rejected == [(3, "WRONG_TYPE"), (5, "WRONG_TYPE")]


@pytest.mark.parametrize("name", ["", "a b", "x" * 61, "ü"])
def test_a_replay_with_an_unusable_name_is_refused(spark: SparkSession, name: str) -> None:
    spark.conf.set("cdc.replay_rejects", name)
    try:
        with pytest.raises(BadReplay, match=r"BAD_REPLAY_NAME  cdc\.replay_rejects"):
            replay(spark)
    finally:
        spark.conf.unset("cdc.replay_rejects")


def test_an_unusable_name_ends_the_update_before_anything_is_written(tmp_path: Path, spark: SparkSession) -> None:
    pipeline = CdcPipeline(tmp_path, spark, {"tables/shop/orders.yml": STRICT})
    with pytest.raises(LocalPipelineError, match="no earlier replay"):
        pipeline.update(replay_rejects="a b")
    assert not (tmp_path / "storage" / "tables").exists()
