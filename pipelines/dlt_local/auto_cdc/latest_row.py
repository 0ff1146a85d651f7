"""Latest-row reconciler: SCD type 1 where every event has the whole row, so only a key's last event counts. Pure.

The auxiliary state has, per key, the sequence, kind and fingerprint of the last event applied, because the target need
not have the sequence. Truncates are kept apart: one sequence below which nothing counts.
"""

from dataclasses import dataclass, replace

from pyspark.sql import Column, DataFrame, Observation, Window
from pyspark.sql import functions as F

from dlt_local.auto_cdc.args import ChangeArgs
from dlt_local.auto_cdc.cache import Cache
from dlt_local.auto_cdc.comparison import fingerprint, rank
from dlt_local.auto_cdc.events import assembled, flat_key, flat_sequence, has_null_sequence
from dlt_local.auto_cdc.high_watermark import range_aggregates, range_of
from dlt_local.auto_cdc.metrics import CdcMetrics
from dlt_local.auto_cdc.names import (
    ACTION,
    COMPARE,
    DELETE,
    DUPLICATES,
    HASH,
    IS_DUPLICATE,
    IS_LATE,
    IS_NEW,
    KEY,
    KNOWN,
    NTH,
    OP,
    PUT,
    REMEMBERED,
    REMOVE,
    ROW,
    SEQ,
    TIES,
    TRUNCATE,
    TRUNCATED_AT,
    UPSERT,
    WRITTEN_AT,
    scratch,
)
from dlt_local.auto_cdc.reconciled import Reconciled, RowChanges
from dlt_local.auto_cdc.validation import Batch, BatchStatistics, aggregated, measure, null_aggregates
from dlt_local.spark.observations import observed_metrics


@dataclass(frozen=True)
class LatestBatch(Batch):
    """A microbatch reduced to the last event of each key."""

    last: DataFrame
    """One row per key: KEY, SEQ, OP, ROW, HASH."""


@dataclass(frozen=True)
class KnownRows:
    """What is known of the target's keys before the batch."""

    entries: DataFrame | None
    """The auxiliary state, None before the first batch: KEY, SEQ, OP, HASH, WRITTEN_AT."""
    expired: Column
    """True for an entry so old that a delete is forgotten."""
    truncated_at: DataFrame | None
    """One row, TRUNCATED_AT, with the truncates of the batch counted in; None where there never was one."""
    is_in_order: bool
    """The whole batch is above the high watermark."""
    has_unrecorded_rows: bool
    """The target may have rows that the entries do not have, because a batch was interrupted or comes from a snapshot,
    which is compared with the target itself."""

    @property
    def is_looked_up(self) -> bool:
        """True if the batch's keys must be looked up in the entries."""
        return self.entries is not None and not (self.is_in_order and self.truncated_at is None)


def prepare(flat: DataFrame, args: ChangeArgs, cache: Cache, is_first: bool) -> LatestBatch:
    """Reduce and measure a batch in one pass: reading it once more would cost as much as reducing it.

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
    last, statistics = (_single_events(rows, args) if is_first else None) or _reduce(rows, args, cache)
    with_truncates = replace(
        statistics,
        events=statistics.events + truncates,
        truncates=truncates,
        null_sequences=statistics.null_sequences + truncate_nulls,
    )
    return LatestBatch(flat, with_truncates, last)


def _single_events(flat: DataFrame, args: ChangeArgs) -> tuple[DataFrame, BatchStatistics] | None:
    """The events of a batch without two of the same key; None if it has. Counting keys is half the work of grouping."""
    statistics = measure(flat, args)
    if flat.select(*flat_key(args)).distinct().count() < statistics.events:
        return None
    events = assembled(flat, args)
    return events.select(KEY, SEQ, OP, ROW, fingerprint(F.col(ROW), args.columns).alias(HASH)), statistics


def _reduce(flat: DataFrame, args: ChangeArgs, cache: Cache) -> tuple[DataFrame, BatchStatistics]:
    totals = Observation()
    last = cache.compute(last_events(flat.observe(totals, *null_aggregates(args)), args))
    # Aggregated afterwards: Spark evaluates what it observes row by row, without generated code.
    found = aggregated(
        last, F.count_if(F.col(NTH) > 1).alias("others"), *range_aggregates(F.col(SEQ), args.sequence_type)
    )
    nulls = observed_metrics(totals)
    statistics = BatchStatistics(
        events=nulls["events"],
        null_keys=nulls["null_keys"],
        null_sequences=nulls["null_sequences"],
        sequences=range_of(found),
    )
    if not found["others"]:
        return last, statistics
    last = cache.keep(deciding_events(last, args))
    decided = aggregated(last, F.sum(DUPLICATES).alias("duplicates"), F.sum(TIES).alias("ties"))
    return last, replace(statistics, duplicates=decided["duplicates"] or 0, ties=decided["ties"] or 0)


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


def latest_entries(entries: DataFrame, expired: Column) -> DataFrame:
    """The last entry of each key as KEY and KNOWN; a key whose last entry is an expired delete is unknown."""
    entry = F.struct(
        F.col(SEQ).alias("seq"),
        F.col(OP).alias("op"),
        F.col(HASH).alias("hash"),
        F.col(WRITTEN_AT).alias("written_at"),
        expired.alias("expired"),
    )
    latest = entries.groupBy(KEY).agg(F.max(entry).alias(KNOWN))
    return latest.where(~((F.col(f"{KNOWN}.op") == DELETE) & F.col(f"{KNOWN}.expired")))


def reconcile(batch: LatestBatch, known: KnownRows, args: ChangeArgs, cache: Cache) -> Reconciled:
    """What the last event of each key does to the target, and what the state must remember of it."""
    truncates_rows = batch.statistics.truncates > 0 and known.entries is not None
    # A key that this batch truncates and brings back is put over a row that is still stored.
    any_may_be_stored = truncates_rows or known.has_unrecorded_rows
    planned = planned_actions(with_known(batch.last, known, args), any_may_be_stored)
    if known.is_looked_up:
        planned = cache.keep(planned)
    action = F.col(ACTION)
    found = aggregated(
        planned,
        F.count_if((action == PUT) & F.col(IS_NEW)).alias("inserted"),
        F.count_if((action == PUT) & ~F.col(IS_NEW)).alias("replaced"),
        F.count_if(action == REMOVE).alias("removed"),
        F.count_if(action == COMPARE).alias("compared"),
        F.count_if(REMEMBERED).alias("remembered"),
        F.count_if(IS_LATE).alias("late"),
        F.count_if(IS_DUPLICATE).alias("duplicates"),
    )
    rows = planned.where(action.isNotNull()).select(KEY, ACTION, IS_NEW, ROW)
    changes = RowChanges(rows, found["inserted"], found["replaced"], found["removed"], found["compared"])
    if truncates_rows:
        changes = _with_truncated_rows(changes, known, cache)
    return Reconciled(
        changes,
        planned.where(REMEMBERED).select(KEY, SEQ, OP, HASH) if found["remembered"] else None,
        CdcMetrics(
            num_events=batch.statistics.events,
            num_late_events=_count_late(batch, planned, args) if found["late"] else 0,
            num_duplicate_events=batch.statistics.duplicates + found["duplicates"],
            num_ties=batch.statistics.ties,
        ),
    )


def _count_late(batch: LatestBatch, planned: DataFrame, args: ChangeArgs) -> int:
    events = assembled(batch.flat, args)
    return events.join(planned.where(IS_LATE).select(KEY), KEY, "left_semi").count()


def with_known(last: DataFrame, known: KnownRows, args: ChangeArgs) -> DataFrame:
    """``last`` with KNOWN and TRUNCATED_AT of each key.

    Every event of an in-order batch is newer than what is known, whatever that is, so nothing is looked up: KNOWN is an
    upsert without a sequence, which stands for a row that may be stored.
    """
    if known.is_looked_up:
        assert known.entries is not None
        entries = known.entries.join(last.select(KEY), KEY, "left_semi")
        with_entries = last.join(latest_entries(entries, known.expired), KEY, "left")
    else:
        unread = F.struct(
            F.lit(None).cast(args.sequence_type).alias("seq"),
            F.lit(UPSERT).alias("op"),
            F.lit(None).cast("bigint").alias("hash"),
        )
        with_entries = last.withColumn(KNOWN, F.when(F.lit(known.entries is not None), unread))
    if known.truncated_at is None:
        return with_entries.withColumn(TRUNCATED_AT, F.lit(None).cast(args.sequence_type))
    return with_entries.crossJoin(F.broadcast(known.truncated_at))


def planned_actions(last: DataFrame, any_may_be_stored: bool) -> DataFrame:
    """What each key's last event does: ACTION, IS_NEW, REMEMBERED, IS_LATE, IS_DUPLICATE.

    Args:
        last: from `with_known`.
        any_may_be_stored: a key without a live entry may have a row in the target all the same.
    """
    truncated_at, known_op = F.col(TRUNCATED_AT), F.col(f"{KNOWN}.op")
    counts = F.coalesce(F.col(SEQ) >= truncated_at, F.lit(True))
    outlives_truncate = F.coalesce(F.col(f"{KNOWN}.seq") >= truncated_at, F.lit(True))
    known_seq = F.when(outlives_truncate, F.col(f"{KNOWN}.seq"))
    is_live = _is_true((known_op == UPSERT) & outlives_truncate)
    may_be_stored = is_live | F.lit(any_may_be_stored)
    is_newer = known_seq.isNull() | (F.col(SEQ) > known_seq)
    is_tie = _is_true(F.col(SEQ) == known_seq)
    is_upsert = F.col(OP) == UPSERT
    is_same = _is_true(is_tie & (F.col(OP) == known_op) & (~is_upsert | (F.col(HASH) == F.col(f"{KNOWN}.hash"))))
    wins_tie = is_tie & is_upsert & ~is_same
    action = (
        F.when(counts & is_upsert & (is_newer | (wins_tie & ~is_live)), PUT)
        .when(counts & is_newer & may_be_stored, REMOVE)
        .when(counts & wins_tie, COMPARE)
    )
    return last.select(
        *(KEY, SEQ, OP, ROW, HASH),
        action.alias(ACTION),
        (~may_be_stored).alias(IS_NEW),
        _is_true(counts & (is_newer | wins_tie)).alias(REMEMBERED),
        _is_true(~counts | (F.col(SEQ) < known_seq)).alias(IS_LATE),
        is_same.alias(IS_DUPLICATE),
    )


def _with_truncated_rows(changes: RowChanges, known: KnownRows, cache: Cache) -> RowChanges:
    """The changes, and the removal of every row older than the newest truncate."""
    assert known.entries is not None and known.truncated_at is not None
    entries = latest_entries(known.entries, known.expired).crossJoin(F.broadcast(known.truncated_at))
    is_older = (F.col(f"{KNOWN}.op") == UPSERT) & (F.col(f"{KNOWN}.seq") < F.col(TRUNCATED_AT))
    gone = cache.keep(entries.where(is_older).select(KEY).join(changes.rows.select(KEY), KEY, "left_anti"))
    removals = gone.select(
        KEY,
        F.lit(REMOVE).alias(ACTION),
        F.lit(False).alias(IS_NEW),
        F.lit(None).cast(changes.rows.schema[ROW].dataType).alias(ROW),
    )
    return replace(changes, rows=changes.rows.unionByName(removals), removed=changes.removed + gone.count())


def _is_true(condition: Column) -> Column:
    return F.coalesce(condition, F.lit(False))
