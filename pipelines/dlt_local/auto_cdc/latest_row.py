"""Latest-row reconciler: SCD type 1 where every event has the whole row, so only a key's last event counts. Pure.

The auxiliary state has, per key, the sequence, kind and fingerprint of the last event applied, because the target need
not have the sequence. Truncates are kept apart: one sequence below which nothing counts.
"""

from dataclasses import dataclass, replace

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from dlt_local.auto_cdc.args import ChangeArgs
from dlt_local.auto_cdc.cache import Cache
from dlt_local.auto_cdc.events import assembled
from dlt_local.auto_cdc.last_events import LatestBatch
from dlt_local.auto_cdc.metrics import CdcMetrics
from dlt_local.auto_cdc.names import (
    ACTION,
    COMPARE,
    DELETE,
    HASH,
    IS_DUPLICATE,
    IS_LATE,
    IS_NEW,
    KEY,
    KNOWN,
    OP,
    PUT,
    REMEMBERED,
    REMOVE,
    ROW,
    SEQ,
    TRUNCATED_AT,
    UPSERT,
    WRITTEN_AT,
)
from dlt_local.auto_cdc.reconciled import Reconciled, RowChanges
from dlt_local.auto_cdc.validation import aggregated


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
    if known.truncated_at is None and not known.is_looked_up:
        return _newer(batch, known)
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
    metrics = _metrics(batch)
    return Reconciled(
        changes,
        planned.where(REMEMBERED).select(KEY, SEQ, OP, HASH) if found["remembered"] else None,
        replace(
            metrics,
            num_late_events=_count_late(batch, planned, args) if found["late"] else 0,
            num_duplicate_events=metrics.num_duplicate_events + found["duplicates"],
        ),
    )


def _newer(batch: LatestBatch, known: KnownRows) -> Reconciled:
    """Every event is newer than all that is known of its key, so nothing need be looked up or counted."""
    may_be_stored = known.entries is not None or known.has_unrecorded_rows
    action = F.when(F.col(OP) == UPSERT, PUT).when(F.lit(may_be_stored), REMOVE).alias(ACTION)
    rows = batch.last.select(KEY, action, F.lit(not may_be_stored).alias(IS_NEW), ROW).where(F.col(ACTION).isNotNull())
    removed = batch.keys - batch.upserts
    changes = RowChanges(rows, 0, batch.upserts, removed) if may_be_stored else RowChanges(rows, batch.upserts, 0, 0)
    return Reconciled(changes, batch.last.select(KEY, SEQ, OP, HASH) if batch.keys else None, _metrics(batch))


def _metrics(batch: LatestBatch) -> CdcMetrics:
    statistics = batch.statistics
    return CdcMetrics(
        num_events=statistics.events, num_duplicate_events=statistics.duplicates, num_ties=statistics.ties
    )


def _count_late(batch: LatestBatch, planned: DataFrame, args: ChangeArgs) -> int:
    events = assembled(batch.flat, args)
    return events.join(planned.where(IS_LATE).select(KEY), KEY, "left_semi").count()


def with_known(last: DataFrame, known: KnownRows, args: ChangeArgs) -> DataFrame:
    """``last`` with KNOWN and TRUNCATED_AT of each key."""
    if known.entries is None:
        of_entry = [
            F.lit(None).cast(t).alias(n) for n, t in (("seq", args.sequence_type), ("op", "int"), ("hash", "bigint"))
        ]
        with_entries = last.withColumn(KNOWN, F.struct(*of_entry))
    else:
        entries = known.entries.join(last.select(KEY), KEY, "left_semi")
        with_entries = last.join(latest_entries(entries, known.expired), KEY, "left")
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
