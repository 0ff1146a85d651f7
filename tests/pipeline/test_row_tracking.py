"""Row tracking, which the bundle sets for workspaces, changes no row of any table."""

from pathlib import Path

from pyspark.sql import SparkSession
from tests.support.cdc_pipeline import CdcPipeline
from tests.support.records import Topic

ORDERS = Topic("p.shop.dbo.orders", key=("id",))
CONF = {
    "connectors/shop.yml": "kind: sqlserver\ntopic_prefix: p\n",
    "tables/shop/orders.yml": "table: shop.dbo.orders\nkey: [id]\ncolumns: {id: int not null, total: int}\n",
}
UPDATES = (
    [ORDERS.create(id=1, total=1).at("2f:1:1"), ORDERS.create(id=2, total=2).at("2f:2:1")],
    [ORDERS.update(id=1, total=10).at("30:1:1"), ORDERS.delete(id=2, total=2).at("30:2:1")],
    # Late: between two versions that are there.
    [ORDERS.update(id=1, total=5).at("2f:3:1"), ORDERS.create(id=3, total=3).at("31:1:1")],
)


def test_versions_with_row_tracking_are_the_versions_without(spark: SparkSession, tmp_path: Path) -> None:
    shops = {tracked: CdcPipeline(tmp_path / tracked, spark, CONF) for tracked in ("false", "true")}
    for tracked, shop in shops.items():
        for records in UPDATES:
            shop.deliver(records)
            shop.update(row_tracking=tracked)
    gold = [
        shop.rows("gold.orders_history", "id", "total", "version", "is_current", row_tracking=tracked)
        for tracked, shop in shops.items()
    ]
    assert gold[0] == gold[1]
    assert sorted(row[:3] for row in gold[1]) == [(1, 1, 1), (1, 5, 2), (1, 10, 3), (2, 2, 1), (3, 3, 1)]
    detail = spark.sql(f"DESCRIBE DETAIL delta.`{shops['true'].folder}/storage/tables/silver/orders`").first()
    assert detail is not None
    assert detail["properties"]["delta.enableRowTracking"] == "true"
