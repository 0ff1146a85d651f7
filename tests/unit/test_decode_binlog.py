"""Positions in binary logs, from records of the real MariaDB and MySQL connectors: order, ties, redelivery, faults."""

import gzip
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from tests.support.records import RECORDS
from tests.support.tables import kind_table
from tools.binlog_connector import descriptions
from tools.binlog_connector import events as capture
from tools.binlog_connector.connectors import MARIADB, MYSQL, VERSIONS, Version
from tools.captures import Record

from cdc import changes, decode, findings, rejects, sequence
from cdc.debezium.events import event_kinds
from cdc.debezium.rejects import Reason
from cdc.schema_drift import schema_drift
from cdc.spec.model import ConnectorSpec, TableSpec

COLUMNS = {"id": "int not null", "name": "varchar(20)", "total": "decimal(8,2)", "note": "text"}
TOPIC = f"{capture.PREFIX}.shop.orders"
Change = Callable[[dict[str, Any]], None]


def orders(version: Version, **spec: Any) -> TableSpec:
    connector = ConnectorSpec("shop", capture.PREFIX, kind=version.kind)
    return replace(kind_table(COLUMNS, connector=connector, source="shop.orders", name="orders"), **spec)


def captured(version: Version, topic: str = TOPIC) -> list[Record]:
    with gzip.open(capture.file(version), "rt", encoding="utf-8") as lines:
        return [record for record in map(Record.from_line, lines) if record.topic == topic]


def frame(spark: SparkSession, records: list[Record]) -> DataFrame:
    rows = [
        (each.topic, 0, number, datetime.fromtimestamp(each.timestamp / 1000, UTC), 0, None, each.key, each.value)
        for number, each in enumerate(records)
    ]
    return spark.createDataFrame(rows, RECORDS)


def edited(record: Record, **source: Any) -> Record:
    """The record with other fields in `source`."""
    value = json.loads(record.value or b"")
    value["source"] |= source
    return replace(record, value=json.dumps(value).encode())


def positions(spark: SparkSession, version: Version) -> list[Mapping[str, Any]]:
    """The changes in the order of their sequences."""
    spec = orders(version, history=False)
    found = changes(decode(frame(spark, captured(version)), spec), spec).withColumn("sequence", sequence(spec))
    assert found.where("sequence IS NULL").count() == 0
    return [row.asDict() for row in found.orderBy("sequence", "_offset").collect()]


@pytest.mark.parametrize("version", VERSIONS, ids=lambda version: f"{version.kind}-{version.number}")
def test_the_order_is_that_of_the_commits_and_a_redelivery_changes_nothing(
    spark: SparkSession, version: Version
) -> None:
    found = positions(spark, version)
    by_change: dict[Any, list[int]] = {}
    for change in found:
        by_change.setdefault((change["sequence"], change["_op"], change["id"]), []).append(change["_offset"])
    first = [offsets[0] for offsets in by_change.values()]
    arrived = sorted(first)
    # Reads share a position, and a key change is a delete and a create of one: these pairs arrive in this order too.
    assert first == arrived
    again = {change for change, offsets in by_change.items() if len(offsets) > 1}
    assert {(op, id_) for _, op, id_ in again} >= {("u", 2), ("d", 3)}


def test_an_event_of_several_rows_counts_them_and_a_key_change_has_one_position(spark: SparkSession) -> None:
    found = [(c["_op"], c["id"], c["_binlog_row"]) for c in positions(spark, MARIADB) if c["_op"] != "r"]
    assert found[:3] == [("c", 3, 0), ("c", 4, 1), ("c", 5, 2)]
    assert found[5:9] == [("d", 4, 0), ("c", 14, 0), ("d", 5, 1), ("c", 15, 1)]


def test_reads_of_an_incremental_snapshot_have_the_position_of_the_signal_that_ends_it(spark: SparkSession) -> None:
    reads = [c for c in positions(spark, MARIADB) if c["_snapshot"] == "incremental"]
    assert len({(c["_binlog_file"], c["_binlog_pos"], c["_binlog_row"]) for c in reads}) == 1
    assert {c["_server_id"] for c in reads} == {101}
    assert reads[0]["_gtid"].startswith("0-101-")


def test_file_numbers_are_compared_as_numbers(spark: SparkSession) -> None:
    (create,) = [each for each in captured(MARIADB) if b'"three"' in (each.value or b"") and b'"op":"c"' in each.value]
    files = ("binlog.1000000", "binlog.999999", "other.000002")
    records = [edited(create, file=file) for file in files]
    spec = orders(MARIADB)
    found = changes(decode(frame(spark, records), spec), spec).withColumn("sequence", sequence(spec))
    assert [row._offset for row in found.orderBy("sequence").collect()] == [2, 1, 0]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"file": None}, "source.file is null"),
        ({"file": "binlog"}, "source.file is `binlog`"),
        ({"file": "binlog.00000x"}, "source.file is `binlog.00000x`"),
        ({"pos": None}, "source.pos is null"),
        ({"pos": "4 5"}, "source.pos is `4 5`"),
        ({"row": None}, "source.row is null"),
        ({"ts_ms": "now"}, "source.ts_ms is `now`"),
    ],
)
def test_a_record_without_a_position_is_rejected(spark: SparkSession, fields: dict[str, Any], message: str) -> None:
    record = edited(captured(MARIADB)[0], **fields)
    (reject,) = rejects(decode(frame(spark, [record]), orders(MARIADB)), orders(MARIADB)).collect()
    assert (reject.reason, reject.message) == (Reason.MISSING_POSITION.name, message)


def test_a_record_of_the_other_kind_is_rejected(spark: SparkSession) -> None:
    spec = orders(MYSQL[1])
    (reject,) = rejects(decode(frame(spark, captured(MARIADB)[:1]), spec), spec).collect()
    assert reject.reason == Reason.WRONG_CONNECTOR.name


def test_another_server_is_found_and_a_later_incarnation_orders_its_changes(spark: SparkSession) -> None:
    create = next(each for each in captured(MARIADB) if b'"six"' in (each.value or b""))
    update = edited(create, file="mysql-bin.000001", pos=400, server_id=102, gtid="0-102-99")
    before = edited(create, file="binlog.000007")
    later = replace(update, timestamp=before.timestamp + 60_000)
    spec = orders(MARIADB)
    found = {row.finding: row for row in findings({spec: changed(spark, [before, later], spec)}).collect()}
    assert "restored_at" in found["log_backwards"].meaning
    moment = datetime.fromtimestamp(before.timestamp / 1000 + 30, UTC)
    restored = replace(spec, connector=replace(spec.connector, restored_at=(moment,)))
    ordered = changed(spark, [later, before], restored).withColumn("sequence", sequence(restored)).orderBy("sequence")
    assert [(row._server_id, row._incarnation) for row in ordered.collect()] == [(101, 0), (102, 1)]
    assert "log_backwards" not in {row.finding for row in findings({restored: ordered.drop("sequence")}).collect()}


def changed(spark: SparkSession, records: list[Record], spec: TableSpec) -> DataFrame:
    return changes(decode(frame(spark, records), spec), spec)


@pytest.mark.parametrize(
    "version",
    [each for each in VERSIONS if not each.number.startswith("1.")],
    ids=lambda version: f"{version.kind}-{version.number}",
)
def test_a_truncate_is_a_change_without_history_and_a_reject_with_one(spark: SparkSession, version: Version) -> None:
    records = [each for each in captured(version) if b'"op":"t"' in (each.value or b"")]
    current = orders(version, history=False)
    (change,) = changed(spark, records, current).collect()
    assert (change._op, change.id, change._binlog_file) == ("t", None, 2)
    spec = orders(version)
    (reject,) = rejects(decode(frame(spark, records), spec), spec).collect()
    assert reject.reason == Reason.TRUNCATED.name


@pytest.mark.parametrize(
    "version",
    [each for each in VERSIONS if each.number.startswith("1.")],
    ids=lambda version: f"{version.kind}-{version.number}",
)
def test_1_x_has_a_truncate_as_a_statement_only(version: Version) -> None:
    assert not [each for each in captured(version) if b'"op":"t"' in (each.value or b"")]
    values = [json.loads(each.value or b"{}") for each in captured(version, capture.PREFIX)]
    assert [each["ddl"] for each in values].count("truncate table orders") == 1


def test_a_column_added_in_mid_stream_is_null_before(spark: SparkSession) -> None:
    found = changed(spark, captured(MARIADB), orders(MARIADB, history=False)).where("_op = 'c' AND id IN (3, 6)")
    assert {row.id: row.note for row in found.collect()} == {3: None, 6: "a note"}


@pytest.mark.parametrize("version", VERSIONS, ids=lambda version: f"{version.kind}-{version.number}")
def test_schema_changes_have_the_statements_and_tables_by_two_names(spark: SparkSession, version: Version) -> None:
    connector = ConnectorSpec(
        "shop", capture.PREFIX, kind=version.kind, schema_changes_topic=capture.PREFIX, transactions_topic="t"
    )
    kind = next(each for each in event_kinds(connector) if each.name == "schema_changes")
    rows = kind.read(frame(spark, captured(version, capture.PREFIX))).orderBy("_offset").collect()
    assert all(row.ddl and row.file for row in rows)
    statement = "alter table orders add column note text"
    (altered,) = [row for row in rows if row.ddl == statement]
    if version.number.startswith("1.4"):
        # 1.4 writes the statement only.
        assert altered.table is None
        return
    assert (altered.table, altered.change, altered.key) == ("shop.orders", "ALTER", ["id"])
    assert [(c.name, c.type, c.length, c.scale) for c in altered.columns][2:] == [
        ("total", "DECIMAL", 8, 2),
        ("note", "TEXT", None, None),
    ]
    found = kind.views["columns"](kind.read(frame(spark, captured(version, capture.PREFIX))))
    assert found.where(F.col("table") == "shop.orders").count() == len(COLUMNS)


def test_a_table_whose_types_are_those_of_its_spec_has_no_drift(spark: SparkSession) -> None:
    pairs = json.loads(descriptions.FILE.read_text(encoding="utf-8"))
    for version in (MARIADB, MYSQL[-1]):
        connector = ConnectorSpec(
            "shop", capture.PREFIX, kind=version.kind, schema_changes_topic=capture.PREFIX, transactions_topic="t"
        )
        kind = next(each for each in event_kinds(connector) if each.name == "schema_changes")
        specs, records = [], []
        for table, described in pairs[version.kind].items():
            # A text column of the character set binary is one of bytes, which Spark's comparison does not look at.
            columns = [(of_ddl, told) for of_ddl, told in described if told.get("charsetName") != "binary"]
            names = ["id", *(f"c{number}" for number in range(1, len(columns)))]
            types = {name: _plain(of_ddl) for name, (of_ddl, _) in zip(names, columns, strict=True)}
            specs.append(kind_table(types, connector=connector, source=f"shop.{table}", name=table))
            blank = {"length": None, "scale": None, "position": 0, "optional": False}
            told = [{"name": name, **blank, **each} for name, (_, each) in zip(names, columns, strict=True)]
            reported = {"columns": told, "primaryKeyColumnNames": ["id"]}
            change = {"type": "CREATE", "id": f'"shop"."{table}"', "table": reported}
            value = json.dumps({"source": {"db": "shop"}, "ddl": "create", "tableChanges": [change]}).encode()
            records.append(replace(captured(version, capture.PREFIX)[0], value=value))
        assert schema_drift(kind.read(frame(spark, records)), specs).collect() == []


def _plain(of_ddl: str) -> str:
    return of_ddl.partition(" default ")[0].partition(" generated ")[0]
