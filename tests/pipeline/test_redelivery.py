"""Records that a real connector delivered twice after a crash, as envelopes and flattened, become changes once.

Both captures are of tools/sqlserver_connector/scenarios/redelivery.json; ExtractNewRecordState flattened one. Their
transactions count events, and unchanged (max) values are null.
"""

from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from tests.support.cdc_pipeline import CdcPipeline
from tests.support.conf_folder import write_conf
from tools import captures

from cdc import TableSpec, changes, decode, findings, load_tables, sequence
from cdc.records import records_of_lines

CAPTURES = Path(__file__).parents[1] / "support" / "captures"
TOPIC = "server1.testDB.dbo.orders"
CONF = {
    "connectors/shop.yml": "{topic_prefix: server1, within_transaction: total_order}",
    "tables/shop/orders.yml": """
        table: testDB.dbo.orders
        key: [id]
        columns:
          id: int
          amount: "decimal(10,2)"
          placed_at: datetime2(7)
          note: {type: nvarchar(max), large_nulls: unchanged}
    """,
}


@pytest.fixture
def orders(tmp_path: Path) -> TableSpec:
    (spec,) = load_tables(write_conf(tmp_path / "conf", CONF))
    return spec


def decoded(spark: SparkSession, capture: str, spec: TableSpec) -> DataFrame:
    lines = spark.read.text(str(CAPTURES / capture)).select("value", F.lit(capture).alias("file_path"))
    return decode(records_of_lines(lines, TOPIC), spec)


def test_flattened_records_decode_to_the_same_changes(spark: SparkSession, orders: TableSpec) -> None:
    # Flattening writes null for the envelope's `snapshot: false`; the two captures are of different runs.
    flattened, plain = (
        decoded(spark, capture, orders).drop("_snapshot", "_recorded_at").orderBy("_offset").collect()
        for capture in ("redelivery.flattened.jsonl", "redelivery.jsonl")
    )
    assert flattened == plain


def test_an_event_delivered_twice_has_the_same_sequence(spark: SparkSession, orders: TableSpec) -> None:
    twice = changes(decoded(spark, "redelivery.jsonl", orders), orders)
    assert twice.count() == 15
    assert twice.select("id", sequence(orders).alias("sequence")).distinct().count() == 10


def test_a_redelivery_is_not_a_finding_and_an_lsn_that_goes_backwards_is(
    spark: SparkSession, orders: TableSpec
) -> None:
    redelivered = changes(decoded(spark, "redelivery.jsonl", orders), orders)
    assert findings({orders: redelivered}).collect() == []
    backwards = redelivered.where("_offset IN (4, 8)").withColumn("_offset", 10 - F.col("_offset"))
    (finding,) = findings({orders: backwards}).collect()
    assert (finding.table, finding.finding, finding.changes) == ("testDB.dbo.orders", "lsn_backwards", 1)


def test_history_has_each_change_once_and_keeps_an_unchanged_large_value(tmp_path: Path, spark: SparkSession) -> None:
    pipeline = CdcPipeline(tmp_path, spark, CONF)
    pipeline.deliver(captures.read(CAPTURES / "redelivery.jsonl"))
    pipeline.update()
    history = pipeline.rows("gold.orders_history", "id", "version", "cast(amount AS string)", "note", "is_current")
    assert history == [
        (1, 1, "10.00", "first", False),
        (1, 2, "11.00", "first", False),
        (1, 3, "12.00", "first", False),
        (1, 4, "13.00", "first", False),
        (1, 5, "14.00", "first", True),
        (2, 1, "20.00", None, False),
        (3, 1, "30.00", "third", False),
        (4, 1, "30.00", "third", True),
    ]
