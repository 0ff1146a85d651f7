"""Keys as SQL text: exact, or not at all."""

import pytest
from pyspark.sql.types import (
    BinaryType,
    DataType,
    DateType,
    DoubleType,
    IntegerType,
    LongType,
    StringType,
    TimestampType,
    VarcharType,
)

from dlt_local.auto_cdc.key_list import is_among, key_sql


@pytest.mark.parametrize(
    ("keys", "sql"),
    [
        ({"a": LongType()}, "`a`"),
        ({"a`b": StringType()}, "`a``b`"),
        ({"a": DateType()}, "concat_ws(',', CAST(length(CAST(`a` AS STRING)) AS STRING), CAST(`a` AS STRING))"),
        ({"a": TimestampType()}, None),
        ({"a": IntegerType(), "b": DoubleType()}, None),
        ({"a": IntegerType(), "b": StringType("UTF8_LCASE")}, None),
        ({"a": VarcharType(3)}, None),
        ({"a": BinaryType()}, None),
    ],
)
def test_a_key_is_key_sql_text_where_that_tells_it_from_all_others(keys: dict[str, DataType], sql: str | None) -> None:
    assert key_sql(keys) == sql


def test_values_are_listed() -> None:
    assert is_among("`a`", [1, -2]) == "`a` IN (1,-2)"
    assert is_among("`a`", ["x y", "ä\n"]) == "`a` IN ('x y','ä\n')"
    assert is_among("`a`", []) == "FALSE"


@pytest.mark.parametrize("value", ["it's", "a\\b", "${env:HOME}", "a\0b", b"\xff".decode(errors="replace")])
def test_what_cannot_stand_in_a_literal_as_it_is_is_not_listed(value: str) -> None:
    assert is_among("`a`", ["x", value]) is None
