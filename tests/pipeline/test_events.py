"""A connector's own topics that the spec names each become a bronze and a silver table."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.support.cdc_pipeline import CdcPipeline
from tests.support.conf_folder import write_conf
from tools import captures

from cdc.errors import SpecError
from cdc.spec.load import load_tables

CAPTURE = Path(__file__).parents[1] / "support" / "captures" / "events.jsonl"
CONNECTOR = """
    topic_prefix: server1
    topics:
      schema_changes: true
      transactions: true
      heartbeat: true
      notifications: server1.notifications
      signals: server1.testDB.dbo.dbz_signal
"""
TABLE = """
    table: testDB.dbo.nopk
    append_only: true
    columns: {a: int, b: varchar(5)}
"""
KINDS = {"schema_changes": 4, "transactions": 6, "heartbeats": 2, "notifications": 11, "signals": 5}


@pytest.fixture(scope="module")
def pipeline(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> CdcPipeline:
    conf = {"connectors/shop.yml": CONNECTOR, "tables/shop/nopk.yml": TABLE}
    pipeline = CdcPipeline(tmp_path_factory.mktemp("events"), spark, conf)
    pipeline.deliver(captures.read(CAPTURE))
    pipeline.update()
    return pipeline


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_event_has_a_bronze_and_a_silver_table(pipeline: CdcPipeline, kind: str) -> None:
    counts = [len(pipeline.rows(f"{layer}.shop_{kind}", "1")) for layer in ("bronze", "silver")]
    assert counts == [KINDS[kind], KINDS[kind]]


def test_gold_lists_added_columns_and_the_last_heartbeats(pipeline: CdcPipeline) -> None:
    added = pipeline.rows("gold.shop_columns", "table", "type", where="column = 'added'")
    assert added == [("testDB.dbo.orders", "datetime2")]
    assert pipeline.rows("gold.shop_liveness", "server", "heartbeats") == [("server1", 2)]


def test_a_connector_s_events_are_not_rejects_of_a_table(pipeline: CdcPipeline) -> None:
    assert pipeline.rows("silver.nopk_rejects", "reason") == []
    assert len(pipeline.rows("silver.nopk_changes", "1")) == 2


def test_a_table_that_would_write_to_an_event_table_is_refused(tmp_path: Path) -> None:
    conf = {"connectors/shop.yml": CONNECTOR, "tables/shop/nopk.yml": TABLE + "    name: shop_signals\n"}
    with pytest.raises(SpecError, match=r"`shop_signals` would write bronze\.shop_signals, as the `topics:`"):
        load_tables(write_conf(tmp_path, conf))
