"""Row rules: computed columns, the filter and quarantine, decided for each record while it is decoded."""

from dataclasses import replace
from decimal import Decimal

import pytest
from pyspark.sql import Row, SparkSession
from tests.support.messages import REJECT_MESSAGES
from tests.support.records import Record, Topic, frame
from tests.support.tables import table

from cdc import changes, decode, rejects
from cdc.debezium.decode import change_columns

ORDERS = table(
    {"id": "int not null", "total": "int", "parts": "int", "region": "nvarchar(2)", "code": "nvarchar(9)"},
    computed={"share": "total div parts", "number": "code + 1 -- an implicit cast"},
    filter="region = 'EU' AND coalesce(number, 0) < 100",
    expectations={"small": "share < 10", "counted": "id > 0"},
    actions={"small": "quarantine"},
)
FAILS = " fails for the values of the row; where null is right, use functions such as try_divide and try_cast"
orders = Topic(ORDERS.topic)


def order(number: int, total: int | None, parts: int, region: str | None, code: str | None) -> Record:
    return orders.create(id=number, total=total, parts=parts, region=region, code=code)


RECORDS = [
    order(1, 6, 2, "EU", "7"),
    order(2, None, 2, "EU", None),
    order(3, 6, 0, "EU", "7"),
    order(4, 6, 2, "EU", "x7"),
    order(5, 60, 2, "EU", "7"),
    order(6, 60, 2, "US", "7"),
    order(7, 6, 2, None, "7"),
    orders.delete(id=8, total=6, parts=0, region="EU", code="x"),
    orders.tombstone(id=8),
]


@pytest.fixture(scope="module")
def decoded(spark: SparkSession) -> list[Row]:
    return decode(frame(spark, RECORDS), ORDERS).orderBy("_offset").collect()


def test_a_rule_decides_about_each_change(decoded: list[Row]) -> None:
    failed = "computed column {}: `{}`" + FAILS
    assert [(row._outcome, row._reason, row._message) for row in decoded] == [
        ("change", None, None),
        ("reject", "QUARANTINED", "expectation small: `share < 10` is not met"),
        ("reject", "FAILED_SQL", failed.format("share", "total div parts")),
        ("reject", "FAILED_SQL", failed.format("number", "code + 1 -- an implicit cast")),
        ("reject", "QUARANTINED", "expectation small: `share < 10` is not met"),
        ("change", None, None),
        ("change", None, None),
        ("change", None, None),
        ("ignored", "tombstone", None),
    ]
    lines = [line.split("  ", 1) for line in REJECT_MESSAGES.read_text(encoding="utf-8").splitlines()]
    documented = {(reason, message) for reason, message in lines if reason in ("FAILED_SQL", "QUARANTINED")}
    assert documented <= {(row._reason, row._message) for row in decoded} and len(documented) == 2


def test_computed_columns_follow_the_tables_own_and_are_null_in_a_delete(decoded: list[Row]) -> None:
    assert decoded[0].__fields__[:7] == ["id", "total", "parts", "region", "code", "share", "number"]
    assert [(row.share, row.number) for row in decoded if row._outcome == "change"] == [
        (3, 8),
        (30, 8),
        (3, 8),
        (None, None),
    ]


def test_a_reject_by_a_rule_keeps_the_record_and_a_change_does_not(spark: SparkSession) -> None:
    found = decode(frame(spark, RECORDS), ORDERS)
    kept = rejects(found, ORDERS).orderBy("offset").collect()
    assert [(row.offset, bytes(row.value)) for row in kept] == [(n, RECORDS[n].value_bytes) for n in (1, 2, 3, 4)]
    assert found.where("_outcome <> 'reject' AND (_key IS NOT NULL OR _value IS NOT NULL)").count() == 0
    assert found.columns[-6:] == ["_outcome", "_reason", "_message", "_key", "_value", "_drift"]
    assert changes(found, ORDERS).columns[7:] == list(change_columns(ORDERS))


def test_a_filter_of_an_append_only_table_ignores_the_changes_that_it_leaves_out(spark: SparkSession) -> None:
    log = replace(ORDERS, key=(), append_only=True, filter="100 / parts > 10 AND region = 'EU'", computed={})
    log = replace(log, expectations={}, actions={})
    found = decode(frame(spark, RECORDS), log).orderBy("_offset").collect()
    failed = f"filter: `{log.filter}`{FAILS}"
    assert [(row._outcome, row._reason, row._message) for row in found] == [
        ("change", None, None),
        ("change", None, None),
        ("reject", "FAILED_SQL", failed),
        *[("change", None, None)] * 2,
        *[("ignored", "filtered", None)] * 2,
        # A delete has no row to judge.
        ("change", None, None),
        ("ignored", "tombstone", None),
    ]


def test_rules_see_masked_values(spark: SparkSession) -> None:
    columns = (*ORDERS.columns[:4], replace(ORDERS.columns[4], mask="'9'"))
    (row,) = decode(frame(spark, [order(1, 6, 2, "EU", "x")]), replace(ORDERS, columns=columns)).collect()
    assert (row._outcome, row.code, row.number) == ("change", "9", 10)


def test_a_soft_delete_sets_its_time_and_leaves_the_other_columns(spark: SparkSession) -> None:
    soft = replace(ORDERS, deletes="soft", filter=None, expectations={}, actions={})
    found = changes(decode(frame(spark, [RECORDS[0], RECORDS[7]]), soft), soft).orderBy("_offset").collect()
    assert found[0].__fields__[-3:] == ["_columns_to_update", "_deleted_at", "_has_row"]
    own = ["id", "total", "parts", "region", "code", "share", "number"]
    assert found[0][-3:] == ([*own, "_deleted_at", "_has_row"], None, True)
    assert found[1][-3:] == (["id", "_deleted_at"], found[1]._committed_at, None)


def test_a_computed_column_has_the_type_of_its_expression(spark: SparkSession) -> None:
    priced = table({"id": "int not null", "total": "decimal(18,2)"}, computed={"tax": "total * 0.2"})
    (row,) = changes(decode(frame(spark, [orders.create(id=1, total="AMg=")]), priced), priced).collect()
    assert row.tax == Decimal("0.400")
