"""The shop from a real Kafka: every table is, row for row, what the same captures give from files."""

from pathlib import Path

import pytest
from demo import feeds
from pyspark.sql import SparkSession
from tests.support.shop_model import CAPTURES, STAGES
from tests.support.shop_pipeline import Shop, StagedShop, Tables, difference


@pytest.fixture(scope="module")
def from_kafka(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Tables:
    """The tables after two updates that read from a broker."""
    first, *others = (CAPTURES / f"{stage}.jsonl" for stage in STAGES)
    with feeds.kafka() as broker:
        shop = Shop(tmp_path_factory.mktemp("kafka"), spark, other_feed=broker)
        shop.update(first)
        shop.update(*others)
        assert not _landing(shop).exists()
        return shop.tables()


def test_every_table_is_as_from_captures(staged_shop: StagedShop, from_kafka: Tables) -> None:
    assert not difference(staged_shop.tables, from_kafka)


def test_bronze_has_headers_keys_and_tombstones(from_kafka: Tables) -> None:
    orders = {row["offset"]: row for row in from_kafka["bronze.orders"]}
    moved = [row for row in orders.values() if row["headers"]]
    assert {header["key"] for row in moved for header in row["headers"]} >= {
        "__debezium.newkey",
        "__debezium.oldkey",
    }
    assert sum(row["value"] is None for row in orders.values()) == 10
    assert orders[114]["key"] is None


def _landing(shop: Shop) -> Path:
    return shop.folder / "landing"
