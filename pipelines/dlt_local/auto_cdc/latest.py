"""SCD type 1 where every event tells the whole row: of each key only its last event counts. Pure.

The state keeps, per key, the sequence and kind of the last event applied, because the target need not hold the
sequence. Truncates are kept apart: one sequence below which nothing counts.
"""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F
from pyspark.sql.types import IntegerType, LongType, StructType

from dlt_local.auto_cdc.args import ChangeArgs
from dlt_local.auto_cdc.events import assembled, fingerprint, flat_key, flat_row, flat_sequence, rank
from dlt_local.auto_cdc.names import DELETE, KEY, OP, ROW, SEQ, UPSERT, WRITTEN_AT
from dlt_local.names import OWN_PREFIX

HASH = f"{OWN_PREFIX}hash"
"""bigint: hash of the row, so that a repeated event is told from a tie without a look at the target."""
NTH = f"{OWN_PREFIX}nth"
REPEATS = f"{OWN_PREFIX}repeats"
TIES = f"{OWN_PREFIX}ties"
REMEMBERS = f"{OWN_PREFIX}remembers"
IS_LATE = f"{OWN_PREFIX}is_late"
IS_REPEATED = f"{OWN_PREFIX}is_repeated"
TRUNCATED_AT = f"{OWN_PREFIX}truncated_at"
ACTION = f"{OWN_PREFIX}action"
INSERT, UPDATE, REMOVE, COMPARE = "insert", "update", "remove", "compare"
"""What is to become of a key's row. COMPARE: a tie with what is stored; the greater row stays."""


def last_places(events: DataFrame, args: ChangeArgs) -> DataFrame:
    """The events at each key's last place in the batch: one, but for repetitions and ties.

    Columns: KEY, SEQ, OP, ROW, HASH, and NTH, which counts a key's events here, from 1.

    Args:
        events: flat ones.
        args: the flow's.
    """
    # Told part by part, and by a rank alone, Spark sorts by the key's own bytes and drops older events of a key before
    # it brings the key's events together.
    latest_first = Window.partitionBy(*flat_key(args)).orderBy(*[F.desc(part) for part in flat_sequence(args)])
    places = events.select(
        *(*flat_row(args), *flat_sequence(args), OP),
        F.rank().over(latest_first).alias("_place"),
        F.row_number().over(latest_first).alias(NTH),
    )
    last = assembled(places.where("_place = 1").drop("_place"), args)
    return last.withColumn(HASH, fingerprint(F.col(ROW), args.columns))


def deciding(places: DataFrame, args: ChangeArgs) -> DataFrame:
    """The one event that counts of those at each key's last place: an upsert before a delete, then the greater row.

    Columns: those of `last_places`, and per key REPEATS (events told more than once) and TIES (other kind or row).
    """
    order = Window.partitionBy(KEY).orderBy(F.col(OP), rank(F.col(ROW), args.columns), F.col(HASH))
    so_far = order.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    told = F.struct(OP, HASH)
    before = F.lag(told).over(order)
    return (
        places.withColumn("_repeats", F.coalesce(before == told, F.lit(False)))
        .withColumn("_ties", F.coalesce(before != told, F.lit(False)))
        # The last event has seen all of its key, so sums that run along with the order will do.
        .withColumn(REPEATS, F.count_if("_repeats").over(so_far))
        .withColumn(TIES, F.count_if("_ties").over(so_far))
        .withColumn("_last", F.lead(OP).over(order).isNull())
        .where("_last")
        .drop("_repeats", "_ties", "_last")
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
        last: the event of each key that counts, with ``known`` and TRUNCATED_AT (the greatest sequence of a
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
