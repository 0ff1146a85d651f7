"""Names per layer: every dataset is where the specs and the pipeline's settings say, and a move loses no rows."""

from pathlib import Path

import pytest
from click.testing import CliRunner
from pyspark.sql import SparkSession
from tests.support.cdc_pipeline import CdcPipeline
from tests.support.records import Record, Topic

from cdc.__main__ import cdc
from dlt_local import UpdateFailed

ORDERS = Topic("shopserver.shop.dbo.orders")
TABLE = "table: shop.dbo.orders\nkey: [id]\ncolumns: {id: int, n: nvarchar(9)}\n"
CONF = {
    "defaults.yml": "target_schemas: {bronze: main.raw, gold: marts}\n",
    "connectors/shop.yml": "topic_prefix: shopserver\ntopics: {heartbeat: true}\n",
    "tables/shop/orders.yml": TABLE,
}
ALL = {"findings": "true", "gaps": "true", "replay_rejects": "1", "schemas.silver": "dev_anna_silver"}
RECORDS: list[Record] = [
    ORDERS.create(id=1, n="a").at("50:1:1"),
    ORDERS.update(id=1, n="b").at("50:2:1"),
    ORDERS.create(id=2, n="x").with_text("{"),
]


def test_every_dataset_is_in_the_schema_of_its_layer(spark: SparkSession, tmp_path: Path) -> None:
    pipeline = CdcPipeline(tmp_path, spark, CONF)
    pipeline.deliver(RECORDS)
    update = pipeline.update(**ALL)
    assert {each.name for each in update.datasets} == {
        *("raw.orders", "raw.shop_heartbeats"),
        *(f"dev_anna_silver.orders{suffix}" for suffix in ("", "_decoded", "_changes", "_rejects", "_replays")),
        *("dev_anna_silver.orders_rejects_open", "dev_anna_silver.shop_heartbeats"),
        *("marts.orders", "marts.orders_history", "marts.shop_liveness", "marts.shop_findings", "marts.shop_gaps"),
    }
    assert pipeline.rows("marts.orders", "id", "n") == [(1, "b")]
    assert pipeline.rows("main.dev_anna_silver.orders_rejects_open", "offset") == [(2,)]


def test_records_under_another_name_are_not_left_behind_in_silence(spark: SparkSession, tmp_path: Path) -> None:
    pipeline = CdcPipeline(tmp_path, spark, {"tables/shop/orders.yml": TABLE})
    pipeline.deliver(RECORDS[:2])
    pipeline.update()
    pipeline.configure({"tables/shop/orders.yml": TABLE + "target_schemas: {bronze: raw}\n"})
    storage = str(tmp_path / "storage")
    planned = CliRunner().invoke(cdc, ["plan", str(tmp_path / "conf"), "--storage", storage])
    assert (planned.exit_code, planned.output) == (
        2,
        "orders: has new names, and its rows are stored under the old ones\n"
        "    bronze.orders -> raw.orders\n"
        "        refused until you restore the name, or run once with --set dlt_local.accept_moves=raw.orders: it reads"
        " again what the source still has\n",
    )
    with pytest.raises(UpdateFailed) as refused:
        pipeline.update()
    (error,) = refused.value.errors
    assert str(error).splitlines()[1:] == [
        "  raw.orders would start empty, and bronze.orders, which is no longer declared, has its rows (records of"
        " shop.dbo.orders by connector shop)",
        "  fix: restore the name bronze.orders; or, to read again what the source still has, run once with --set"
        " dlt_local.accept_moves=raw.orders",
    ]
    with pytest.raises(UpdateFailed, match="--rebuild"):
        _accepting(pipeline, "raw.orders")
    pipeline.deliver([ORDERS.create(id=3, n="c").at("51:1:1")])
    with pytest.raises(UpdateFailed, match="--rebuild"):
        pipeline.update()
    pipeline.pipeline().run(rebuild=["orders"])
    assert pipeline.update().state == "COMPLETED"
    assert pipeline.rows("gold.orders", "id", "n") == [(1, "b"), (3, "c")]
    assert pipeline.rows("raw.orders", "count(*)") == [(3,)]


def _accepting(pipeline: CdcPipeline, table: str) -> None:
    made = pipeline.pipeline()
    made.configuration["dlt_local.accept_moves"] = table
    made.run()
