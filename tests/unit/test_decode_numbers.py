"""Whole numbers, floats and decimals: exact, in range, or null."""

import base64
from dataclasses import replace
from decimal import Decimal

import pytest
from pyspark.sql import SparkSession
from tests.support.tables import CONNECTOR
from tests.support.values import converted

LONGEST = "99999999999999999999999999999999999999"


def unscaled(number: int) -> str:
    """A decimal as Kafka Connect writes it: the shortest two's complement, in base64."""
    length = (number if number >= 0 else ~number).bit_length() // 8 + 1
    return base64.b64encode(number.to_bytes(length, "big", signed=True)).decode()


def test_integers_keep_every_digit_and_refuse_what_is_out_of_range(spark: SparkSession) -> None:
    cases = [
        ("bigint", "9223372036854775807", "9223372036854775807"),
        ("bigint", "-9223372036854775808", "-9223372036854775808"),
        ("bigint", "9007199254740993", "9007199254740993"),
        ("bigint", "9223372036854775808", None),
        ("int", "-2147483648", "-2147483648"),
        ("int", "2147483648", None),
        ("int", "12.7", None),
        ("int", "1e3", None),
        ("int", "", None),
        ("int", '{"a":1}', None),
        ("smallint", "32768", None),
        ("tinyint", "255", "255"),
        ("tinyint", "256", None),
        ("tinyint", "-1", None),
        ("bit", "true", "true"),
        ("bit", "false", "false"),
        ("bit", "1", None),
        ("bit", "yes", None),
        ("int", None, None),
    ]
    assert converted(spark, [case[:2] for case in cases]) == [case[2] for case in cases]


def test_floats_are_finite_or_null(spark: SparkSession) -> None:
    cases = [
        ("real", "4.323", "4.323"),
        ("real", "3.4028235E38", "3.4028235E38"),
        ("real", "3.5E38", None),
        ("float", "1.7976931348623157E308", "1.7976931348623157E308"),
        ("float", "-4.9E-324", "-4.9E-324"),
        ("float", "0.1", "0.1"),
        ("float", "1E400", None),
        ("float", '"Infinity"', None),
        ("float", "one", None),
    ]
    assert converted(spark, [case[:2] for case in cases]) == [case[2] for case in cases]


@pytest.mark.parametrize(
    ("type_", "scale", "numbers"),
    [
        ("decimal(18,2)", 2, ["0", "1", "-1", "127", "128", "-128", "-129", "255", "256", "9" * 18, "-" + "9" * 18]),
        (
            "decimal(38,10)",
            10,
            ["0", "-1", LONGEST, "-" + LONGEST, str(2**63), str(-(2**63)), str(2**64), str(-(2**64))],
        ),
        ("decimal(38,0)", 0, [LONGEST, "-" + LONGEST, str(2**64 - 1), str(-(2**64) - 1), str(2**126), str(-(2**126))]),
        ("decimal(38,38)", 38, [LONGEST, "-" + LONGEST, "1"]),
        ("decimal(19,0)", 0, [str(2**63 - 1), str(2**63), str(-(2**63)), str(-(2**63) - 1), "9" * 19]),
        ("money", 4, ["9223372036854775807", "-9223372036854775808", "1"]),
        ("smallmoney", 4, ["2147483647", "-2147483648"]),
    ],
)
def test_a_precise_decimal_is_exact(spark: SparkSession, type_: str, scale: int, numbers: list[str]) -> None:
    texts = converted(spark, [(type_, unscaled(int(number))) for number in numbers])
    assert [Decimal(text or "NaN") for text in texts] == [Decimal(f"{number}E-{scale}") for number in numbers]


def test_a_precise_decimal_that_does_not_fit_is_null(spark: SparkSession) -> None:
    cases = [
        ("decimal(18,2)", unscaled(10**18)),
        ("decimal(18,2)", unscaled(2**64)),
        ("decimal(6,3)", unscaled(10**6)),
        ("decimal(38,0)", unscaled(10**38)),
        ("decimal(38,0)", unscaled(-(10**38))),
        ("decimal(38,0)", unscaled(2**127 - 1)),
        ("decimal(38,0)", unscaled(-(2**127))),
        ("decimal(38,0)", unscaled(2**128)),
        ("decimal(18,2)", ""),
        ("decimal(18,2)", "12.50 EUR"),
        ("decimal(18,2)", "12.50"),
        ("decimal(18,2)", "A"),
    ]
    assert converted(spark, cases) == [None] * len(cases)


def test_decimals_as_text_are_exact_and_not_rounded(spark: SparkSession) -> None:
    as_text = replace(CONNECTOR, decimal_handling_mode="string")
    cases = [
        ("decimal(38,10)", "-1234567890123456789012345678.0123456789", "-1234567890123456789012345678.0123456789"),
        ("decimal(18,2)", "1.50", "1.50"),
        ("decimal(18,2)", "7", "7.00"),
        ("decimal(18,2)", "1.005", None),
        ("decimal(4,2)", "123.45", None),
        ("money", "-922337203685477.5808", "-922337203685477.5808"),
        ("decimal(18,2)", "1,50", None),
    ]
    assert converted(spark, [case[:2] for case in cases], as_text) == [case[2] for case in cases]


def test_decimals_as_doubles_come_back_at_their_scale(spark: SparkSession) -> None:
    as_double = replace(CONNECTOR, decimal_handling_mode="double")
    cases = [("decimal(18,2)", "1.1"), ("decimal(18,2)", "1.0E10"), ("smallmoney", "5.323"), ("decimal(4,2)", "1.0E3")]
    assert converted(spark, cases, as_double) == ["1.10", "10000000000.00", "5.3230", None]
