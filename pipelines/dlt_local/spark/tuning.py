"""Spark's settings by the size of what a query reads: a few rows are all fixed cost, millions are not.

A session begins with the settings for little data (see `session`); a batch that reads much gets Spark's own.
"""

import os
from collections.abc import Mapping

from pyspark.sql import DataFrame, SparkSession

from dlt_local.spark.session import SMALL_DATA

_LARGE_BYTES = 1024 * 1024
"""Of files as they lie on disk, well packed: some 20,000 changes of a dozen columns."""
_FOR_LARGE = {
    "spark.sql.codegen.wholeStage": "true",
    "spark.sql.codegen.factoryMode": "FALLBACK",
    "spark.sql.shuffle.partitions": str(2 * (os.cpu_count() or 1)),
}


def settings_for(frame: DataFrame, table_bytes: int = 0) -> Mapping[str, str]:
    """The settings that suit the query, beside those of its session; none for little data.

    What a user has set stays: only settings that a session of the engine's begins with are changed.

    Args:
        frame: the query.
        table_bytes: size of a table that its rows are looked up in.
    """
    if table_bytes + bytes_read(frame) < _LARGE_BYTES:
        return {}
    conf = frame.sparkSession.conf
    return {key: value for key, value in _FOR_LARGE.items() if conf.get(key) == SMALL_DATA[key]}


def tuned(frame: DataFrame) -> DataFrame:
    """The same query with the settings that suit it, in a session that shares nothing but tables and views.

    Other queries run in the session that it comes from, and are not to be given settings that are not for them.
    """
    settings = settings_for(frame)
    if not settings:
        return frame
    of_all = frame.sparkSession
    jvm = of_all._jvm
    assert jvm is not None
    java_session = of_all._jsparkSession.cloneSession()
    session = SparkSession(of_all.sparkContext, java_session)
    for key, value in settings.items():
        session.conf.set(key, value)
    analyzed = frame._jdf.queryExecution().analyzed()
    return DataFrame(jvm.org.apache.spark.sql.classic.Dataset.ofRows(java_session, analyzed), session)


def bytes_read(frame: DataFrame) -> int:
    """The size of the files that the query reads; of a source that tells none, such as Kafka, more than any file."""
    leaves = frame._jdf.queryExecution().analyzed().collectLeaves()
    return sum(int(leaves.apply(place).stats().sizeInBytes()) for place in range(leaves.size()))
