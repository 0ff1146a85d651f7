"""Gaps in the offsets that bronze has."""

from datetime import UTC, datetime

import pytest
from pyspark.sql import Row, SparkSession
from tests.support.tables import table

from cdc import gaps, smallest_gap
from cdc.gaps import BadGapsSetting

ORDERS = table({"id": "int not null"})
OFFSETS = {0: (3, 4, 5, 9, 9, 10), 1: (0, 2, 3), 2: (7,)}


def found(spark: SparkSession, at_least: int) -> list[Row]:
    rows = [
        (ORDERS.topic, partition, offset, datetime.fromtimestamp(offset, UTC))
        for partition, offsets in OFFSETS.items()
        for offset in reversed(offsets)
    ]
    records = spark.createDataFrame(rows, "topic string, partition int, offset bigint, timestamp timestamp")
    return gaps({ORDERS: records}, at_least).orderBy("partition").collect()


def test_a_gap_is_between_two_records_of_a_partition(spark: SparkSession) -> None:
    expired, marker = found(spark, at_least=1)
    assert expired[:6] == ("shop.dbo.orders", ORDERS.topic, 0, 6, 8, 3)
    assert [each.timestamp() for each in expired[6:]] == [5, 9]
    assert marker[2:6] == (1, 1, 1, 1)


def test_a_gap_of_fewer_offsets_than_asked_for_does_not_count(spark: SparkSession) -> None:
    assert [row.first_offset for row in found(spark, at_least=2)] == [6]


@pytest.mark.parametrize(
    ("settings", "smallest"),
    [
        ({}, None),
        ({"cdc.gaps": "true"}, 1),
        ({"cdc.gaps": "2"}, 2),
        ({"cdc.kafka.failOnDataLoss": "false"}, 1),
        ({"cdc.kafka.failOnDataLoss": "false", "cdc.gaps": "3"}, 3),
        ({"cdc.kafka.failOnDataLoss": "false", "cdc.gaps": "false"}, None),
    ],
    ids=str,
)
def test_gaps_are_asked_for_by_settings(spark: SparkSession, settings: dict[str, str], smallest: int | None) -> None:
    session = spark.newSession()
    for name, value in settings.items():
        session.conf.set(name, value)
    assert smallest_gap(session) == smallest


@pytest.mark.parametrize("value", ["0", "-1", "yes"])
def test_another_setting_is_refused(spark: SparkSession, value: str) -> None:
    session = spark.newSession()
    session.conf.set("cdc.gaps", value)
    with pytest.raises(BadGapsSetting) as refused:
        smallest_gap(session)
    assert str(refused.value) == (
        f"BAD_GAPS_SETTING  cdc.gaps\n  the value is `{value}`\n  fix: set it to `true`, to `false`, or to the least"
        " number of missing offsets that counts: 2 leaves out the markers of a producer's transactions."
    )
