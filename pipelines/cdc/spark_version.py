"""The version of Spark: decoding needs functions that came with Spark 4.0."""

from collections.abc import Iterable

import pyspark
from pyspark.sql import functions as F

from cdc.errors import RunCondition, RunError

_SINCE_4_0 = ("is_valid_utf8", "make_valid_utf8", "timestamp_add")
"""The functions themselves and not the version's number: Databricks' runtimes have some of a later Spark."""


class SparkTooOld(RunError):
    """The session's pyspark lacks functions; the first query would fail with an AttributeError."""

    def __init__(self, version: str, missing: Iterable[str]) -> None:
        super().__init__(
            RunCondition.SPARK_TOO_OLD,
            f"pyspark {version}",
            f"it lacks functions that decoding needs and that Spark has since 4.0: {', '.join(missing)}",
            "run the pipeline on Spark 4.0 or newer; on Databricks that is Databricks Runtime 17, or serverless compute"
            ' with `environment_version: "4"`.',
        )


def check_version() -> None:
    """Return if decoding can run here.

    Raises:
        SparkTooOld: it cannot.
    """
    if missing := [name for name in _SINCE_4_0 if not hasattr(F, name)]:
        raise SparkTooOld(pyspark.__version__, missing)
