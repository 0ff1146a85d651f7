"""Reconciliation: equal rows have equal hashes in any order, and keys that differ are listed with the reason."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, Row, SparkSession
from tests.support.tables import column, table

from cdc.reconcile import (
    GOLD,
    RANGE,
    REASON,
    SOURCE,
    ColumnsNotComparable,
    Sides,
    by_range,
    differences,
    in_ranges,
    rows_at,
    sides,
    summary,
)
from cdc.spec.model import Into

ORDERS = table({"id": "int not null", "a": "nvarchar(9)", "b": "nvarchar(9)"})
SCHEMA = "id int, a string, b string"
ROWS = [(1, "x", None), (2, "y", "z"), (9_999, None, None), (10_000, "", "x"), (-1, "x", "x")]


def frame(spark: SparkSession, rows: Sequence[tuple[Any, ...]], schema: str = SCHEMA) -> DataFrame:
    return spark.createDataFrame(list(rows), schema)


def both(spark: SparkSession, source: Sequence[tuple[Any, ...]], gold: Sequence[tuple[Any, ...]]) -> Sides:
    return sides(frame(spark, source), frame(spark, gold), ORDERS)


def ranges_that_differ(compared: Sides) -> list[int | None]:
    return [each[RANGE] for each in summary(by_range(compared)).collect()[0].differing]


def reasons(compared: Sides) -> dict[Any, str]:
    """Key -> reason of each difference, of a table with one key column."""
    return {row[compared.key[0]]: row[REASON] for row in differences(compared).collect()}


def test_equal_rows_have_equal_hashes_in_any_order_and_number_of_partitions(spark: SparkSession) -> None:
    compared = sides(frame(spark, ROWS), frame(spark, ROWS[::-1]).repartition(5), ORDERS)
    rows = by_range(compared).orderBy(RANGE).collect()
    assert [(row[RANGE], row.source_rows, row.gold_rows) for row in rows] == [
        (-10_000, 1, 1),
        (0, 3, 3),
        (10_000, 1, 1),
    ]
    assert all(row.source_hash == row.gold_hash for row in rows)
    assert len({row.source_hash for row in rows}) == 3
    assert ranges_that_differ(compared) == [] and reasons(compared) == {}
    assert summary(by_range(compared)).collect() == [Row(source_rows=5, gold_rows=5, ranges=3, differing=[])]


def test_nothing_equals_nothing(spark: SparkSession) -> None:
    compared = both(spark, [], [])
    assert summary(by_range(compared)).collect() == [Row(source_rows=0, gold_rows=0, ranges=0, differing=[])]


CHANGED = {
    "a value": (2, "y", "Z"),
    "a null for an empty text": (2, "y", ""),
    "values that change places": (2, "z", "y"),
    "a null that changes places": (1, None, "x"),
}


@pytest.mark.parametrize("row", CHANGED.values(), ids=CHANGED)
def test_a_changed_row_changes_the_hash_of_its_range_only(spark: SparkSession, row: tuple[Any, ...]) -> None:
    changed = [row if row[0] == each[0] else each for each in ROWS]
    compared = both(spark, changed, ROWS)
    assert ranges_that_differ(compared) == [0]
    assert list(reasons(compared)) == [row[0]]


def test_rows_that_balance_each_other_out_do_not_hide(spark: SparkSession) -> None:
    """As many rows on both sides, and the same values in other rows: only the hash can tell."""
    assert ranges_that_differ(both(spark, [(1, "x", "y"), (2, "y", "x")], [(1, "y", "x"), (2, "x", "y")])) == [0]
    assert ranges_that_differ(both(spark, [(1, "x", "y")] * 3, [(1, "x", "y")])) == [0]


def test_keys_that_differ_are_listed_with_the_reason(spark: SparkSession) -> None:
    source = [(1, "x", None), (2, "y", "z"), (4, "x", "x"), (4, "x", "x"), (5, "x", "y"), (6, None, "b")]
    gold = [(2, "y", "z"), (3, "x", "x"), (4, "x", "x"), (5, "y", "x"), (6, None, None)]
    compared = both(spark, source, gold)
    assert reasons(compared) == {
        1: "missing in gold",
        3: "missing in the source",
        4: "more than once in the source",
        5: "differs in a, b",
        6: "differs in b",
    }
    found = {row.id: row for row in differences(compared).collect()}
    assert (found[1][SOURCE], found[1][GOLD]) == (Row(id=1, a="x", b=None), None)
    assert (found[5][SOURCE].a, found[5][GOLD].a) == ("x", "y")


def test_only_the_ranges_asked_for_are_compared_row_by_row(spark: SparkSession) -> None:
    gold = [(1, "x", "NEW"), *ROWS[1:3], (10_000, "", "NEW"), ROWS[4]]
    compared = both(spark, ROWS, gold)
    assert ranges_that_differ(compared) == [0, 10_000]
    first = in_ranges(compared, [0])
    assert (first.source.count(), first.gold.count()) == (3, 3)
    assert reasons(first) == {1: "differs in b"}
    assert reasons(in_ranges(compared, [0, 10_000])) == reasons(compared)
    assert reasons(in_ranges(compared, [])) == {}


def test_a_range_of_numbers_is_a_condition_that_the_source_can_evaluate(spark: SparkSession, tmp_path: Path) -> None:
    frame(spark, ROWS).write.parquet(str(tmp_path / "rows"))
    compared = sides(spark.read.parquet(str(tmp_path / "rows")), frame(spark, ROWS), ORDERS)
    plan = in_ranges(compared, [0]).source._jdf.queryExecution().toString()  # type: ignore[operator]
    assert "GreaterThanOrEqual(id,0), LessThan(id,10000)" in plan


def test_other_keys_are_put_into_buckets(spark: SparkSession) -> None:
    parts = table({"sku": "varchar(9) not null", "no": "nvarchar(9) not null", "n": "int"}, key=("sku", "no"))
    schema = "sku string, no string, n int"
    rows = [(f"S{number}", "x", number) for number in range(50)]
    compared = sides(frame(spark, rows, schema), frame(spark, [*rows[:49], ("S49", "x", 0)], schema), parts)
    differing = ranges_that_differ(compared)
    assert len(differing) == 1 and 0 <= (differing[0] or 0) < compared.buckets
    assert reasons(in_ranges(compared, differing)) == {"S49": "differs in n"}


def test_the_whole_number_of_a_composite_key_makes_the_ranges(spark: SparkSession) -> None:
    columns = {"shop": "nvarchar(9) not null", "no": "bigint not null", "n": "int"}
    lines, schema = table(columns, key=("shop", "no")), "shop string, no bigint, n int"
    compared = sides(frame(spark, [("x", 25_000, 1)], schema), frame(spark, [("y", 25_000, 1)], schema), lines)
    assert ranges_that_differ(compared) == [20_000]


def test_a_key_without_room_for_a_range_is_compared_too(spark: SparkSession) -> None:
    least = -(2**63)
    wide, schema = table({"id": "bigint not null", "n": "int"}), "id bigint, n int"
    compared = sides(frame(spark, [(least, 1), (2**63 - 1, 1)], schema), frame(spark, [(2**63 - 1, 1)], schema), wide)
    differing = ranges_that_differ(compared)
    assert differing == [None]
    assert reasons(in_ranges(compared, differing)) == {least: "missing in gold"}


def test_zeros_and_numbers_that_are_none_are_equal_to_themselves(spark: SparkSession) -> None:
    floats, schema = table({"id": "int not null", "f": "float"}), "id int, f double"
    source, gold = [(1, 0.0), (2, float("nan"))], [(1, -0.0), (2, float("nan"))]
    compared = sides(frame(spark, source, schema), frame(spark, gold, schema), floats)
    assert ranges_that_differ(compared) == [] and reasons(compared) == {}


SPECIAL = table(
    {
        "id": "int not null",
        "Full Name": column("Full Name", "nvarchar(80)", target="full_name"),
        "email": column("email", "nvarchar(80)", mask="sha2(email, 256)"),
        "total": "decimal(18,2)",
        "at": "datetime2(7)",
        "region": column("region", "nvarchar(40)", constant="eu"),
    },
    key=("region", "id"),
    into=Into("customers", "eu", "region"),
    computed={"large": "total > 10"},
    filter="large OR full_name = 'Ada'",
    deletes="soft",
)


def test_the_source_is_compared_as_the_spec_says(spark: SparkSession) -> None:
    """Names in other letters, types of a CSV file, a mask, a filter, a target of several sources, soft deletes."""
    source = [
        ("1", "Ada", "a@example.com", "9.9", "2026-03-01 12:00:00.123456", "unknown to the spec"),
        ("2", "Bob", None, "10.01", None, ""),
        ("3", "Too little", None, "10.00", None, ""),
    ]
    source_frame = frame(
        spark, source, "ID string, `full name` string, email string, total string, at string, x string"
    )
    masked = spark.sql("SELECT sha2('a@example.com', 256)").first()[0]  # type: ignore[index]
    at = datetime(2026, 3, 1, 12, 0, 0, 123456)  # noqa: DTZ001  a datetime2 has no zone
    gold = [
        (1, "Ada", masked, Decimal("9.90"), at, "eu", False, None),
        (2, "Bob", None, Decimal("10.01"), None, "eu", True, None),
        (4, "Deleted", None, Decimal("99.00"), None, "eu", True, datetime(2026, 3, 2, tzinfo=UTC)),
        (5, "Elsewhere", None, Decimal("99.00"), None, "us", True, None),
    ]
    schema = "id int, full_name string, email string, total decimal(18,2), at timestamp_ntz, region string"
    gold_frame = frame(spark, gold, f"{schema}, large boolean, deleted_at timestamp")
    compared = sides(source_frame, gold_frame, SPECIAL)
    assert compared.source.columns == ["id", "full_name", "email", "total", "at", "region"]
    assert ranges_that_differ(compared) == []
    assert [row[RANGE] for row in by_range(compared).collect()] == [0]
    wider = gold_frame.withColumn("total", gold_frame["total"].cast("decimal(20,4)"))
    assert ranges_that_differ(sides(source_frame, wider, SPECIAL)) == []
    without = sides(source_frame.drop("at"), gold_frame, SPECIAL, leave_out=["at"])
    assert ranges_that_differ(without) == []


@pytest.mark.parametrize(
    ("value", "type_"), [("1.5", "string"), ("x", "string"), (1.5, "double"), (2**31, "bigint")], ids=str
)
def test_a_value_that_does_not_fit_its_column_ends_the_comparison(spark: SparkSession, value: Any, type_: str) -> None:
    numbers = table({"id": "int not null", "n": "int"})
    compared = sides(frame(spark, [(1, value)], f"id int, n {type_}"), frame(spark, [(1, 1)], "id int, n int"), numbers)
    with pytest.raises(PySparkException, match=f"column n of the source: `{value}` is not a int"):
        by_range(compared).collect()


def test_missing_columns_are_named(spark: SparkSession) -> None:
    with pytest.raises(ColumnsNotComparable, match=r"`a` \(did you mean `aa`\?\), `b`"):
        sides(frame(spark, [], "id int, aa string"), frame(spark, []), ORDERS)


def test_rows_as_they_were_at_a_moment(spark: SparkSession) -> None:
    noon = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
    hour = timedelta(hours=1)
    versions = [
        (1, "old", noon - hour, noon, False, 1),
        (1, "new", noon, None, True, 2),
        (2, "empty", noon, noon, False, 1),
        (2, "deleted", noon, noon + hour, False, 2),
        (3, "later", noon + hour, None, True, 1),
    ]
    schema = "id int, a string, valid_from timestamp, valid_to timestamp, is_current boolean, version int"
    rows = rows_at(frame(spark, versions, schema), noon)
    assert rows.columns == ["id", "a"]
    assert sorted(map(tuple, rows.collect())) == [(1, "new"), (2, "deleted")]
