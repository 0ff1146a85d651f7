"""The shop fed by a real Kafka: every table has the same rows as from capture files."""

import pytest
from demo import feeds
from pyspark.sql import SparkSession
from tests.support.shop_model import CAPTURES, STAGES
from tests.support.shop_pipeline import Shop, StagedShop, Tables, difference


@pytest.fixture(scope="module")
def from_kafka(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Tables:
    """The tables after two updates from a broker."""
    first, *others = (CAPTURES / f"{stage}.jsonl" for stage in STAGES)
    with feeds.kafka() as broker:
        shop = Shop(tmp_path_factory.mktemp("kafka"), spark, other_feed=broker)
        shop.update(first)
        shop.update(*others)
        assert not (shop.folder / "landing").exists()
        return shop.tables()


def test_every_table_has_the_same_rows_as_from_capture_files(staged_shop: StagedShop, from_kafka: Tables) -> None:
    assert not difference(staged_shop.tables, from_kafka)


def test_bronze_keeps_headers_null_keys_and_tombstones(from_kafka: Tables) -> None:
    orders = {row["offset"]: row for row in from_kafka["bronze.orders"]}
    moved = [row for row in orders.values() if row["headers"]]
    assert {header["key"] for row in moved for header in row["headers"]} >= {
        "__debezium.newkey",
        "__debezium.oldkey",
    }
    assert sum(row["value"] is None for row in orders.values()) == 10
    assert orders[114]["key"] is None
