"""Switches of a pipeline's configuration: on, off, and refused."""

import pytest
from pyspark.sql import SparkSession

from cdc.switches import BadSwitch, is_on


@pytest.mark.parametrize(("value", "on"), [("true", True), ("True ", True), ("false", False), (None, False)])
def test_a_switch_is_on_or_off(spark: SparkSession, value: str | None, on: bool) -> None:
    session = spark.newSession()
    if value is not None:
        session.conf.set("cdc.drift", value)
    assert is_on(session, "cdc.drift") is on


@pytest.mark.parametrize("value", ["yes", "1", ""])
def test_another_value_is_refused(spark: SparkSession, value: str) -> None:
    session = spark.newSession()
    session.conf.set("cdc.drift", value)
    with pytest.raises(BadSwitch):
        is_on(session, "cdc.drift")
