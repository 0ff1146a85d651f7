"""The order of changes of one document, from records as the connectors of three versions write them."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from tests.decoding.test_mongodb import as_frame, captured, spec
from tests.support.records import RECORDS
from tools.captures import Record

from cdc import changes, decode, findings, sequence

_NOON = 1_772_366_400_000
_SESSION = '{"id": {"$binary": "AAAAAAAAABEAAAAAAAAAKg==","$type": "04"}}'


def record(offset: int, op: str = "u", ms: int = 0, *, total_order: int | None = None, **source: Any) -> Record:
    """A record of document 1; ``ms`` counts from noon."""
    of = {
        "connector": "mongodb",
        "snapshot": "false",
        "db": "shop",
        "collection": "orders",
        "ts_ms": _NOON + ms,
        "ord": 1,
    }
    after = None if op == "d" else json.dumps({"_id": 1, "n": offset})
    transaction = None if total_order is None else {"id": "1", "total_order": total_order}
    value = {"op": op, "after": after, "source": {**of, **source}, "transaction": transaction, "ts_ms": _NOON}
    key = json.dumps({"id": "1"})
    return Record("server1.shop.orders", 0, offset, _NOON, (), key.encode(), json.dumps(value).encode())


def wall(ms: int, ord: int) -> dict[str, Any]:
    """The fields of a record of 3.x from a server that has wall clock times."""
    return {"ms": ms, "ord": ord, "wallTime": _NOON + ms}


IN_ORDER = {
    "seconds before numbers": [record(0, ms=1000, ord=9), record(1, ms=2000, ord=1), record(2, ms=2000, ord=10)],
    "initial reads first, whatever their time": [record(0, "r", 9000, snapshot="last", ord=-1), record(1, "c", 1000)],
    "a read of 1.x after the change that was the last one before the snapshot": [
        record(0, ms=1000, ord=4),
        record(1, "r", 1000, ord=4, snapshot="last"),
        record(2, ms=1000, ord=5),
    ],
    "an incremental read after the change that it follows": [
        record(0, ms=1000, ord=3, tord=7, stxnid="s:1"),
        record(1, "r", 1000, ord=3, snapshot="incremental"),
        record(2, ms=1000, ord=4),
    ],
    "an incremental read of 3.x before a change that the server's clock puts before its second": [
        record(0, "r", 2000, ord=3, snapshot="incremental", ts_us=(_NOON + 2000) * 1000),
        record(1, **wall(1980, 4)),
    ],
    "a transaction as 1.x counts it": [
        record(5, "c", ord=3, tord=1, stxnid="s:1"),
        record(4, "u", ord=3, tord=2, stxnid="s:1"),
        record(3, "d", ord=3, tord=3, stxnid="s:1"),
    ],
    "a transaction as the connector counts it": [
        record(5, "c", ord=3, lsid=_SESSION, total_order=1),
        record(4, "d", ord=3, lsid=_SESSION, total_order=2),
        record(3, "c", ord=3, lsid=_SESSION, total_order=3),
    ],
    "an uncounted transaction as it arrives": [
        record(0, "c", ord=3, lsid=_SESSION),
        record(1, "d", ord=3, lsid=_SESSION),
        record(2, "c", ord=3, lsid=_SESSION),
    ],
    "server clocks in milliseconds, then numbers": [
        record(2, **wall(100, 9)),
        record(1, **wall(101, 3)),
        record(0, **wall(101, 5)),
    ],
    "the end of a second as it arrives": [
        record(0, **wall(990, 57)),
        record(1, **wall(990, 1)),
        record(2, **wall(991, 2)),
    ],
}


@pytest.mark.parametrize("name", IN_ORDER)
def test_changes_are_in_order(spark: SparkSession, tmp_path: Path, name: str) -> None:
    table = spec(tmp_path, {"_id": "int", "n": "int"}, "update_full", "shop.orders")
    in_order = IN_ORDER[name]
    found = changes(decode(as_frame(spark, reversed(in_order)), table), table).withColumn("sequence", sequence(table))
    assert [row._offset for row in found.orderBy("sequence").collect()] == [each.offset for each in in_order]


def test_a_redelivered_change_has_the_same_sequence(spark: SparkSession, tmp_path: Path) -> None:
    table = spec(tmp_path, {"_id": "int", "name": "string"}, "partial", "shop.orders")
    records = captured("3.6.1.Final", "partial", with_schema=False, source="shop.orders")
    again = records[19:24]
    found = changes(decode(as_frame(spark, again), table), table).withColumn("sequence", sequence(table))
    rows = found.orderBy("_offset").collect()
    assert [row._op for row in rows] == ["u", "d", "u", "d"]
    assert [row.sequence for row in rows[:2]] == [row.sequence for row in rows[2:]]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"ts_ms": None}, "source.ts_ms is null"),
        ({"ord": "x"}, "source.ord is `x`"),
        ({"tord": "x"}, "source.tord is `x`"),
    ],
    ids=["time", "number", "count"],
)
def test_a_change_without_a_position_is_a_reject(
    spark: SparkSession, tmp_path: Path, fields: dict[str, Any], message: str
) -> None:
    table = spec(tmp_path, {"_id": "int", "n": "int"}, "update_full", "shop.orders")
    (row,) = decode(as_frame(spark, [record(0, **fields)]), table).collect()
    assert (row._outcome, row._reason, row._message) == ("reject", "MISSING_POSITION", message)


@pytest.mark.parametrize("has_time", [True, False], ids=["3.x", "2.x, without a time"])
def test_the_reads_of_a_second_snapshot_are_found(spark: SparkSession, tmp_path: Path, *, has_time: bool) -> None:
    table = spec(tmp_path, {"_id": "int", "n": "int"}, "update_full", "shop.orders")
    first, second = (
        replace(record(offset, "r", ms if has_time else -_NOON, snapshot="last", ord=-1), timestamp=_NOON + ms)
        for offset, ms in ((0, 0), (3, 60_000))
    )
    incremental = record(4, "r", 1000, snapshot="incremental", ts_us=(_NOON + 1000) * 1000)
    # The first one is delivered twice.
    rows = [
        (each.topic, 0, each.offset, datetime.fromtimestamp(each.timestamp / 1000, UTC), 0, None, each.key, each.value)
        for each in (first, record(1, ms=1000), replace(first, offset=2), second, incremental)
    ]
    found = changes(decode(spark.createDataFrame(rows, RECORDS), table), table)
    (finding,) = findings({table: found}).collect()
    assert (finding.finding, finding.changes, finding.example) == ("time_backwards", 1, "server1.shop.orders[0]@3")
