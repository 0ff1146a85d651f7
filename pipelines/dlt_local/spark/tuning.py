"""Spark conf by the size of a query's input: fixed cost dominates for a few rows, throughput for millions.

A session starts with conf for small data (see `session`); a query over large data gets Spark's defaults back, one over
data in between those that pay off first.
"""

import os
from collections.abc import Mapping

from pyspark.sql import DataFrame, SparkSession

from dlt_local.spark import jvm
from dlt_local.spark.session import SMALL_DATA

_LARGE_BYTES = 1024 * 1024
"""Size of the input files, compressed, from which a query is large: some 20,000 changes of a dozen columns."""
_MEDIUM_BYTES = 128 * 1024
"""Size from which single expressions are worth compiling. Uncompiled, Delta's statistics of a row take time with the
square of its columns: 10,000 rows of 25 columns are written in 0.8 seconds instead of 0.3."""
_FOR_MEDIUM = {"spark.sql.codegen.factoryMode": "FALLBACK"}
_FOR_LARGE = {
    **_FOR_MEDIUM,
    "spark.sql.codegen.wholeStage": "true",
    "spark.sql.shuffle.partitions": str(2 * (os.cpu_count() or 1)),
}


def is_for_small_data(session: SparkSession) -> bool:
    """True if a session's queries are run as those over small data."""
    setting = "spark.sql.codegen.wholeStage"
    return session.conf.get(setting) == SMALL_DATA[setting]


def settings_for(frame: DataFrame, table_bytes: int = 0) -> Mapping[str, str]:
    """The conf overrides that suit the query's size; none for small data.

    A user's own values win: only conf that still has the engine's initial value is overridden.

    Args:
        frame: the query.
        table_bytes: the size of a table that its rows are joined to, in bytes.
    """
    size = table_bytes + bytes_read(frame)
    wanted = _FOR_LARGE if size >= _LARGE_BYTES else _FOR_MEDIUM if size >= _MEDIUM_BYTES else {}
    conf = frame.sparkSession.conf
    return {key: value for key, value in wanted.items() if conf.get(key) == SMALL_DATA[key]}


def tuned(frame: DataFrame) -> DataFrame:
    """The same query with the conf that suits it.

    A query that is not small moves to a cloned session: other queries run in the original one at the same time.
    """
    settings = settings_for(frame)
    if not settings:
        return frame
    moved = jvm.in_cloned_session(frame)
    for key, value in settings.items():
        moved.sparkSession.conf.set(key, value)
    return moved


def bytes_read(frame: DataFrame) -> int:
    """The total size of the query's input files; huge for a source of unknown size, such as Kafka."""
    return sum(int(leaf.stats().sizeInBytes()) for leaf in jvm.elements(jvm.analyzed_plan(frame).collectLeaves()))
