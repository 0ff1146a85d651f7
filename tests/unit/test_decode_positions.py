"""Position of a change: the sequence is never null and orders changes as the server did."""

from dataclasses import replace
from datetime import UTC, timedelta
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import IntegerType
from tests.support.records import Record, Topic, frame, lsn
from tests.support.tables import table

from cdc import changes, decode, sequence

ORDERS = table({"id": "int not null"})
orders = Topic(ORDERS.topic)


def in_sequence(spark: SparkSession, records: list[Record], spec: Any = ORDERS) -> list[int]:
    """The records' indexes in the list, in the order of their sequences."""
    found = changes(decode(frame(spark, records), spec), spec).withColumn("sequence", sequence(spec))
    assert found.where("sequence IS NULL").count() == 0
    return [row._offset for row in found.orderBy("sequence").collect()]


def test_commit_then_change_then_serial_number_then_operation_decides(spark: SparkSession) -> None:
    in_order = [
        orders.create(id=1).at("9:0:1", "ff:0:1", serial=9),
        orders.create(id=1).at("a:0:1", "1:0:1", serial=9),
        orders.create(id=1).at("a:0:1", "a:0:1", serial=2),
        orders.create(id=1).at("a:0:1", "a:0:1", serial=10),
        orders.delete(id=1).at("b:0:1", "b:0:1", serial=1),
        orders.create(id=1).at("b:0:1", "b:0:1", serial=1),
    ]
    backwards = list(reversed(in_order))
    assert in_sequence(spark, backwards) == [5, 4, 3, 2, 1, 0]


def test_letter_case_does_not_matter(spark: SparkSession) -> None:
    records = [orders.create(id=1).at("B:0:1"), orders.create(id=1).at("a:0:1"), orders.create(id=1).at("C:0:1")]
    assert in_sequence(spark, records) == [1, 0, 2]


@pytest.mark.parametrize("absent", [None, "NULL", "null", "00", "", "00000000:00000000:0000"])
def test_a_snapshot_read_sorts_before_every_change_of_its_commit(spark: SparkSession, absent: str | None) -> None:
    change = orders.create(id=1).at("25:160:5", "0:0:1", serial=1)
    read = orders.read(id=1).with_source(change_lsn=absent, event_serial_no=absent)
    assert in_sequence(spark, [change, read]) == [1, 0]


def test_a_serial_number_in_text_is_compared_as_a_number(spark: SparkSession) -> None:
    assert in_sequence(spark, [orders.create(id=1).at("a:0:1", serial=n) for n in ("10", 9, "2")]) == [2, 1, 0]


def test_a_later_incarnation_sorts_after_every_lsn_of_an_earlier_one(spark: SparkSession) -> None:
    later = replace(ORDERS, connector=replace(ORDERS.connector, incarnation=1))
    first = changes(decode(frame(spark, [orders.create(id=1).at("ff:0:1")]), ORDERS), ORDERS)
    second = changes(decode(frame(spark, [orders.create(id=1).at("1:0:1")]), later), later)
    both = first.unionByName(second).withColumn("sequence", sequence(ORDERS)).orderBy("sequence")
    assert [row._incarnation for row in both.collect()] == [0, 1]


@pytest.mark.parametrize(("restores", "incarnation"), [((), 3), ((-1, 0, 1), 5), ((1, 2), 3)], ids=str)
def test_a_record_has_the_incarnation_of_its_timestamp_whenever_it_is_decoded(
    spark: SparkSession, restores: tuple[int, ...], incarnation: int
) -> None:
    """Seconds of restores before (or after) the record, whose timestamp is the same in each of these records."""
    recorded = frame(spark, [orders.create(id=1)]).collect()[0].timestamp
    moments = tuple(recorded.astimezone(UTC) + timedelta(seconds=second) for second in restores)
    restored = replace(ORDERS, connector=replace(ORDERS.connector, incarnation=3, restored_at=moments))
    found = changes(decode(frame(spark, [orders.create(id=1)]), restored), restored)
    assert found.schema["_incarnation"].dataType == IntegerType()
    assert [row._incarnation for row in found.collect()] == [incarnation]


def test_a_redelivered_record_has_the_same_sequence(spark: SparkSession) -> None:
    record = orders.update(id=1)
    found = changes(decode(frame(spark, [record, record.with_value(ts_ms=0)]), ORDERS), ORDERS)
    assert found.select(sequence(ORDERS).alias("s")).distinct().count() == 1


def test_arrival_orders_a_transaction_if_the_spec_says_so(spark: SparkSession) -> None:
    by_arrival = replace(ORDERS, connector=replace(ORDERS.connector, within_transaction="arrival"))
    records = [
        orders.delete(id=1).at("b:0:1", "b:0:9"),
        orders.create(id=1).at("b:0:1", "b:0:5"),
        orders.create(id=2).at("a:0:1", "c:0:1"),
    ]
    assert in_sequence(spark, records, by_arrival) == [2, 0, 1]
    assert in_sequence(spark, records) == [2, 1, 0]


def counted(record: Record, total_order: int | str | None) -> Record:
    return record.with_value(transaction={"id": "tx", "total_order": total_order, "data_collection_order": 1})


def test_the_connectors_count_orders_a_transaction_if_the_spec_says_so(spark: SparkSession) -> None:
    by_count = replace(ORDERS, connector=replace(ORDERS.connector, within_transaction="total_order"))
    records = [
        counted(orders.create(id=1).at("b:0:1", "b:0:5"), 10),
        counted(orders.delete(id=1).at("b:0:1", "b:0:9"), "9"),
        orders.read(id=1).with_source(commit_lsn=lsn("b:0:1"), snapshot="incremental"),
        orders.read(id=1).with_source(commit_lsn=lsn("b:0:1"), snapshot="last"),
        counted(orders.create(id=2).at("a:0:1", "c:0:1"), 1),
    ]
    assert in_sequence(spark, records, by_count) == [4, 3, 1, 0, 2]
    again = changes(decode(frame(spark, [records[0], records[0]]), by_count), by_count)
    assert again.select(sequence(by_count).alias("sequence")).distinct().count() == 1


def test_by_default_the_count_decides_where_there_is_one_and_else_the_log(spark: SparkSession) -> None:
    records = [
        counted(orders.create(id=1).at("b:0:1", "b:0:5"), 10),
        counted(orders.delete(id=1).at("b:0:1", "b:0:9"), "9"),
        orders.read(id=1).with_source(commit_lsn=lsn("b:0:1"), snapshot="incremental"),
        orders.read(id=1).with_source(commit_lsn=lsn("b:0:1"), snapshot="last"),
        orders.create(id=2).at("a:0:1", "c:0:1"),
        orders.delete(id=2).at("a:0:1", "b:0:1"),
        orders.update(id=2).at("c:0:1", "1:0:1"),
    ]
    assert in_sequence(spark, records) == [5, 4, 3, 1, 0, 2, 6]


def test_a_change_that_an_earlier_version_decoded_has_a_sequence_too(spark: SparkSession) -> None:
    found = changes(decode(frame(spark, [orders.create(id=1)]), ORDERS), ORDERS)
    earlier = found.withColumn("_total_order", F.lit(None).cast("bigint"))
    assert earlier.select(sequence(ORDERS).total_order.alias("count")).collect() == [(0,)]


def test_by_default_a_count_that_cannot_be_read_is_rejected(spark: SparkSession) -> None:
    (found,) = decode(frame(spark, [counted(orders.create(id=1), "many")]), ORDERS).collect()
    assert (found._reason, found._message) == ("MISSING_POSITION", "transaction.total_order is `many`")


@pytest.mark.parametrize("absent", [None, "00", "NULL"])
def test_a_read_without_position_sorts_first_if_the_spec_lets_it(spark: SparkSession, absent: str | None) -> None:
    read = orders.read(id=1).with_source(commit_lsn=absent, change_lsn=None, event_serial_no=None, ts_ms=0)
    change, unplaced = orders.create(id=1).at("0:0:1"), orders.create(id=1).with_source(commit_lsn=absent)
    lenient = replace(ORDERS, connector=replace(ORDERS.connector, reads_without_position="first"))
    assert in_sequence(spark, [change, read], lenient) == [1, 0]
    rejected = decode(frame(spark, [unplaced]), lenient).unionByName(decode(frame(spark, [read]), ORDERS))
    assert [row._message for row in rejected.collect()] == [
        "source.commit_lsn is null",
        "source.commit_lsn is null; if the reads of this connector's snapshots have no position, write"
        " `reads_without_position: first` in the connector spec",
    ]


@pytest.mark.parametrize("total_order", [None, "many"])
def test_a_change_without_the_expected_count_is_rejected(spark: SparkSession, total_order: str | None) -> None:
    by_count = replace(ORDERS, connector=replace(ORDERS.connector, within_transaction="total_order"))
    (found,) = decode(frame(spark, [counted(orders.create(id=1), total_order)]), by_count).collect()
    shown = "null" if total_order is None else "`many`"
    assert (found._reason, found._message) == ("MISSING_POSITION", f"transaction.total_order is {shown}")


@pytest.mark.parametrize(
    "snapshot", [True, False, "true", "first", "first_in_data_collection", "last", "incremental", None]
)
def test_the_snapshot_marker_is_kept_as_text(spark: SparkSession, snapshot: str | bool | None) -> None:
    found = changes(decode(frame(spark, [orders.read(id=1).with_source(snapshot=snapshot)]), ORDERS), ORDERS)
    expected = None if snapshot is None else str(snapshot).lower()
    assert [row._snapshot for row in found.collect()] == [expected]
