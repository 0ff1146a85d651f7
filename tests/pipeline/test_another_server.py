"""After a failover without `restored_at` each update says that the log runs backwards; after a restart it does not."""

import gzip
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession
from tests.pipeline.test_order import Recorded
from tests.support.cdc_pipeline import CdcPipeline
from tools.binlog_connector import events
from tools.binlog_connector.connectors import MARIADB
from tools.captures import Record

CONNECTOR = "{topic_prefix: server1, kind: mariadb}"
TABLE = """
    table: shop.orders
    key: [id]
    history: false
    columns: {id: int, name: varchar(20), total: "decimal(8,2)", note: text}
"""
TOPIC = f"{events.PREFIX}.shop.orders"
SAID = "silver.orders_changes: the log runs backwards ("


def captured() -> list[Record]:
    """A real run with a restart: its last records before it come twice."""
    with gzip.open(events.file(MARIADB), "rt", encoding="utf-8") as lines:
        found = [record for record in map(Record.from_line, lines) if record.topic == TOPIC]
    return [replace(record, offset=offset) for offset, record in enumerate(found)]


def edited(record: Record, offset: int, **source: Any) -> Record:
    """The record with other fields in `source`."""
    value = json.loads(record.value or b"")
    value["source"] |= source
    return replace(record, offset=offset, value=json.dumps(value).encode())


def said(pipeline: CdcPipeline) -> list[str]:
    """What an update says of the log."""
    update = pipeline.pipeline()
    update.progress = recorded = Recorded()
    update.run()
    return [notice for notice in recorded.notices if notice.startswith(SAID)]


def test_an_update_says_that_changes_are_of_another_server(spark: SparkSession, tmp_path: Path) -> None:
    pipeline = CdcPipeline(tmp_path, spark, {"connectors/shop.yml": CONNECTOR, "tables/shop/orders.yml": TABLE})
    records = captured()
    # A replica's log has the changes of other servers too, with their GTIDs.
    pipeline.deliver(
        edited(record, record.offset, server_id=7, gtid="0-7-99") if b'"six"' in (record.value or b"") else record
        for record in records
    )
    assert said(pipeline) == []
    # The connector delivers its end again, in an update of its own, and goes on at another server.
    again = [record for record in records if record.value][-4:]
    seven = again[-1]
    eight = replace(seven, value=(seven.value or b"").replace(b'"seven"', b'"eight"'))
    offset = len(records) + len(again)
    pipeline.deliver(
        [
            *(replace(record, offset=len(records) + number) for number, record in enumerate(again)),
            edited(eight, offset, file="binlog.000001", pos=400, server_id=102, gtid="0-102-27"),
        ]
    )
    (told,) = said(pipeline)
    assert told.startswith(f"{SAID}1 new row, first {TOPIC}[0]@{offset}); ")
    assert "set `restored_at` of connector shop" in told
    # As it says: the change has lost.
    assert pipeline.rows("gold.orders", "name", where="id = 7") == [("seven",)]
