"""The shop fed by a real Kafka: every table has the same rows as from capture files."""

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from demo import feeds
from pyspark.sql import Row, SparkSession
from tests.support.shop_model import CAPTURES, STAGES
from tests.support.shop_pipeline import Shop, StagedShop, Tables, difference

from cdc import conditions
from cdc.errors import RunCondition
from cdc.records import records_of_lines

CAPTURED = "shopserver.shop.dbo.orders"
NOT_UTF8 = 119
"""The offset of a damaged value: kcat writes JSON, which cannot hold its bytes."""


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file into which kcat captures a topic's records, see `from_kafka`."""
    return tmp_path_factory.mktemp("kcat") / "records.jsonl"


@pytest.fixture(scope="module")
def from_kafka(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory, capture: Path) -> Tables:
    """The tables after two updates from a broker, whose records of one topic are captured afterwards."""
    first, *others = (CAPTURES / f"{stage}.jsonl" for stage in STAGES)
    with feeds.kafka() as broker:
        shop = Shop(tmp_path_factory.mktemp("kafka"), spark, other_feed=broker)
        shop.update(first)
        shop.update(*others)
        assert not (shop.folder / "landing").exists()
        if shutil.which("kcat"):
            _capture(CAPTURED, broker.source["cdc.kafka.bootstrap.servers"], capture)
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


@pytest.mark.skipif(not shutil.which("kcat"), reason="kcat is not installed: apt-get install kcat")
def test_a_capture_made_as_the_fix_of_not_a_capture_says_has_the_records_of_the_topic(
    spark: SparkSession, from_kafka: Tables, capture: Path
) -> None:
    lines = spark.read.text(str(capture)).selectExpr("value", "'records.jsonl' AS file_path")
    captured = records_of_lines(lines, CAPTURED).select("partition", "offset", "key", "value", "headers").collect()
    bronze = [{name: row[name] for name in captured[0].__fields__} for row in from_kafka["bronze.orders"]]
    found = {"orders": [_plain(row) for row in captured if row["offset"] != NOT_UTF8]}
    assert not difference({"orders": [row for row in bronze if row["offset"] != NOT_UTF8]}, found)
    assert len(captured) == len(bronze)


def _plain(value: Any) -> Any:
    """A value as a reader that is not Spark returns it."""
    match value:
        case Row():
            return {name: _plain(part) for name, part in value.asDict().items()}
        case list():
            return [_plain(part) for part in value]
        case bytearray():
            return bytes(value)
    return value


def _capture(topic: str, broker: str, to: Path) -> None:
    """Run the command of the message."""
    command = re.findall("`(kcat .*)`", conditions.RUNS[RunCondition.NOT_A_CAPTURE])[0]
    for word, value in {"TOPIC": topic, "BROKER": broker, "records.jsonl": str(to)}.items():
        command = command.replace(word, value)
    subprocess.run(command, shell=True, check=True, timeout=300)
