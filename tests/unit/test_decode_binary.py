"""Bytes and texts in every binary mode."""

from dataclasses import replace

import pytest
from pyspark.sql import SparkSession
from tests.support.tables import CONNECTOR
from tests.support.values import converted


@pytest.mark.parametrize(
    ("mode", "texts", "bytes_"),
    [
        ("bytes", ["AP8Q", "", "AAAAAAAAB9E=", "+/8="], ["00ff10", "", "00000000000007d1", "fbff"]),
        ("base64", ["AP8Q", "+/8="], ["00ff10", "fbff"]),
        ("base64-url-safe", ["AP8Q", "-_8=", "-_8"], ["00ff10", "fbff", "fbff"]),
        ("hex", ["00ff10", "00FF10", ""], ["00ff10", "00ff10", ""]),
    ],
)
def test_bytes_come_back_as_they_were(spark: SparkSession, mode: str, texts: list[str], bytes_: list[str]) -> None:
    connector = replace(CONNECTOR, binary_handling_mode=mode)
    assert converted(spark, [("varbinary(max)", text) for text in texts], connector) == bytes_


@pytest.mark.parametrize(("mode", "text"), [("bytes", "AP8*"), ("base64", "A"), ("hex", "0f0"), ("hex", "0g")])
def test_a_text_of_another_mode_is_null(spark: SparkSession, mode: str, text: str) -> None:
    connector = replace(CONNECTOR, binary_handling_mode=mode)
    assert converted(spark, [("varbinary(10)", text)], connector) == [None]


def test_texts_come_through_untouched(spark: SparkSession) -> None:
    texts = ["", " padded ", "č😀\u0000", "NULL", '{"not": "parsed"}']
    assert converted(spark, [("nvarchar(20)", text) for text in texts]) == texts
