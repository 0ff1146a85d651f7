"""Prepares a microbatch where only the last event of each key counts: SCD type 1 with whole rows.

The batch is reduced and measured in one pass: reading it once more would cost as much as reducing it.
"""

from dataclasses import dataclass, replace

from pyspark.sql import DataFrame, Observation, Window
from pyspark.sql import functions as F

from dlt_local.auto_cdc.args import ChangeArgs
from dlt_local.auto_cdc.cache import Cache
from dlt_local.auto_cdc.comparison import fingerprint, rank
from dlt_local.auto_cdc.events import assembled, flat_key, flat_sequence, has_null_sequence
from dlt_local.auto_cdc.high_watermark import range_aggregates, range_of
from dlt_local.auto_cdc.names import DUPLICATES, HASH, KEY, NTH, OP, ROW, SEQ, TIES, TRUNCATE, UPSERT, scratch
from dlt_local.auto_cdc.validation import (
    Batch,
    BatchStatistics,
    aggregated,
    batch_aggregates,
    null_aggregates,
    statistics_of,
)
from dlt_local.spark.observations import observed_metrics


@dataclass(frozen=True)
class LatestBatch(Batch):
    """A microbatch reduced to the last event of each key."""

    last: DataFrame
    """One row per key: KEY, SEQ, OP, ROW, HASH."""
    keys: int
    upserts: int
    """Keys whose last event is an upsert."""


def prepare(flat: DataFrame, args: ChangeArgs, cache: Cache, is_first: bool) -> LatestBatch:
    """Reduce a batch to the last event of each key, and measure it.

    Args:
        flat: flat events.
        args: the flow's.
        cache: where frames are kept.
        is_first: nothing is known of the target yet, so the batch is a snapshot, most likely.
    """
    truncates = truncate_nulls = 0
    if args.apply_as_truncates is not None:
        flat = cache.keep(flat)
        is_truncate = F.col(OP) == TRUNCATE
        found = aggregated(
            flat.where(is_truncate),
            F.count(F.lit(1)).alias("truncates"),
            F.count_if(has_null_sequence(args)).alias("null_sequences"),
        )
        truncates, truncate_nulls = found["truncates"], found["null_sequences"]
    rows = flat.where(F.col(OP) != TRUNCATE) if truncates else flat
    if is_first:
        rows = cache.compute(rows)
    batch = (_single_events(rows, args) if is_first else None) or _reduce(rows, args, cache)
    with_truncates = replace(
        batch.statistics,
        events=batch.statistics.events + truncates,
        truncates=truncates,
        null_sequences=batch.statistics.null_sequences + truncate_nulls,
    )
    return replace(batch, flat=flat, statistics=with_truncates)


def _single_events(flat: DataFrame, args: ChangeArgs) -> LatestBatch | None:
    """A batch without two events of the same key; None if it has some. Counting keys is half the work of grouping."""
    statistics = statistics_of(aggregated(flat, *batch_aggregates(args)))
    kinds = flat.groupBy(*flat_key(args)).agg(F.max(OP).alias(OP))
    keys = aggregated(kinds, F.count(F.lit(1)).alias("all"), F.count_if(F.col(OP) == UPSERT).alias("upserts"))
    if keys["all"] < statistics.events:
        return None
    last = assembled(flat, args).select(KEY, SEQ, OP, ROW, fingerprint(F.col(ROW), args.columns).alias(HASH))
    return LatestBatch(flat, statistics, last, keys["all"], keys["upserts"])


def _reduce(flat: DataFrame, args: ChangeArgs, cache: Cache) -> LatestBatch:
    totals = Observation()
    last, found = cache.measured(
        last_events(flat.observe(totals, *null_aggregates(args)), args),
        F.count_if(F.col(NTH) == 1).alias("keys"),
        F.count_if((F.col(NTH) == 1) & (F.col(OP) == UPSERT)).alias("upserts"),
        F.count_if(F.col(NTH) > 1).alias("others"),
        *range_aggregates(F.col(SEQ), args.sequence_type),
        is_observed=True,
    )
    nulls = observed_metrics(totals)
    statistics = BatchStatistics(
        events=nulls["events"],
        null_keys=nulls["null_keys"],
        null_sequences=nulls["null_sequences"],
        sequences=range_of(found),
    )
    if not found["others"]:
        return LatestBatch(flat, statistics, last, found["keys"], found["upserts"])
    last = cache.keep(deciding_events(last, args))
    decided = aggregated(
        last,
        F.sum(DUPLICATES).alias("duplicates"),
        F.sum(TIES).alias("ties"),
        F.count_if(F.col(OP) == UPSERT).alias("upserts"),
    )
    statistics = replace(statistics, duplicates=decided["duplicates"] or 0, ties=decided["ties"] or 0)
    return LatestBatch(flat, statistics, last, found["keys"], decided["upserts"])


def last_events(events: DataFrame, args: ChangeArgs) -> DataFrame:
    """The events with the last sequence of their key in the batch.

    Grain: one row per key, more where duplicates or ties share its last sequence.
    Columns: KEY, SEQ, OP, ROW, HASH, NTH.

    Args:
        events: flat ones.
        args: the flow's.
    """
    # Ordered by plain columns and filtered by a rank alone, Spark drops a key's older events before it shuffles.
    latest_first = Window.partitionBy(*flat_key(args)).orderBy(*[F.desc(part) for part in flat_sequence(args)])
    ranked = events.withColumns({scratch("rank"): F.rank().over(latest_first), NTH: F.row_number().over(latest_first)})
    last = assembled(ranked.where(F.col(scratch("rank")) == 1), args)
    return last.select(KEY, SEQ, OP, ROW, NTH, fingerprint(F.col(ROW), args.columns).alias(HASH))


def deciding_events(last: DataFrame, args: ChangeArgs) -> DataFrame:
    """The one event per key that counts: an upsert before a delete, then the greater row.

    Columns: those of `last_events`, and DUPLICATES and TIES of the key.
    """
    order = Window.partitionBy(KEY).orderBy(F.col(OP), rank(F.col(ROW), args.columns), F.col(HASH))
    so_far = order.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    identity = F.struct(OP, HASH)
    before = F.lag(identity).over(order)
    # The last event has all others of its key before it, so running counts are totals there.
    return last.withColumns(
        {
            DUPLICATES: F.count_if(F.coalesce(before == identity, F.lit(False))).over(so_far),
            TIES: F.count_if(F.coalesce(before != identity, F.lit(False))).over(so_far),
            scratch("is_last"): F.lead(OP).over(order).isNull(),
        }
    ).where(scratch("is_last"))
