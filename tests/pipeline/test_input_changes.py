"""Input files that change after they were read, or that a stream passes over: never without a word."""

import gzip
import shlex
import subprocess
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.support.cdc_pipeline import CdcPipeline
from tests.support.records import Record, Topic
from tests.support.small_pipeline import ROWS, SmallPipeline
from tools import captures

from dlt_local import UpdateFailed

SOURCE = f"""
import dlt

@dlt.table
def people():
    return {ROWS}
"""


def names(small: SmallPipeline) -> list[str]:
    return [row["name"] for row in small.table("people")]


def test_what_is_added_to_a_file_is_refused_and_then_read(spark: SparkSession, tmp_path: Path) -> None:
    small = SmallPipeline(tmp_path, spark, SOURCE)
    small.drop({"id": 1, "name": "Ada"})
    small.pipeline.run()
    file = next(small.rows.iterdir())
    file.write_text(file.read_text() + '\n{"id": 2, "name": "Bob"}')
    for _ in range(2):
        with pytest.raises(UpdateFailed, match=r"INPUT_FILE_CHANGED  default\.people") as failed:
            small.pipeline.run()
    rename = next(line for line in str(failed.value).splitlines() if line.startswith("    mv "))
    subprocess.run(shlex.split(rename), check=True)
    small.pipeline.run()
    assert names(small) == ["Ada", "Ada", "Bob"]


def test_files_that_are_not_read_are_named_once(spark: SparkSession, tmp_path: Path) -> None:
    small = SmallPipeline(tmp_path, spark, SOURCE.replace(".json(", ".option('pathGlobFilter', '*.json').json("))
    small.drop({"id": 1, "name": "Ada"})
    (small.rows / "notes.txt").write_text("no data")
    small.pipeline.run()
    small.pipeline.run()
    warnings = small.pipeline.event_log().where("level = 'WARN'").collect()
    assert [row.message.partition(" Move ")[0] for row in warnings] == [
        f"1 file in {small.rows} was not read: notes.txt (its name does not match `*.json`)."
    ]
    assert names(small) == ["Ada"]


ORDERS = {
    "connectors/shop.yml": "{topic_prefix: shopserver}",
    "tables/shop/orders.yml": "{table: shop.dbo.orders, key: [id], columns: {id: int, note: nvarchar(max)}}",
}
LARGE = "x" * 21_000_000


def test_a_compressed_capture_with_a_large_record_and_a_gap_reaches_gold(spark: SparkSession, tmp_path: Path) -> None:
    orders = Topic("shopserver.shop.dbo.orders")

    def at(offset: int, record: Record) -> captures.Record:
        return captures.Record(record.topic, 0, offset, 1_772_366_400_000, (), record.key_bytes, record.value_bytes)

    pipeline = CdcPipeline(tmp_path, spark, ORDERS)
    pipeline.deliver([at(4, orders.create(id=1, note=LARGE)), at(7, orders.create(id=2, note="small"))])
    (file,) = pipeline.landing.iterdir()
    (pipeline.landing / "later").mkdir()
    (pipeline.landing / "later" / f"{file.name}.gz").write_bytes(gzip.compress(file.read_bytes(), 1))
    file.unlink()
    pipeline.update(gaps="true")
    assert pipeline.rows("gold.orders", "id", "length(note)") == [(1, len(LARGE)), (2, 5)]
    assert pipeline.rows("gold.shop_gaps", "table", "partition", "first_offset", "last_offset", "missing") == [
        ("shop.dbo.orders", 0, 5, 6, 2)
    ]
