"""Dates, times and timestamps: the unit follows from type and mode, the microsecond is exact."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from pyspark.sql import SparkSession
from tests.support.tables import CONNECTOR
from tests.support.values import converted

ADAPTIVE = [
    ("date", "17725", "2018-07-13"),
    ("date", "-719162", "0001-01-01"),
    ("date", "2932896", "9999-12-31"),
    ("date", "2932897", None),
    ("date", "2018-07-13", None),
    ("time(0)", "37426000", "10:23:46"),
    ("time(3)", "37425679", "10:23:45.679"),
    ("time(5)", "37425678900", "10:23:45.67890"),
    ("time(7)", "86399999999900", "23:59:59.9999999"),
    ("time(7)", "0", "00:00:00.0000000"),
    ("time(7)", "86400000000000", None),
    ("time(3)", "-1", None),
    ("datetime", "1531488225780", "2018-07-13 13:23:45.78"),
    ("smalldatetime", "1531491840000", "2018-07-13 14:24:00"),
    ("datetime2(3)", "-62135596800000", "0001-01-01 00:00:00"),
    ("datetime2(3)", "253402300799999", "9999-12-31 23:59:59.999"),
    ("datetime2(3)", "253402300800000", None),
    ("datetime2(3)", "9223372036854775807", None),
    ("datetime2(6)", "1531481025340123", "2018-07-13 11:23:45.340123"),
    ("datetime2(6)", "-62135596800000001", None),
    ("datetime2(7)", "1531481025340123400", "2018-07-13 11:23:45.340123"),
    ("datetime2(7)", "1531481025340123900", "2018-07-13 11:23:45.340123"),
    ("datetime2(7)", "-100", "1969-12-31 23:59:59.999999"),
    ("datetime2(7)", "-9223372036854775808", "1677-09-21 00:12:43.145224"),
    ("datetime2(7)", "9223372036854775808", None),
    ("datetime2(7)", "tomorrow", None),
    ("datetimeoffset(0)", "2018-07-13T12:23:45+11:00", "2018-07-13 01:23:45Z"),
    ("datetimeoffset(7)", "2026-01-02T03:04:05.1234567Z", "2026-01-02 03:04:05.123456Z"),
    ("datetimeoffset(3)", "2018-07-13T12:23:45.456-05:30", "2018-07-13 17:53:45.456Z"),
    ("datetimeoffset(7)", "9999-12-31T23:59:59.9999999+14:00", "9999-12-31 09:59:59.999999Z"),
    ("datetimeoffset(7)", "2018-07-13T12:23:45", None),
    ("datetimeoffset(7)", "12:23:45Z", None),
]
ISO = [
    ("date", "2018-07-13Z", "2018-07-13"),
    ("date", "2018-07-13 x", None),
    ("date", "2018-02-30Z", None),
    ("time(7)", "10:23:45.678901Z", "10:23:45.6789010"),
    ("time(7)", "10:23:45.6789012Z", "10:23:45.6789012"),
    ("time(0)", "10:23:46Z", "10:23:46"),
    ("time(3)", "10:23Z", "10:23:00.000"),
    ("time(3)", "24:00:00Z", None),
    ("datetime", "2018-07-13T11:23:45.34Z", "2018-07-13 11:23:45.34"),
    ("datetime2(7)", "9999-12-31T23:59:59.9999999Z", "9999-12-31 23:59:59.999999"),
    ("datetime2(7)", "0001-01-01T00:00:00Z", "0001-01-01 00:00:00"),
    ("datetime2(7)", "2018", None),
    ("datetime2(7)", "1531481025340", None),
    ("datetimeoffset(7)", "2018-07-13T12:23:45.456+11:00", "2018-07-13 01:23:45.456Z"),
]


@pytest.fixture(params=["UTC", "America/New_York", "Asia/Kathmandu"])
def session(request: pytest.FixtureRequest, spark: SparkSession) -> Iterator[SparkSession]:
    """Sessions in several time zones: none may change a value."""
    before = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", request.param)
    yield spark
    spark.conf.set("spark.sql.session.timeZone", before)


def test_adaptive_counts_the_coarsest_unit_that_holds_the_digits(session: SparkSession) -> None:
    assert converted(session, [case[:2] for case in ADAPTIVE]) == [case[2] for case in ADAPTIVE]


def test_iso_texts_are_read_to_the_microsecond(session: SparkSession) -> None:
    connector = replace(CONNECTOR, time_precision_mode="isostring")
    assert converted(session, [case[:2] for case in ISO], connector) == [case[2] for case in ISO]


@pytest.mark.parametrize(
    ("mode", "time", "timestamp"),
    [
        ("adaptive_time_microseconds", "37425678901", "1531481025340123400"),
        ("connect", "37425678", "1531481025340"),
        ("microseconds", "37425678901", "1531481025340123"),
        ("nanoseconds", "37425678901200", "1531481025340123400"),
    ],
)
def test_a_mode_fixes_the_unit(spark: SparkSession, mode: str, time: str, timestamp: str) -> None:
    connector = replace(CONNECTOR, time_precision_mode=mode)
    shown = converted(spark, [("time(7)", time), ("datetime2(7)", timestamp)], connector)
    whole = ["10:23:45.6789012", "2018-07-13 11:23:45.340123"]
    kept = {"connect": 12, "nanoseconds": 16}.get(mode, 15)
    assert shown[0] == whole[0][:kept].ljust(16, "0")
    assert shown[1] == (whole[1][:22] if mode == "connect" else whole[1])


OPEN_END, OPEN_START = -4852116231933722724, -6795364578871345152


@pytest.mark.parametrize(
    ("overflow", "open_end", "open_start"),
    [
        ("repair", "9999-12-31 23:59:59.999999", "0001-01-01 00:00:00"),
        ("keep", "1816-03-30 05:56:08.066277", "1754-08-30 22:43:41.128654"),
        ("reject", None, None),
    ],
)
def test_nanoseconds_that_overflowed_64_bits(
    spark: SparkSession, overflow: str, open_end: str | None, open_start: str | None
) -> None:
    cases = [("datetime2(7)", str(OPEN_END)), ("datetime2(7)", str(OPEN_START))]
    assert converted(spark, cases, overflow=overflow) == [open_end, open_start]


def test_the_days_next_to_those_of_open_intervals_are_unchanged(spark: SparkSession) -> None:
    cases = [("datetime2(7)", str(OPEN_END + 100)), ("datetime2(7)", str(OPEN_START - 100))]
    assert converted(spark, cases) == ["1816-03-30 05:56:08.066277", "1754-08-30 22:43:41.128654"]


@pytest.mark.parametrize(
    ("type_", "mode", "text"),
    [("datetime", "adaptive", "1531488225780"), ("datetime2(7)", "isostring", "2018-07-13T13:23:45.78Z")],
)
def test_with_a_zone_a_timestamp_is_an_instant(session: SparkSession, type_: str, mode: str, text: str) -> None:
    connector = replace(CONNECTOR, time_precision_mode=mode)
    cases = [(type_, text)]
    assert converted(session, cases, connector, zone="Europe/Berlin") == ["2018-07-13 11:23:45.78Z"]


def test_a_repeated_hour_is_the_first_and_a_skipped_hour_the_next(spark: SparkSession) -> None:
    twice, left_out = "2018-10-28T02:30:00Z", "2018-03-25T02:30:00Z"
    connector = replace(CONNECTOR, time_precision_mode="isostring")
    found = converted(spark, [("datetime", twice), ("datetime", left_out)], connector, zone="Europe/Berlin")
    assert found == ["2018-10-28 00:30:00Z", "2018-03-25 01:30:00Z"]
