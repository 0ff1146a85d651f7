"""A connector's events that are not changes of rows, from records of the real connector."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from tests.support.records import RECORDS
from tests.support.tables import CONNECTOR

from cdc.debezium.events import EventKind, event_kinds
from cdc.records import records_of_lines

CAPTURE = Path(__file__).parents[1] / "support" / "captures" / "events.jsonl"
TOPICS = {
    "schema_changes": "server1",
    "transactions": "server1.transaction",
    "heartbeats": "__debezium-heartbeat.server1",
    "notifications": "server1.notifications",
    "signals": "server1.testDB.dbo.dbz_signal",
}
ALL_KINDS = event_kinds(
    replace(
        CONNECTOR,
        schema_changes_topic=TOPICS["schema_changes"],
        transactions_topic=TOPICS["transactions"],
        heartbeat_topic=TOPICS["heartbeats"],
        notifications_topic=TOPICS["notifications"],
        signals_topic=TOPICS["signals"],
    )
)
KINDS: Mapping[str, EventKind] = {kind.name: kind for kind in ALL_KINDS}


def records(spark: SparkSession, kind: str) -> DataFrame:
    lines = spark.read.text(str(CAPTURE)).select("value", F.lit("events.jsonl").alias("file_path"))
    return records_of_lines(lines, TOPICS[kind])


def events(spark: SparkSession, kind: str) -> DataFrame:
    return KINDS[kind].read(records(spark, kind))


def test_schema_changes_have_each_table_with_its_columns(spark: SparkSession) -> None:
    found = events(spark, "schema_changes").orderBy("_offset")
    assert [
        tuple(row) for row in found.select("table", "change", "key", F.size("columns"), "commit_lsn").collect()
    ] == [
        ("testDB.dbo.lines", "CREATE", ["line_id"], 3, "00000025:00000158:0005"),
        ("testDB.dbo.nopk", "CREATE", [], 2, "00000025:00000158:0005"),
        ("testDB.dbo.orders", "CREATE", ["region", "order_id"], 4, "00000025:00000158:0005"),
        ("testDB.dbo.orders", "ALTER", ["region", "order_id"], 5, "00000025:000001a8:0005"),
    ]
    last = found.where("change = 'ALTER'").selectExpr("inline(columns)")
    assert [tuple(row) for row in last.collect()] == [
        ("region", "char", 2, None, 1, False),
        ("order_id", "bigint", 19, 0, 2, False),
        ("amt", "decimal", 12, 4, 3, True),
        ("note", "nvarchar", 1073741823, None, 4, True),
        ("added", "datetime2", 27, 7, 5, True),
    ]


def test_a_columns_definition_has_a_validity_interval(spark: SparkSession) -> None:
    columns = KINDS["schema_changes"].views["columns"](events(spark, "schema_changes"))
    of_orders = columns.where("table = 'testDB.dbo.orders'").orderBy("position", "valid_from")
    shown = of_orders.selectExpr(
        "column", "type", "length", "scale", "in_key", "cast(valid_from AS string)", "cast(valid_to AS string)"
    )
    snapshot, altered = "2026-01-31 23:59:01.563", "2026-02-01 00:00:00"
    assert [tuple(row) for row in shown.collect()] == [
        ("region", "char", 2, None, True, snapshot, None),
        ("order_id", "bigint", 19, 0, True, snapshot, None),
        ("amt", "decimal", 10, 2, False, snapshot, altered),
        ("amt", "decimal", 12, 4, False, altered, None),
        ("note", "nvarchar", 1073741823, None, False, snapshot, None),
        ("added", "datetime2", 27, 7, False, altered, None),
    ]


def test_a_definition_that_returns_has_two_intervals(spark: SparkSession) -> None:
    altered = events(spark, "schema_changes").where("table = 'testDB.dbo.orders'")
    back = altered.where("change = 'CREATE'").withColumn("_offset", F.lit(9).cast("bigint"))
    columns = KINDS["schema_changes"].views["columns"](altered.union(back))
    amounts = columns.where("column = 'amt'").groupBy("length").count().orderBy("length")
    assert [tuple(row) for row in amounts.collect()] == [(10, 2), (12, 1)]
    assert columns.where("column = 'added' AND valid_to IS NOT NULL").count() == 1


def test_transactions_count_their_events_by_table(spark: SparkSession) -> None:
    found = events(spark, "transactions").orderBy("_offset")
    marks = found.selectExpr("transaction_id", "status", "events", "to_json(tables)", "cast(marked_at AS string)")
    first, tables = "00000025:000001a8:0005", [("lines", 2), ("nopk", 2), ("orders", 2)]
    shown = ",".join(f'{{"table":"testDB.dbo.{table}","events":{count}}}' for table, count in tables)
    assert [tuple(row) for row in marks.limit(2).collect()] == [
        (first, "BEGIN", None, None, "2026-02-01 00:00:00"),
        (first, "END", 6, f"[{shown}]", "2026-02-01 00:00:01"),
    ]
    assert found.count() == 6


def test_heartbeats_show_that_the_connector_is_alive(spark: SparkSession) -> None:
    beaten = events(spark, "heartbeats")
    assert [row.server for row in beaten.collect()] == ["server1", "server1"]
    (alive,) = KINDS["heartbeats"].views["liveness"](beaten).collect()
    assert (alive.server, alive.heartbeats, alive.longest_silence_seconds) == ("server1", 2, 61.935)
    assert (alive.last_at - alive.first_at).total_seconds() == 61.935


def test_notifications_have_a_subject_and_details(spark: SparkSession) -> None:
    found = events(spark, "notifications").orderBy("_offset")
    scans = found.where("type = 'TABLE_SCAN_COMPLETED'").selectExpr(
        "subject", "details['scanned_collection']", "details['total_rows_scanned']"
    )
    assert [tuple(row) for row in scans.collect()] == [
        ("Initial Snapshot", "testDB.dbo.lines", "0"),
        ("Initial Snapshot", "testDB.dbo.nopk", "0"),
        ("Initial Snapshot", "testDB.dbo.orders", "3"),
    ]
    assert found.where("id IS NULL OR notified_at IS NULL").count() == 0


def test_signals_are_the_changes_of_their_table(spark: SparkSession) -> None:
    found = events(spark, "signals").orderBy("_offset")
    assert [row.type for row in found.collect()] == [
        "execute-snapshot",
        *["snapshot-window-open", "snapshot-window-close"] * 2,
    ]
    (first,) = found.where("_offset = 0").collect()
    assert (first.op, first.id, first.commit_lsn) == ("c", "sig-1", "00000025:00000268:0005")
    assert first.data == '{"data-collections":["testDB.dbo.all_types"],"type":"incremental"}'


@pytest.mark.parametrize("kind", ALL_KINDS, ids=lambda kind: kind.name)
def test_what_cannot_be_read_is_a_row_of_nulls(spark: SparkSession, kind: EventKind) -> None:
    values = [b"{", b"[]", b"5", b'{"tableChanges":5,"data_collections":{},"after":[]}', b"\xff", None]
    rows = [("t", 0, offset, None, 0, None, None, value) for offset, value in enumerate(values)]
    found = kind.read(spark.createDataFrame(rows, RECORDS)).collect()
    assert sorted(row._offset for row in found) == [0, 1, 2, 3, 4]
    assert {value for row in found for name, value in row.asDict().items() if not name.startswith("_")} == {None}


@pytest.mark.parametrize("kind", ALL_KINDS, ids=lambda kind: kind.name)
def test_a_schema_block_changes_nothing(spark: SparkSession, kind: EventKind) -> None:
    plain = records(spark, kind.name)
    wrapped = F.concat(F.lit('{"schema":{"type":"struct"},"payload":'), F.col("value").cast("string"), F.lit("}"))
    with_schema = plain.withColumn("value", wrapped.cast("binary"))
    assert sorted(map(repr, kind.read(with_schema).collect())) == sorted(map(repr, kind.read(plain).collect()))


def test_only_topics_that_the_spec_names_are_read() -> None:
    assert event_kinds(CONNECTOR) == ()
    named = replace(CONNECTOR, heartbeat_topic="beats", signals_topic="signals")
    assert [kind.name for kind in event_kinds(named)] == ["heartbeats", "signals"]
