"""Spark's settings by the size of what a query reads: a few rows are all fixed cost, millions are not.

A session begins with the settings for little data (see `session`); a batch that reads much gets Spark's own.
"""

import os
from collections.abc import Mapping

from pyspark.sql import DataFrame

_LARGE_BYTES = 1024 * 1024
"""Of files as they lie on disk, well packed: some 20,000 changes of a dozen columns."""
_FOR_LARGE = {
    "spark.sql.codegen.wholeStage": "true",
    "spark.sql.codegen.factoryMode": "FALLBACK",
    "spark.sql.shuffle.partitions": str(2 * (os.cpu_count() or 1)),
}


def settings_for(frame: DataFrame, table_bytes: int = 0) -> Mapping[str, str]:
    """The settings that suit the query, beside those of the session; none for little data.

    Args:
        frame: the query.
        table_bytes: size of a table that its rows are looked up in.
    """
    return _FOR_LARGE if table_bytes + bytes_read(frame) >= _LARGE_BYTES else {}


def bytes_read(frame: DataFrame) -> int:
    """The size of the files that the query reads; of a source that tells none, such as Kafka, more than any file."""
    leaves = frame._jdf.queryExecution().analyzed().collectLeaves()
    return sum(int(leaves.apply(place).stats().sizeInBytes()) for place in range(leaves.size()))
