"""Least counts: of a change that was delivered again under another count, the first delivery's count orders it.

Inside a transaction whose log positions fall, a connector that is stopped and started emits the end of the
transaction again and goes on counting. A record does not show that it is such a redelivery, so only a comparison with
all changes can: ``cdc.least_counts`` is for the rebuild of a table's versions, not for every update.
"""

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from cdc import names
from cdc.debezium.decode import change_columns
from cdc.debezium.positions import position_of
from cdc.spec.model import TableSpec
from cdc.switches import is_on

SETTING = "cdc.least_counts"
_LEAST = "_least_count"


def wants_least_counts(spark: SparkSession, table: TableSpec) -> bool:
    """Whether the pipeline's configuration asks for least counts (``true``), and the table's changes have counts."""
    is_counted = names.TOTAL_ORDER in position_of(table.connector).columns
    return is_counted and is_on(spark, SETTING)


def with_least_counts(changes: DataFrame, stored: DataFrame, table: TableSpec) -> DataFrame:
    """Changes, each with the least count under which it was ever delivered.

    Grain: one row per change. Columns: those of ``changes``.

    Args:
        changes: new changes, as a stream.
        stored: all changes, the new ones included.
        table: their table.
    """
    identity = [*table.key, *position_of(table.connector).log_order, names.OP]
    columns = [F.col(f"`{name}`") for name in identity]
    least = stored.groupBy(*columns).agg(F.min(names.TOTAL_ORDER).alias(_LEAST))
    # By name from the spec: to ask a frame for its columns would analyse a dataset that need not exist yet.
    kept = (*names.target_columns(table), *change_columns(table))
    return changes.join(least, identity).select(
        *(F.col(_LEAST).alias(name) if name == names.TOTAL_ORDER else F.col(f"`{name}`") for name in kept)
    )
