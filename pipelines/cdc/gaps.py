"""Gaps: offsets of a topic that bronze does not have, between two that it has."""

from collections.abc import Mapping
from functools import reduce

from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F

from cdc.errors import RunCondition, RunError
from cdc.spec.model import TableSpec

SETTING = "cdc.gaps"
_DATA_LOSS = "cdc.kafka.failOnDataLoss"
_PARTITION = ("topic", "partition")


class BadGapsSetting(RunError):
    """``cdc.gaps`` is neither true, nor false, nor a number."""

    def __init__(self, value: str) -> None:
        super().__init__(
            RunCondition.BAD_GAPS_SETTING,
            SETTING,
            f"the value is `{value}`",
            "set it to `true`, to `false`, or to the least number of missing offsets that counts: 2 leaves out the"
            " markers of a producer's transactions.",
        )


def smallest_gap(spark: SparkSession) -> int | None:
    """The least number of missing offsets that counts, by ``cdc.gaps``; None if no gaps are asked for.

    Where the Kafka reader goes on after a loss (``cdc.kafka.failOnDataLoss: false``), they always are.

    Raises:
        BadGapsSetting: the setting has another form.
    """
    goes_on = str(spark.conf.get(_DATA_LOSS, "true")).lower() == "false"
    value = str(spark.conf.get(SETTING, "true" if goes_on else "false")).lower()
    if value in ("true", "false"):
        return 1 if value == "true" else None
    if not value.isdecimal() or int(value) < 1:
        raise BadGapsSetting(value)
    return int(value)


def gaps(records: Mapping[TableSpec, DataFrame], at_least: int) -> DataFrame:
    """The gaps in the records of some tables.

    Grain: one row per range of offsets that a partition does not have, between two records that it has. Columns:
    `table` (the source's), `topic`, `partition`, `first_offset`, `last_offset`, `missing` (how many offsets), and
    `recorded_before` and `recorded_after`, the timestamps of the records on both sides.

    Args:
        records: each table's records (`read_records`), all that have arrived.
        at_least: the least number of missing offsets that counts.
    """
    return reduce(DataFrame.unionByName, (_of_table(frame, table, at_least) for table, frame in records.items()))


def _of_table(records: DataFrame, table: TableSpec, at_least: int) -> DataFrame:
    in_order = Window.partitionBy(*_PARTITION).orderBy("offset")
    pairs = records.select(
        *_PARTITION,
        "offset",
        F.lead("offset").over(in_order).alias("next"),
        F.col("timestamp").alias("recorded_before"),
        F.lead("timestamp").over(in_order).alias("recorded_after"),
    )
    missing = F.col("next") - F.col("offset") - 1
    return pairs.where(missing >= at_least).select(
        F.lit(table.source).alias("table"),
        *_PARTITION,
        (F.col("offset") + 1).alias("first_offset"),
        (F.col("next") - 1).alias("last_offset"),
        missing.alias("missing"),
        "recorded_before",
        "recorded_after",
    )
