"""Names per layer: every dataset is where the specs and the pipeline's settings say, and a move loses no rows."""

from pathlib import Path

import pytest
from click.testing import CliRunner
from pyspark.sql import SparkSession
from tests.support.cdc_pipeline import CdcPipeline
from tests.support.records import Record, Topic

from cdc.__main__ import cdc
from dlt_local import UpdateFailed
from dlt_local.delta import delta_log

ORDERS = Topic("shopserver.shop.dbo.orders")
TABLE = "table: shop.dbo.orders\nkey: [id]\ncolumns: {id: int, n: nvarchar(9)}\n"
RECORDS: list[Record] = [
    ORDERS.create(id=1, n="a").at("50:1:1"),
    ORDERS.update(id=1, n="b").at("50:2:1"),
]


def test_every_dataset_is_in_the_schema_of_its_layer(spark: SparkSession, tmp_path: Path) -> None:
    conf = {
        "defaults.yml": "target_schemas: {bronze: main.raw, gold: marts}\n",
        "connectors/shop.yml": "topic_prefix: shopserver\ntopics: {heartbeat: true}\n",
        "tables/shop/orders.yml": TABLE,
    }
    settings = {"findings": "true", "gaps": "true", "replay_rejects": "1", "schemas.silver": "dev_anna_silver"}
    graph = CdcPipeline(tmp_path, spark, conf).pipeline(**settings).dry_run()
    assert {node.name for node in graph.tables} == {
        *("raw.orders", "raw.shop_heartbeats"),
        *(f"dev_anna_silver.orders{suffix}" for suffix in ("", "_decoded", "_changes", "_rejects", "_replays")),
        *("dev_anna_silver.orders_rejects_open", "dev_anna_silver.shop_heartbeats"),
        *("marts.orders", "marts.orders_history", "marts.shop_liveness", "marts.shop_findings", "marts.shop_gaps"),
    }


def test_records_under_another_name_are_not_left_behind_in_silence(spark: SparkSession, tmp_path: Path) -> None:
    table = f"{TABLE}history: false\ntable_properties: {{gold: {{delta.logRetentionDuration: interval 9 days}}}}\n"
    spec = table + "target_schemas: {silver: main.cleansed, gold: marts}\n"
    pipeline = CdcPipeline(tmp_path, spark, {"tables/shop/orders.yml": spec})
    pipeline.deliver(RECORDS)
    pipeline.update()
    assert pipeline.rows("marts.orders", "id", "n") == [(1, "b")]

    pipeline.configure({"tables/shop/orders.yml": spec.replace("silver: ", "bronze: raw, silver: ")})
    planned = CliRunner().invoke(cdc, ["plan", str(tmp_path / "conf"), "--storage", str(tmp_path / "storage")])
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

    accepting = pipeline.pipeline()
    accepting.configuration["dlt_local.accept_moves"] = "raw.orders"
    with pytest.raises(UpdateFailed, match="SOURCE_REPLACED"):
        accepting.run()
    pipeline.deliver([ORDERS.create(id=3, n="c").at("51:1:1")])
    pipeline.pipeline().run(refresh=["raw.orders"])
    pipeline.pipeline().run(rebuild=["orders"])
    assert pipeline.rows("marts.orders", "id", "n") == [(1, "b"), (3, "c")]
    assert pipeline.rows("raw.orders", "count(*)") == [(3,)]
    stored = delta_log.properties(tmp_path / "storage" / "tables" / "marts" / "orders")
    assert stored["delta.logRetentionDuration"] == "interval 9 days"
