"""A wide table: planning and running do not grow faster than its columns."""

import itertools
import time

import pytest
from pyspark.sql import SparkSession
from tests.support.records import Topic, frame
from tests.support.tables import table

from cdc import decode
from cdc.debezium.decode import _projections

VALUES = {
    "int": 5,
    "nvarchar(40)": "text",
    "decimal(18,2)": "BGM=",
    "datetime2(7)": 1_531_481_025_340_123_400,
    "decimal(38,10)": "BGM=",
    "bit": True,
    "time(7)": 37_425_678_901_200,
    "varbinary(20)": "AP8Q",
    "nvarchar(max)": "long",
    "datetimeoffset(7)": "2018-07-13T12:23:45+11:00",
}
RECORDS = 200


@pytest.mark.long
def test_time_grows_linearly_with_columns(spark: SparkSession) -> None:
    seconds(spark, 20)
    took = {width: min(seconds(spark, width) for _ in range(2)) for width in (50, 100, 200)}
    print(took)
    # Twice what linear growth gives, for the noise of a shared machine.
    assert took[100] < 2 * 2 * took[50]
    assert took[200] < 2 * 4 * took[50]


def seconds(spark: SparkSession, width: int) -> float:
    """How long a table of so many columns takes to plan and to decode its records."""
    types = dict(zip((f"c{number}" for number in range(width - 1)), itertools.cycle(VALUES), strict=False))
    wide = table({"id": "int not null", **types})
    row = {name: VALUES[type_] for name, type_ in types.items()}
    topic = Topic(wide.topic)
    records = frame(spark, [topic.create(id=number, **row) for number in range(RECORDS)])
    _projections.cache_clear()
    began = time.perf_counter()
    decoded = decode(records, wide)
    assert decoded.where("_outcome = 'change'").count() == RECORDS
    decoded.write.format("noop").mode("overwrite").save()
    return time.perf_counter() - began
