"""The connector's own records: counted transactions, a crash, flattened records, (max) values that come as null.

The captures are of tools/sqlserver_connector/scenarios/redelivery.json; one went through ExtractNewRecordState.
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


def test_flattened_records_are_the_same_changes(spark: SparkSession, orders: TableSpec) -> None:
    # Of a change that is no read, the transformation has null for the snapshot, where the envelope has false; and the
    # captures are of two runs.
    flattened, plain = (
        decoded(spark, capture, orders).drop("_snapshot", "_recorded_at").orderBy("_offset").collect()
        for capture in ("redelivery.flattened.jsonl", "redelivery.jsonl")
    )
    assert flattened == plain


def test_what_is_delivered_twice_has_the_same_sequence(spark: SparkSession, orders: TableSpec) -> None:
    found = changes(decoded(spark, "redelivery.jsonl", orders), orders)
    assert found.count() == 15
    assert found.select("id", sequence(orders).alias("sequence")).distinct().count() == 10


def test_a_redelivery_is_no_finding(spark: SparkSession, orders: TableSpec) -> None:
    found = changes(decoded(spark, "redelivery.jsonl", orders), orders)
    assert findings({orders: found}).collect() == []
    backwards = found.where("_offset IN (4, 8)").withColumn("_offset", 10 - F.col("_offset"))
    (alone,) = findings({orders: backwards}).collect()
    assert (alone.table, alone.finding, alone.changes) == ("testDB.dbo.orders", "lsn_backwards", 1)


def test_history_has_each_change_once_and_the_large_value_throughout(tmp_path: Path, spark: SparkSession) -> None:
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
