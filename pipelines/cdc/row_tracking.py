"""Row tracking of silver's versions: with it Databricks can refresh gold from the rows that changed."""

from collections.abc import Mapping

from pyspark.sql import SparkSession

from cdc.switches import is_on

SETTING = "cdc.row_tracking"


def row_tracking(spark: SparkSession) -> Mapping[str, str]:
    """The table properties that the pipeline's configuration asks for (``cdc.row_tracking: true``).

    A setting, because a table with row tracking asks more of its writers, and the local engine finds changed rows
    without it.
    """
    return {"delta.enableRowTracking": "true"} if is_on(spark, SETTING) else {}
