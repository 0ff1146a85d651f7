"""Rejects after a fix of the spec: through decoding again by `cdc.replay_rejects`, each once."""

from pathlib import Path

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
MENDED = STRICT.replace(" not null", "")
orders = Topic("shopserver.shop.dbo.orders")
RECORDS = (
    orders.create(id=1, customer=None, total=10).at("30:10:1"),
    orders.update(id=1, customer="Ada", total=20).at("30:20:1"),
    orders.create(id=2, customer=None, total=5).at("30:30:1"),
    orders.create(id=3, customer="Bob", total="many").at("30:40:1"),
    orders.tombstone(id=4),
)


def shop(folder: Path, spark: SparkSession) -> CdcPipeline:
    """Five records: two rejected by the strict spec only, one by both."""
    pipeline = CdcPipeline(folder, spark, {"tables/shop/orders.yml": STRICT})
    pipeline.deliver(RECORDS)
    pipeline.update()
    assert pipeline.rows("silver.orders_rejects", "offset", "reason") == [
        (0, "UNEXPECTED_NULL"),
        (2, "UNEXPECTED_NULL"),
        (3, "WRONG_TYPE"),
    ]
    return pipeline


def counts(pipeline: CdcPipeline, name: str) -> tuple[int, int, int]:
    """Changes, rejects still open, ignored."""
    changes = len(pipeline.rows("silver.orders_changes", "1"))
    still_open = len(pipeline.rows("silver.orders_rejects_open", "1", replay_rejects=name))
    return changes, still_open, len(pipeline.rows("silver.orders_decoded", "1", where="_outcome = 'ignored'"))


def test_a_replay_takes_each_reject_through_once(tmp_path: Path, spark: SparkSession) -> None:
    pipeline = shop(tmp_path, spark)
    pipeline.configure({"tables/shop/orders.yml": MENDED})
    pipeline.update(replay_rejects="first")
    assert counts(pipeline, "first") == (3, 1, 1)
    assert pipeline.rows("gold.orders", "id", "customer", "total") == [(1, "Ada", 20), (2, None, 5)]
    # The replayed create came first, though it was decoded last.
    assert pipeline.rows("gold.orders_history", "id", "version", "total") == [(1, 1, 10), (1, 2, 20), (2, 1, 5)]

    # The next replay reads all rejects again, those that have become changes too.
    pipeline.deliver([orders.create(id=5, customer="Eve", total="few").at("30:50:1")])
    pipeline.update(replay_rejects="second")
    assert counts(pipeline, "second") == (3, 2, 1)
    assert pipeline.rows("silver.orders_rejects_open", "offset", "reason", replay_rejects="second") == [
        (3, "WRONG_TYPE"),
        (5, "WRONG_TYPE"),
    ]
    assert len(pipeline.rows("silver.orders_replays", "1", replay_rejects="second")) == 3 + 4


@pytest.mark.parametrize("name", ["", "a b", "x" * 61, "ü"])
def test_a_replay_has_a_plain_name(spark: SparkSession, name: str) -> None:
    spark.conf.set("cdc.replay_rejects", name)
    try:
        with pytest.raises(BadReplay, match=r"cdc\.replay_rejects is"):
            replay(spark)
    finally:
        spark.conf.unset("cdc.replay_rejects")


def test_a_bad_name_ends_the_update_before_anything_is_written(tmp_path: Path, spark: SparkSession) -> None:
    pipeline = CdcPipeline(tmp_path, spark, {"tables/shop/orders.yml": STRICT})
    with pytest.raises(LocalPipelineError, match="no earlier replay"):
        pipeline.update(replay_rejects="a b")
    assert not (tmp_path / "storage" / "tables").exists()
