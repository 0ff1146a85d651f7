"""SCD type 1 where every event tells the whole row: of each key only its last event counts. Pure.

The state keeps, per key, the sequence and kind of the last event applied, because the target need not hold the
sequence. Truncates are kept apart: one sequence below which nothing counts.
"""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F
from pyspark.sql.types import IntegerType, LongType, StructType

from dlt_local.auto_cdc.args import ChangeArgs
from dlt_local.auto_cdc.events import fingerprint, has_no_order, has_null_sequence, rank
from dlt_local.auto_cdc.names import ARRIVED, DELETE, KEY, OP, ROW, SEQ, UPSERT, WRITTEN_AT
from dlt_local.names import OWN_PREFIX

HASH = f"{OWN_PREFIX}hash"
"""bigint: hash of the row, so that a repeated event is told from a tie without a look at the target."""
EVENTS = f"{OWN_PREFIX}events"
REPEATS = f"{OWN_PREFIX}repeats"
TIES = f"{OWN_PREFIX}ties"
OUT_OF_ORDER = f"{OWN_PREFIX}out_of_order"
NULL_SEQUENCES = f"{OWN_PREFIX}null_sequences"
REMEMBERS = f"{OWN_PREFIX}remembers"
IS_LATE = f"{OWN_PREFIX}is_late"
IS_REPEATED = f"{OWN_PREFIX}is_repeated"
TRUNCATED_AT = f"{OWN_PREFIX}truncated_at"
ACTION = f"{OWN_PREFIX}action"
INSERT, UPDATE, REMOVE, COMPARE = "insert", "update", "remove", "compare"
"""What is to become of a key's row. COMPARE: a tie with what is stored; the greater row stays."""


def last_events(events: DataFrame, args: ChangeArgs) -> DataFrame:
    """The event of each key that counts within a batch; at one sequence an upsert beats a delete.

    Columns: KEY, SEQ, OP, ROW, HASH, and per key EVENTS (all of the batch), REPEATS (told before with the same
    sequence, kind and row), TIES (same sequence, other kind or row), NULL_SEQUENCES, OUT_OF_ORDER (1 where the event
    that counts is not the one that arrived last).
    """
    # Rows that can be compared as they are need not be sorted with a copy of themselves.
    ranked = "_rank" if has_no_order(args.columns) else ROW
    told = F.xxhash64(SEQ, OP, HASH)
    order = Window.partitionBy(KEY).orderBy(F.col(SEQ), F.col(OP), ranked, ARRIVED)
    so_far = order.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    same_place = F.lag(SEQ).over(order) == F.col(SEQ)
    # The last event has seen all of its key, so sums that run along with the order will do.
    repeats = same_place & (F.lag(told).over(order) == told)
    ties = same_place & (F.lag(told).over(order) != told)
    return (
        events.withColumn(ranked, rank(F.col(ROW), args.columns))
        .withColumn(HASH, fingerprint(F.col(ROW), args.columns))
        .withColumn("_repeats", F.coalesce(repeats, F.lit(False)))
        .withColumn("_ties", F.coalesce(ties, F.lit(False)))
        .withColumn("_last", F.lead(SEQ).over(order).isNull())
        .withColumn(EVENTS, F.row_number().over(order).cast("bigint"))
        .withColumn(REPEATS, F.count_if("_repeats").over(so_far))
        .withColumn(TIES, F.count_if("_ties").over(so_far))
        .withColumn(OUT_OF_ORDER, (F.max(ARRIVED).over(so_far) > F.col(ARRIVED)).cast("int"))
        .withColumn(NULL_SEQUENCES, F.count_if(has_null_sequence(args)).over(so_far))
        .where("_last")
        .select(KEY, SEQ, OP, ROW, HASH, EVENTS, REPEATS, TIES, NULL_SEQUENCES, OUT_OF_ORDER)
    )


def known_of(state: DataFrame, keys: DataFrame, expired: Column) -> DataFrame:
    """What the state knows of the keys given: one row per key that it knows, KEY and ``known`` (seq, op, hash).

    Args:
        state: the log of applied events.
        keys: has KEY.
        expired: true for an entry so old that a delete is forgotten.
    """
    return latest_entries(state.join(keys.select(KEY), KEY, "left_semi"), expired)


def latest_entries(state: DataFrame, expired: Column) -> DataFrame:
    """The last entry of each key, KEY and ``known``; a key whose last entry is an expired delete is not known."""
    entry = F.struct(
        F.col(SEQ).alias("seq"),
        F.col(OP).alias("op"),
        F.col(HASH).alias("hash"),
        F.col(WRITTEN_AT).alias("written_at"),
        expired.alias("expired"),
    )
    latest = state.groupBy(KEY).agg(F.max(entry).alias("known"))
    return latest.where(~((F.col("known.op") == DELETE) & F.col("known.expired")))


def newer(last: DataFrame, of_upsert: str, of_delete: str | None) -> DataFrame:
    """What `actions` would say where every event is newer than all that is known: the columns that are written by."""
    action = F.when(F.col(OP) == UPSERT, of_upsert).otherwise(F.lit(of_delete))
    return last.withColumn(ACTION, action).withColumn(REMEMBERS, F.lit(True))


def unknown(last: DataFrame) -> DataFrame:
    """``last`` with an empty ``known`` beside each key: what `actions` needs when there is no state yet."""
    known = StructType().add("seq", last.schema[SEQ].dataType).add("op", IntegerType()).add("hash", LongType())
    return last.withColumn("known", F.lit(None).cast(known))


def actions(last: DataFrame) -> DataFrame:
    """What is to be done for each key of the batch: ACTION (null: nothing), REMEMBERS, IS_LATE, IS_REPEATED added.

    Args:
        last: the events that count, from `last_events`, with ``known`` and TRUNCATED_AT (the greatest sequence of a
            truncate, null where there is none; what is older counts for nothing).
    """
    truncated_at = F.col(TRUNCATED_AT)
    is_remembered = F.col("known.seq").isNotNull() & F.coalesce(F.col("known.seq") >= truncated_at, F.lit(True))
    known_seq = F.when(is_remembered, F.col("known.seq"))
    is_live = is_remembered & (F.col("known.op") == UPSERT)
    is_newer = ~is_remembered | (F.col(SEQ) > known_seq)
    ties = is_remembered & (F.col(SEQ) == known_seq)
    counts = F.coalesce(F.col(SEQ) >= truncated_at, F.lit(True))
    upsert = F.col(OP) == UPSERT
    is_same = ties & (F.col(OP) == F.col("known.op")) & (~upsert | (F.col(HASH) == F.col("known.hash")))
    action = (
        F.when(~counts, F.lit(None))
        .when(is_newer & upsert & is_live, UPDATE)
        .when(is_newer & upsert, INSERT)
        .when(is_newer & is_live, REMOVE)
        .when(ties & upsert & ~is_live, INSERT)
        .when(ties & upsert & ~is_same, COMPARE)
    )
    return (
        last.withColumn(ACTION, action)
        .withColumn(REMEMBERS, _true(counts & (is_newer | (ties & upsert & ~is_same))))
        .withColumn(IS_LATE, _true(~counts | (F.col(SEQ) < known_seq)))
        .withColumn(IS_REPEATED, _true(is_same))
        .drop("known")
    )


def _true(condition: Column) -> Column:
    return F.coalesce(condition, F.lit(False))
