"""General fold reconciler: whatever is known of a key's events becomes its versions. Pure.

A *fact* is an event that happened, wherever it is known from: the batch, the auxiliary state, or a row of the target,
which implies an upsert at its start and, where no row follows its end, a delete there. The versions are a function of
the set of facts, so batching, order and duplicates cannot matter.
"""

from dataclasses import dataclass

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F
from pyspark.sql.types import DataType, StructType

from dlt_local.auto_cdc.args import ChangeArgs
from dlt_local.auto_cdc.cache import Cache
from dlt_local.auto_cdc.comparison import comparable, fingerprint, rank
from dlt_local.auto_cdc.events import assembled, is_open, key_of_row
from dlt_local.auto_cdc.metrics import CdcMetrics
from dlt_local.auto_cdc.names import (
    ACTION,
    ARRIVED,
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
_OF_ALL, _OF_OTHERS, _OF_BATCH = scratch("of_all"), scratch("of_others"), scratch("of_batch")
_LEAST, _GREATEST, _BY_TARGET = scratch("least"), scratch("greatest"), scratch("by_target")
_FACT, _ARRIVED, _LIFE, _TRACKED, _OPENING = (scratch(n) for n in ("fact", "arrived", "life", "tracked", "opening"))
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


def fold(facts: DataFrame, args: ChangeArgs) -> DataFrame:
    """The facts that count, each with its part in the key's history.

    Grain: one row per key and sequence.
    Columns added: START, END (the version's interval, END null while it is open), SHOWN, STORED, STARTS,
    IS_LAST_OF_VERSION, IS_NOT_DERIVABLE, and for the metrics IS_TIE, IS_LATE, IS_OUT_OF_ORDER, DUPLICATES.

    The order of the steps is load-bearing: one fact per sequence first, so a version never has two; then rows are
    completed, because versions are compared by what they show; then versions are found, then their ends. All of it
    happens within a key, so the facts are shuffled once.
    """
    return (
        facts.repartition(KEY)
        .transform(_one_fact_per_sequence, args)
        .transform(_complete_rows, args)
        .transform(_find_versions, args)
        .transform(_close_versions)
    )


def _one_fact_per_sequence(facts: DataFrame, args: ChangeArgs) -> DataFrame:
    """At one sequence a delete beats an upsert (SCD type 1: the upsert wins); of two upserts the greater row counts.

    A target's row shows the last values of its version, not those of the event at its start. Where a version has
    several events the state has that event, and the row's version of it is ignored.
    """
    wins = F.col(OP) == (DELETE if args.scd_type == 2 else UPSERT)
    authored = F.array_sort(AUTHORED)
    # Of equal facts the one known longest wins: what the state has need not be recorded again.
    order = F.struct(wins, rank(F.col(ROW), args.columns).alias("row"), authored.alias("authored"), -F.col(ORIGIN))
    fact = F.struct(OP, ROW, AUTHORED, ORIGIN)
    identity = F.xxhash64(OP, fingerprint(F.col(ROW), args.columns), authored)
    of_target, of_batch = F.col(ORIGIN) == TARGET, F.col(ORIGIN) == BATCH
    grouped = facts.groupBy(KEY, SEQ).agg(
        F.max_by(fact, order).alias(_OF_ALL),
        F.max_by(F.when(~of_target, fact), F.when(~of_target, order)).alias(_OF_OTHERS),
        F.bool_or(F.col(ORIGIN) == STATE).alias(IS_KNOWN_TO_STATE),
        F.first(EXISTING, ignorenulls=True).alias(EXISTING),
        F.count_if(of_batch).alias(_OF_BATCH),
        F.max(F.when(of_batch, F.col(ARRIVED))).alias(_ARRIVED),
        F.min(F.when(~of_target, identity)).alias(_LEAST),
        F.max(F.when(~of_target, identity)).alias(_GREATEST),
        F.max(F.when(of_target, identity)).alias(_BY_TARGET),
    )
    disagrees = ~F.col(IS_KNOWN_TO_STATE) & (F.col(_BY_TARGET) != F.col(_GREATEST))
    is_tie = F.coalesce((F.col(_LEAST) != F.col(_GREATEST)) | disagrees, F.lit(False))
    of_key = Window.partitionBy(KEY).orderBy(SEQ)
    later = of_key.rowsBetween(Window.currentRow, Window.unboundedFollowing)
    earlier = of_key.rowsBetween(Window.unboundedPreceding, -1)
    is_new = F.col(_OF_BATCH) > 0
    winner = F.when(F.col(IS_KNOWN_TO_STATE), F.col(_OF_OTHERS)).otherwise(F.col(_OF_ALL))
    duplicates = F.col(_OF_BATCH) - F.when(F.col(f"{_FACT}.{ORIGIN}") == BATCH, 1).otherwise(0)
    return grouped.withColumn(_FACT, winner).select(
        KEY,
        SEQ,
        *[F.col(f"{_FACT}.{name}").alias(name) for name in (OP, ROW, AUTHORED, ORIGIN)],
        EXISTING,
        IS_KNOWN_TO_STATE,
        is_tie.alias(IS_TIE),
        F.when(is_tie | ~is_new, 0).otherwise(duplicates).alias(DUPLICATES),
        (is_new & (F.max(F.when(~is_new, F.col(SEQ))).over(later) > F.col(SEQ))).alias(IS_LATE),
        (is_new & (F.max(_ARRIVED).over(earlier) > F.col(_ARRIVED))).alias(IS_OUT_OF_ORDER),
    )


def _complete_rows(facts: DataFrame, args: ChangeArgs) -> DataFrame:
    """SHOWN added: a column that the event does not set keeps the value before it, until a delete ends that."""
    if not args.is_partial:
        return facts.withColumn(SHOWN, F.col(ROW))
    in_order = Window.partitionBy(KEY).orderBy(SEQ)
    lives = facts.withColumn(_LIFE, F.count_if(F.col(OP) == DELETE).over(in_order))
    so_far = Window.partitionBy(KEY, _LIFE).orderBy(SEQ)

    def last_set(value: Column, is_set: Column) -> Column:
        return F.last(F.when(is_set, F.struct(value.alias("v"))), ignorenulls=True).over(so_far)["v"]

    def completed(value: Column, type_: DataType) -> Column:
        if not isinstance(type_, StructType):
            return last_set(value, value.isNotNull())
        fields = F.struct(*[completed(value[f.name], f.dataType).alias(f.name) for f in type_.fields])
        return F.when(last_set(value.isNotNull(), value.isNotNull()), fields)

    columns = []
    for field in args.columns.fields:
        value = F.col(ROW)[field.name]
        if args.columns_to_update is not None and field.name not in args.keys:
            listed = F.array_contains(F.transform(AUTHORED, F.lower), field.name.lower())
            value = last_set(value, F.col(AUTHORED).isNull() | listed)
        elif field.name in args.ignore_null:
            value = completed(value, field.dataType)
        columns.append(value.alias(field.name))
    # Windows cannot stand inside a condition, so the row is completed first.
    return (
        lives.withColumn(SHOWN, F.struct(*columns))
        .withColumn(SHOWN, F.when(F.col(OP) == UPSERT, F.col(SHOWN)))
        .drop(_LIFE)
    )


def _find_versions(facts: DataFrame, args: ChangeArgs) -> DataFrame:
    """A version is a run of upserts that agree in every tracked column."""
    in_order = Window.partitionBy(KEY).orderBy(SEQ)
    types = {field.name: field.dataType for field in args.columns.fields}
    tracked = F.struct(
        F.lit(0).alias("always"), *[comparable(F.col(SHOWN)[n], types[n]).alias(n) for n in args.tracked]
    )
    before = facts.withColumn(_TRACKED, tracked)
    continues = (F.lag(OP).over(in_order) == UPSERT) & F.lag(_TRACKED).over(in_order).eqNullSafe(F.col(_TRACKED))
    starts = (F.col(OP) == UPSERT) & ~F.coalesce(continues, F.lit(False))
    return (
        before.withColumn(STARTS, starts)
        .withColumn(_OPENING, F.last(F.when(F.col(STARTS), F.struct(SEQ, EXISTING)), True).over(in_order))
        .drop(_TRACKED)
    )


def _close_versions(facts: DataFrame) -> DataFrame:
    in_order = Window.partitionBy(KEY).orderBy(SEQ)
    is_upsert = F.col(OP) == UPSERT
    followed = F.lead(OP).over(in_order)
    version_ends = followed.isNull() | (followed == DELETE) | F.lead(STARTS).over(in_order)
    closes_nothing = F.coalesce(F.lag(OP).over(in_order) == DELETE, F.lit(True))
    is_whole_version = F.col(STARTS) & F.col(IS_LAST_OF_VERSION)
    return (
        facts.withColumn(IS_LAST_OF_VERSION, is_upsert & version_ends)
        .withColumn(END, F.when(F.col(IS_LAST_OF_VERSION), F.lead(SEQ).over(in_order)))
        .withColumn(START, F.when(is_upsert, F.col(_OPENING)[SEQ]))
        .withColumn(STORED, F.when(is_upsert, F.col(_OPENING)[EXISTING]))
        .withColumn(IS_NOT_DERIVABLE, F.when(is_upsert, ~is_whole_version).otherwise(closes_nothing))
        .drop(_OPENING)
    )


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
