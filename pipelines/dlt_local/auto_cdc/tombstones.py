"""Tombstones: deletes that the auxiliary state remembers for a retention period, so late events cannot undo them."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from dlt_local.auto_cdc.names import DELETE, KEY, OP, SEQ, WRITTEN_AT, scratch

_FORGOTTEN = scratch("forgotten")


def expired(retention_seconds: int) -> Column:
    """True for an entry written before the retention period, whatever the time in its event."""
    kept_since = F.current_timestamp() - F.make_dt_interval(secs=F.lit(retention_seconds))
    return F.col(WRITTEN_AT) < kept_since


def without_expired(facts: DataFrame, is_expired: Column, with_past: bool) -> DataFrame:
    """The facts without expired deletes.

    Args:
        facts: of the auxiliary state.
        is_expired: from `expired`.
        with_past: drop what such a delete had ended too; partial rows would let the older values show through again.
    """
    is_forgotten = (F.col(OP) == DELETE) & is_expired
    if not with_past:
        return facts.where(~is_forgotten)
    forgotten = facts.groupBy(KEY).agg(F.max(F.when(is_forgotten, F.col(SEQ))).alias(_FORGOTTEN))
    is_after = F.col(_FORGOTTEN).isNull() | (F.col(SEQ) > F.col(_FORGOTTEN))
    return facts.join(forgotten, KEY).where(is_after).drop(_FORGOTTEN)
