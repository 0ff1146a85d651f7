"""Gold: rows and history are two views of the same versions."""

from dataclasses import replace
from datetime import datetime
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from tests.support.tables import column, table

from cdc import current_rows, history

ORDERS = table({"id": "int not null", "at": column("at", "datetimeoffset(7)", offset_target="at_offset")})
EIGHT, NINE = datetime(2026, 3, 1, 8), datetime(2026, 3, 1, 9)  # noqa: DTZ001 (as Spark collects)


def versions(spark: SparkSession) -> DataFrame:
    """Key 1 has three versions, two of one transaction; key 2 is deleted."""
    order = "struct<commit_lsn: string, change_lsn: string, committed_at: timestamp>"
    first, second, third = ("a", "1", EIGHT), ("a", "2", EIGHT), ("b", "1", NINE)
    rows: list[tuple[Any, ...]] = [
        (1, None, "+02:00", second, third),
        (1, None, "+03:00", third, None),
        (1, None, "+01:00", first, second),
        (2, None, "+01:00", first, third),
    ]
    schema = f"id int, at timestamp, at_offset string, __START_AT {order}, __END_AT {order}"
    return spark.createDataFrame(rows, schema)


def test_current_rows_are_the_versions_that_have_not_ended(spark: SparkSession) -> None:
    rows = current_rows(versions(spark), ORDERS)
    assert rows.columns == ["id", "at", "at_offset"]
    assert [tuple(row) for row in rows.collect()] == [(1, None, "+03:00")]


def test_without_history_every_row_is_current(spark: SparkSession) -> None:
    rows = current_rows(
        spark.createDataFrame([(1, None, None)], "id int, at timestamp, at_offset string"),
        replace(ORDERS, history=False),
    )
    assert rows.count() == 1


def test_history_has_times_and_numbers_for_people(spark: SparkSession) -> None:
    found = history(versions(spark), ORDERS).orderBy("id", "version").drop("at")
    assert [tuple(row) for row in found.collect()] == [
        (1, "+01:00", EIGHT, EIGHT, False, 1),
        (1, "+02:00", EIGHT, NINE, False, 2),
        (1, "+03:00", NINE, None, True, 3),
        (2, "+01:00", EIGHT, NINE, False, 1),
    ]
    assert found.columns == ["id", "at_offset", "valid_from", "valid_to", "is_current", "version"]
