"""General fold reconciler: the facts known of the batch's keys, folded to versions, compared with the target. Pure."""

from dataclasses import dataclass

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F
from pyspark.sql.types import DataType, StructType

from dlt_local.auto_cdc.args import ChangeArgs
from dlt_local.auto_cdc.cache import Cache
from dlt_local.auto_cdc.comparison import rank
from dlt_local.auto_cdc.events import assembled, is_open, key_of_row
from dlt_local.auto_cdc.fold import fold
from dlt_local.auto_cdc.metrics import CdcMetrics
from dlt_local.auto_cdc.names import (
    ACTION,
    AUTHORED,
    BATCH,
    DELETE,
    DUPLICATES,
    END,
    EVENT,
    EXISTING,
    IS_KNOWN_TO_STATE,
    IS_LAST_OF_VERSION,
    IS_LATE,
    IS_NEW,
    IS_NOT_DERIVABLE,
    IS_OUT_OF_ORDER,
    IS_TIE,
    KEY,
    OP,
    ORIGIN,
    PUT,
    REMOVE,
    ROW,
    SEQ,
    SHOWN,
    START,
    STARTS,
    STATE,
    STORED,
    TARGET,
    TRUNCATE,
    TRUNCATED_AT,
    UPSERT,
    scratch,
)
from dlt_local.auto_cdc.reconciled import Reconciled, RowChanges
from dlt_local.auto_cdc.tombstones import without_expired
from dlt_local.auto_cdc.validation import Batch, aggregated
from dlt_local.names import END_AT, START_AT, quote

_SINCE, _FIRST = scratch("since"), scratch("first")
_FACT = scratch("fact")
_WAS_ENDED = scratch("was_ended")


@dataclass(frozen=True)
class KnownFacts:
    """What is known before the batch."""

    target: DataFrame | None
    """The target's rows; None where there are none, or they imply nothing (SCD type 1)."""
    state: DataFrame | None
    """The auxiliary state, EVENT and WRITTEN_AT; None where there is none."""
    expired: Column
    """True for an entry so old that a delete is forgotten."""
    truncated_at: DataFrame | None
    """One row, TRUNCATED_AT, with the truncates of the batch counted in; None where there never was one."""


def reconcile(batch: Batch, known: KnownFacts, args: ChangeArgs, cache: Cache) -> Reconciled:
    """The rows that the facts of the batch's keys change.

    Args:
        batch: its flat events have ARRIVED.
        known: what is known.
        args: the flow's.
        cache: where frames are kept.
    """
    folded = cache.keep(fold(_facts(batch, known, args, cache), args))
    versions = args.scd_type == 2
    planned = version_changes(folded, args) if versions else cache.keep(row_changes(folded))
    is_put, is_new = F.col(ACTION) == PUT, F.col(IS_NEW)
    changed = aggregated(
        planned,
        F.count_if(is_put & is_new).alias("inserted"),
        F.count_if(is_put & ~is_new).alias("replaced"),
        F.count_if(~is_put).alias("removed"),
        F.count_if(_WAS_ENDED).alias("ended"),
    )
    found = aggregated(
        folded,
        F.count_if(_is_to_remember(args)).alias("remembered"),
        F.count_if(IS_LATE).alias("late"),
        F.sum(DUPLICATES).alias("duplicates"),
        F.count_if(IS_TIE).alias("ties"),
        F.count_distinct(F.when(F.col(IS_OUT_OF_ORDER), F.col(KEY))).alias("out_of_order_keys"),
    )
    predicate = "TRUE" if not versions else None if changed["ended"] else is_open(args)
    return Reconciled(
        RowChanges(
            planned.drop(_WAS_ENDED),
            changed["inserted"],
            changed["replaced"],
            changed["removed"],
            predicate=predicate,
        ),
        folded.where(_is_to_remember(args)).select(*EVENT) if found["remembered"] else None,
        CdcMetrics(
            num_events=batch.statistics.events,
            num_late_events=found["late"],
            num_duplicate_events=found["duplicates"] or 0,
            num_ties=found["ties"],
            num_out_of_order_keys=found["out_of_order_keys"],
        ),
    )


def _facts(batch: Batch, known: KnownFacts, args: ChangeArgs, cache: Cache) -> DataFrame:
    """All facts of the keys that the batch touches, as far back as the batch can change anything."""
    none = F.lit(None).cast(_existing_type(args))
    events = assembled(batch.flat.where(F.col(OP) != TRUNCATE), args)
    facts = events.withColumn(ORIGIN, F.lit(BATCH)).withColumn(EXISTING, none)
    since = facts.groupBy(KEY).agg(F.min(SEQ).alias(_SINCE))
    if known.target is not None:
        rows = cache.keep(_touched_rows(known.target, since, args))
        facts = facts.unionByName(facts_of_target(rows, args), allowMissingColumns=True)
        if not args.is_partial:
            first = rows.groupBy(key_of_row(args)).agg(F.min(START_AT).alias(_FIRST))
            earliest = F.least(_SINCE, F.coalesce(_FIRST, _SINCE)).alias(_SINCE)
            since = since.join(first, KEY, "left").select(KEY, earliest)
    if known.state is not None:
        truncates_every_key = batch.statistics.truncates > 0
        state = known.state if truncates_every_key else _touched_entries(known.state, since, args)
        entries = without_expired(state.where(F.col(KEY).isNotNull()), known.expired, with_past=args.is_partial)
        from_state = entries.select(*EVENT, F.lit(STATE).alias(ORIGIN), none.alias(EXISTING))
        facts = facts.unionByName(from_state, allowMissingColumns=True)
    return facts if known.truncated_at is None else _above_truncate(facts, known.truncated_at)


def _touched_rows(target: DataFrame, since: DataFrame, args: ChangeArgs) -> DataFrame:
    """The target's rows from the one that the batch's first event of the key falls into; all if events are partial."""
    condition = F.lit(True)
    for key in args.keys:
        condition = condition & (target[quote(key)] == since[KEY][key])
    if not args.is_partial:
        condition = condition & (target[END_AT].isNull() | (target[END_AT] >= since[_SINCE]))
    return target.join(since, condition, "left_semi")


def _touched_entries(state: DataFrame, since: DataFrame, args: ChangeArgs) -> DataFrame:
    condition = F.col(f"s.{KEY}") == F.col(f"b.{KEY}")
    within = F.col(f"b.{_SINCE}").isNotNull()
    if not args.is_partial:
        within = within & (F.col(f"s.{SEQ}") >= F.col(f"b.{_SINCE}"))
    return state.alias("s").join(since.alias("b"), condition & within, "left_semi")


def _above_truncate(facts: DataFrame, truncated_at: DataFrame) -> DataFrame:
    """Facts older than the newest truncate count as deletes; their keys stay, so their rows go."""
    is_truncated = F.coalesce(F.col(SEQ) < F.col(TRUNCATED_AT), F.lit(False))
    return (
        facts.crossJoin(F.broadcast(truncated_at))
        .withColumn(OP, F.when(is_truncated, F.lit(DELETE)).otherwise(F.col(OP)))
        .withColumn(ROW, F.when(~is_truncated, F.col(ROW)))
        .drop(TRUNCATED_AT)
    )


def facts_of_target(rows: DataFrame, args: ChangeArgs) -> DataFrame:
    """What rows of an SCD type 2 target imply.

    Grain: one upsert per row, and one delete per end that no row follows.
    Columns: EVENT, ORIGIN, EXISTING.

    Args:
        rows: for each key, one version and all after it.
        args: the flow's.
    """
    row = F.struct(*[F.col(quote(name)) for name in args.columns.names])
    upsert = F.struct(F.col(START_AT).alias(SEQ), F.lit(UPSERT).alias(OP), row.alias(ROW))
    existing = F.struct(F.col(END_AT).alias("end"), row.alias("row"))
    ends = F.struct(F.col(END_AT).alias(SEQ), F.lit(DELETE).alias(OP), F.when(F.lit(False), row).alias(ROW))
    following = F.lead(START_AT).over(Window.partitionBy(KEY).orderBy(START_AT))
    is_deleted = F.col(END_AT).isNotNull() & ~F.col(END_AT).eqNullSafe(following)
    at_start = F.struct(upsert.alias("event"), existing.alias("existing"))
    at_end = F.struct(ends.alias("event"), F.when(F.lit(False), existing).alias("existing"))
    implied = rows.withColumn(KEY, key_of_row(args)).select(
        KEY, F.array(at_start, F.when(is_deleted, at_end)).alias(_FACT)
    )
    each = implied.select(KEY, F.explode(_FACT).alias(_FACT)).where(F.col(_FACT).isNotNull())
    return each.select(
        KEY,
        *[F.col(f"{_FACT}.event.{name}").alias(name) for name in (SEQ, OP, ROW)],
        F.lit(None).cast("array<string>").alias(AUTHORED),
        F.lit(TARGET).alias(ORIGIN),
        F.col(f"{_FACT}.existing").alias(EXISTING),
    )


def _existing_type(args: ChangeArgs) -> DataType:
    return StructType().add("end", args.sequence_type).add("row", args.columns)


def version_changes(folded: DataFrame, args: ChangeArgs) -> DataFrame:
    """How the rows of an SCD type 2 target change.

    Grain: one row per key and START that is new, different or gone.
    Columns: KEY, START, ACTION, END, ROW, IS_NEW, and whether the stored row had ended.
    """
    put = F.struct(
        F.col(START).alias(START),
        F.lit(PUT).alias(ACTION),
        F.col(END).alias(END),
        F.col(SHOWN).alias(ROW),
        F.col(STORED).isNull().alias(IS_NEW),
        F.col(STORED)["end"].isNotNull().alias(_WAS_ENDED),
    )
    remove = F.struct(
        F.col(SEQ).alias(START),
        F.lit(REMOVE).alias(ACTION),
        F.when(F.lit(False), F.col(END)).alias(END),
        F.when(F.lit(False), F.col(SHOWN)).alias(ROW),
        F.lit(False).alias(IS_NEW),
        F.col(EXISTING)["end"].isNotNull().alias(_WAS_ENDED),
    )
    is_removed = F.col(EXISTING).isNotNull() & ~F.col(STARTS)
    each = F.array(F.when(_is_put(args), put), F.when(is_removed, remove))
    changes = folded.select(KEY, F.explode(each).alias(_FACT)).where(F.col(_FACT).isNotNull())
    return changes.select(KEY, f"{_FACT}.*")


def _is_put(args: ChangeArgs) -> Column:
    stored, shown = F.col(STORED), F.col(SHOWN)
    is_different = (
        stored.isNull()
        | ~stored["end"].eqNullSafe(F.col(END))
        | ~rank(stored["row"], args.columns).eqNullSafe(rank(shown, args.columns))
    )
    return F.col(IS_LAST_OF_VERSION) & is_different


def row_changes(folded: DataFrame) -> DataFrame:
    """How the rows of an SCD type 1 target change.

    Grain: one row per key, its open version or its removal.
    Columns: KEY, ACTION, ROW, IS_NEW (nothing of the key was known before), and false for whether it had ended.
    """
    in_order = Window.partitionBy(KEY).orderBy(SEQ)
    is_last = F.lead(SEQ).over(in_order).isNull()
    # The state may know a key only by an event that lost a tie against one of the batch.
    is_known = (F.col(ORIGIN) != BATCH) | F.col(IS_KNOWN_TO_STATE)
    is_new = ~F.bool_or(is_known).over(Window.partitionBy(KEY))
    last = folded.withColumns({scratch("is_last"): is_last, IS_NEW: is_new}).where(scratch("is_last"))
    action = F.when(F.col(OP) == UPSERT, PUT).otherwise(F.lit(REMOVE))
    # A key that came and went within the batch has no row to remove.
    return last.select(
        KEY, action.alias(ACTION), F.col(SHOWN).alias(ROW), IS_NEW, F.lit(False).alias(_WAS_ENDED)
    ).where((F.col(ACTION) == PUT) | ~F.col(IS_NEW))


def _is_to_remember(args: ChangeArgs) -> Column:
    """True for a fact that is not derivable from the target and not in the state; for partial rows, every new fact.

    Where the state has a fact that lost a tie against this one, it must get this one too: it takes precedence over the
    target.
    """
    if args.is_partial:
        return F.col(ORIGIN) == BATCH
    return (F.col(IS_NOT_DERIVABLE) | F.col(IS_KNOWN_TO_STATE)) & (F.col(ORIGIN) != STATE)
