"""The fold: what is known of a key's events becomes its versions. Pure: DataFrame -> DataFrame.

A *fact* is an event that happened, wherever it is known from: the batch, the state kept beside the target, or a row
of the target itself, which tells of the event at its start and, where nothing follows its end, of a delete there.
The versions are a function of the set of facts, so batching, order and repetition cannot matter.
"""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F
from pyspark.sql.types import DataType, StructType

from dlt_local.auto_cdc.args import ChangeArgs
from dlt_local.auto_cdc.events import comparable, fingerprint, rank
from dlt_local.auto_cdc.names import ARRIVED, AUTHORED, DELETE, EVENT, KEY, OP, ROW, SEQ, UPSERT
from dlt_local.names import END_AT, OWN_PREFIX, START_AT, quote

ORIGIN = f"{OWN_PREFIX}origin"
"""int: from where a fact is known."""
TARGET, STATE, BATCH = 0, 1, 2
EXISTING = f"{OWN_PREFIX}existing"
"""struct<end, row>: the target's row that starts at this fact, if there is one."""
START = f"{OWN_PREFIX}start"
END = f"{OWN_PREFIX}end"
IS_LAST_OF_RUN = f"{OWN_PREFIX}is_last_of_run"
IS_HIDDEN = f"{OWN_PREFIX}is_hidden"
"""True for a fact that the target's rows do not tell."""
IS_TOLD_BY_STATE = f"{OWN_PREFIX}is_told_by_state"
"""True where the state knows a fact of the same key and sequence, be it this one or one that lost against it."""
IS_TIE = f"{OWN_PREFIX}is_tie"
IS_LATE = f"{OWN_PREFIX}is_late"
IS_OUT_OF_ORDER = f"{OWN_PREFIX}is_out_of_order"
REPEATS = f"{OWN_PREFIX}repeats"

_STARTS = f"{OWN_PREFIX}starts"
_LIFE = f"{OWN_PREFIX}life"


def facts_of_target(rows: DataFrame, args: ChangeArgs) -> DataFrame:
    """What an SCD type 2 target tells: one fact per row, and a delete for each end behind which no row follows.

    Columns: EVENT, ORIGIN, EXISTING. ``rows`` must hold, for each key, a version and all those behind it.
    """
    key = F.struct(*[F.col(quote(name)).alias(name) for name in args.keys])
    row = F.struct(*[F.col(quote(name)) for name in args.columns.names])
    upsert = F.struct(F.col(START_AT).alias(SEQ), F.lit(UPSERT).alias(OP), row.alias(ROW))
    existing = F.struct(F.col(END_AT).alias("end"), row.alias("row"))
    ends = F.struct(F.col(END_AT).alias(SEQ), F.lit(DELETE).alias(OP), F.when(F.lit(False), row).alias(ROW))
    following = F.lead(START_AT).over(Window.partitionBy(KEY).orderBy(START_AT))
    is_deleted = F.col(END_AT).isNotNull() & ~F.col(END_AT).eqNullSafe(following)
    with_facts = rows.withColumn(KEY, key).select(
        KEY,
        F.struct(upsert.alias("event"), existing.alias("existing")).alias("start"),
        F.when(is_deleted, F.struct(ends.alias("event"), F.when(F.lit(False), existing).alias("existing"))).alias(
            "end"
        ),
    )
    each = with_facts.select(KEY, F.explode(F.array("start", "end")).alias("fact")).where("fact IS NOT NULL")
    return each.select(
        KEY,
        F.col("fact.event")[SEQ].alias(SEQ),
        F.col("fact.event")[OP].alias(OP),
        F.col("fact.event")[ROW].alias(ROW),
        F.lit(None).cast("array<string>").alias(AUTHORED),
        F.lit(TARGET).alias(ORIGIN),
        F.col("fact.existing").alias(EXISTING),
    )


def existing_type(args: ChangeArgs) -> DataType:
    """The type of EXISTING, for facts that have none."""
    return StructType().add("end", args.sequence_type).add("row", args.columns)


def fold(facts: DataFrame, args: ChangeArgs) -> DataFrame:
    """One row per key and sequence: the fact that counts there, and its part in the key's history.

    The order of the steps is load-bearing: one fact a sequence first, so that a run never has two; then rows are
    completed, since a version is compared by what it shows; then runs are found, then their ends. All of it happens
    within a key, so the facts are brought together by key once.

    Columns added: START, END (the run's interval, END null while it lasts), IS_LAST_OF_RUN, IS_HIDDEN, and for the
    metrics IS_TIE, IS_LATE, REPEATS (how many more facts of the batch told the same).
    """
    return (
        facts.repartition(KEY)
        .transform(_one_fact_a_sequence, args)
        .transform(_complete_rows, args)
        .transform(_find_runs, args)
        .transform(_close_runs)
    )


def _one_fact_a_sequence(facts: DataFrame, args: ChangeArgs) -> DataFrame:
    """At one sequence a delete beats an upsert (SCD type 1: upsert wins); of two upserts the greater row counts.

    A target's row shows its run's last values, not those of the event at its start; where a run has several events
    the state knows that event, and the target's word for it is passed over.
    """
    wins = F.col(OP) == (DELETE if args.scd_type == 2 else UPSERT)
    authored = F.array_sort(AUTHORED)
    # Of equal facts the one that is known longest: what the state knows need not be remembered again.
    place = F.struct(wins, rank(F.col(ROW), args.columns).alias("row"), authored.alias("authored"), -F.col(ORIGIN))
    fact = F.struct(OP, ROW, AUTHORED, ORIGIN)
    told = F.xxhash64(OP, fingerprint(F.col(ROW), args.columns), authored)
    of_target = F.col(ORIGIN) == TARGET
    from_batch = F.col(ORIGIN) == BATCH
    counted = facts.groupBy(KEY, SEQ).agg(
        F.max_by(fact, place).alias("of_all"),
        F.max_by(F.when(~of_target, fact), F.when(~of_target, place)).alias("of_others"),
        F.bool_or(F.col(ORIGIN) == STATE).alias(IS_TOLD_BY_STATE),
        F.first(EXISTING, ignorenulls=True).alias(EXISTING),
        F.count_if(from_batch).alias("of_batch"),
        F.max(F.when(from_batch, F.col(ARRIVED))).alias("arrived"),
        F.min(F.when(~of_target, told)).alias("least_told"),
        F.max(F.when(~of_target, told)).alias("most_told"),
        F.max(F.when(of_target, told)).alias("told_by_target"),
    )
    disagrees = ~F.col(IS_TOLD_BY_STATE) & (F.col("told_by_target") != F.col("most_told"))
    is_tie = F.coalesce((F.col("least_told") != F.col("most_told")) | disagrees, F.lit(False))
    of_key = Window.partitionBy(KEY).orderBy(SEQ)
    later = of_key.rowsBetween(Window.currentRow, Window.unboundedFollowing)
    earlier = of_key.rowsBetween(Window.unboundedPreceding, -1)
    is_new = F.col("of_batch") > 0
    winner = F.when(F.col(IS_TOLD_BY_STATE), F.col("of_others")).otherwise(F.col("of_all"))
    return counted.withColumn("fact", winner).select(
        KEY,
        SEQ,
        *[F.col("fact")[name].alias(name) for name in (OP, ROW, AUTHORED, ORIGIN)],
        EXISTING,
        IS_TOLD_BY_STATE,
        is_tie.alias(IS_TIE),
        F.when(is_tie | ~is_new, 0)
        .otherwise(F.col("of_batch") - F.when(F.col("fact")[ORIGIN] == BATCH, 1).otherwise(0))
        .alias(REPEATS),
        (is_new & (F.max(F.when(~is_new, F.col(SEQ))).over(later) > F.col(SEQ))).alias(IS_LATE),
        (is_new & (F.max("arrived").over(earlier) > F.col("arrived"))).alias(IS_OUT_OF_ORDER),
    )


def _complete_rows(facts: DataFrame, args: ChangeArgs) -> DataFrame:
    """Where an event says nothing about a column, the value before it shows through; a delete ends that."""
    if not args.is_partial:
        return facts.withColumn("_shown", F.col(ROW))
    in_order = Window.partitionBy(KEY).orderBy(SEQ)
    lives = facts.withColumn(_LIFE, F.count_if(F.col(OP) == DELETE).over(in_order))
    so_far = Window.partitionBy(KEY, _LIFE).orderBy(SEQ)

    def last_said(value: Column, is_said: Column) -> Column:
        return F.last(F.when(is_said, F.struct(value.alias("v"))), ignorenulls=True).over(so_far)["v"]

    def completed(value: Column, type_: DataType) -> Column:
        if not isinstance(type_, StructType):
            return last_said(value, value.isNotNull())
        fields = F.struct(*[completed(value[f.name], f.dataType).alias(f.name) for f in type_.fields])
        return F.when(last_said(value.isNotNull(), value.isNotNull()), fields)

    columns = []
    for field in args.columns.fields:
        value = F.col(ROW)[field.name]
        if args.columns_to_update is not None and field.name not in args.keys:
            listed = F.array_contains(F.transform(AUTHORED, F.lower), field.name.lower())
            value = last_said(value, F.col(AUTHORED).isNull() | listed)
        elif field.name in args.ignore_null:
            value = completed(value, field.dataType)
        columns.append(value.alias(field.name))
    return (
        lives.withColumn("_completed", F.struct(*columns))
        .withColumn("_shown", F.when(F.col(OP) == UPSERT, F.col("_completed")))
        .drop("_completed", _LIFE)
    )


def _find_runs(facts: DataFrame, args: ChangeArgs) -> DataFrame:
    """A run is a stretch of upserts that agree in every tracked column; it is shown as one version."""
    in_order = Window.partitionBy(KEY).orderBy(SEQ)
    types = {field.name: field.dataType for field in args.columns.fields}
    tracked = F.struct(
        F.lit(0).alias("always"), *[comparable(F.col("_shown")[n], types[n]).alias(n) for n in args.tracked]
    )
    before = facts.withColumn("_tracked", tracked)
    continues = (F.lag(OP).over(in_order) == UPSERT) & F.lag("_tracked").over(in_order).eqNullSafe(F.col("_tracked"))
    starts = (F.col(OP) == UPSERT) & ~F.coalesce(continues, F.lit(False))
    return (
        before.withColumn(_STARTS, starts)
        .withColumn("_opening", F.last(F.when(F.col(_STARTS), F.struct(SEQ, EXISTING)), True).over(in_order))
        .drop("_tracked")
    )


def _close_runs(facts: DataFrame) -> DataFrame:
    in_order = Window.partitionBy(KEY).orderBy(SEQ)
    is_upsert = F.col(OP) == UPSERT
    followed = F.lead(OP).over(in_order)
    run_ends = followed.isNull() | (followed == DELETE) | F.lead(_STARTS).over(in_order)
    closes_nothing = F.coalesce(F.lag(OP).over(in_order) == DELETE, F.lit(True))
    return (
        facts.withColumn(IS_LAST_OF_RUN, is_upsert & run_ends)
        .withColumn(END, F.when(F.col(IS_LAST_OF_RUN), F.lead(SEQ).over(in_order)))
        .withColumn(START, F.when(is_upsert, F.col("_opening")[SEQ]))
        .withColumn("_before", F.when(is_upsert, F.col("_opening")[EXISTING]))
        .withColumn(IS_HIDDEN, F.when(is_upsert, ~(F.col(_STARTS) & F.col(IS_LAST_OF_RUN))).otherwise(closes_nothing))
        .drop("_opening")
    )


PUT, REMOVE = "put", "remove"
IS_NEW = f"{OWN_PREFIX}is_new"
"""True where the target has no such row yet."""
ACTION = f"{OWN_PREFIX}action"


def actions(folded: DataFrame, args: ChangeArgs) -> DataFrame:
    """How the target's rows must change: one row per key and START that is new, different or no more.

    Columns: KEY, START, ACTION (put, remove), END, ROW, and IS_NEW.
    """
    put = F.struct(
        F.col(START).alias(START),
        F.lit(PUT).alias(ACTION),
        F.col(END).alias(END),
        F.col("_shown").alias(ROW),
        F.col("_before").isNull().alias(IS_NEW),
    )
    remove = F.struct(
        F.col(SEQ).alias(START),
        F.lit(REMOVE).alias(ACTION),
        F.when(F.lit(False), F.col(END)).alias(END),
        F.when(F.lit(False), F.col("_shown")).alias(ROW),
        F.lit(False).alias(IS_NEW),
    )
    each = F.array(F.when(_is_put(args), put), F.when(_is_removed(), remove))
    return folded.select(KEY, F.explode(each).alias("a")).where("a IS NOT NULL").select(KEY, "a.*")


def count_actions(args: ChangeArgs) -> tuple[Column, Column, Column]:
    """How many of the actions add a row, how many do something else, and to how many of these a row that had ended: as
    aggregates over the fold."""
    before, is_put, is_removed = F.col("_before"), _is_put(args), _is_removed()
    others = F.count_if(is_put & before.isNotNull()) + F.count_if(is_removed)
    had_ended = F.count_if(is_put & before["end"].isNotNull())
    had_ended += F.count_if(is_removed & F.col(EXISTING)["end"].isNotNull())
    return F.count_if(is_put & before.isNull()), others, had_ended


def _is_put(args: ChangeArgs) -> Column:
    before, shown = F.col("_before"), F.col("_shown")
    is_shown_otherwise = (
        before.isNull()
        | ~before["end"].eqNullSafe(F.col(END))
        | ~rank(before["row"], args.columns).eqNullSafe(rank(shown, args.columns))
    )
    return F.col(IS_LAST_OF_RUN) & is_shown_otherwise


def _is_removed() -> Column:
    return F.col(EXISTING).isNotNull() & ~F.col(_STARTS)


def rows(folded: DataFrame) -> DataFrame:
    """The same for an SCD type 1 target: one row per key, its open version or its removal.

    Columns: KEY, ACTION, ROW, IS_NEW (true where nothing of the key was known before).
    """
    in_order = Window.partitionBy(KEY).orderBy(SEQ)
    is_last = F.lead(SEQ).over(in_order).isNull()
    # The state may know a key by nothing but an event that has lost against one of the batch with the same sequence.
    is_known = (F.col(ORIGIN) != BATCH) | F.col(IS_TOLD_BY_STATE)
    is_new = ~F.bool_or(is_known).over(Window.partitionBy(KEY))
    last = folded.withColumn("_last", is_last).withColumn(IS_NEW, is_new).where("_last")
    is_live = F.col(OP) == UPSERT
    # A key that came and went within the batch needs no row removed.
    return last.select(
        KEY,
        F.when(is_live, F.lit(PUT)).otherwise(F.lit(REMOVE)).alias(ACTION),
        F.col("_shown").alias(ROW),
        IS_NEW,
    ).where((F.col(ACTION) == PUT) | ~F.col(IS_NEW))


def is_to_remember(args: ChangeArgs) -> Column:
    """True for a fact that neither the target will tell nor the state knows; of partial rows, every new fact.

    Where the state knows a fact that has lost against this one, it must learn of this one too: its word goes before
    the target's.
    """
    if args.is_partial:
        return F.col(ORIGIN) == BATCH
    return (F.col(IS_HIDDEN) | F.col(IS_TOLD_BY_STATE)) & (F.col(ORIGIN) != STATE)


def hidden(folded: DataFrame, args: ChangeArgs) -> DataFrame:
    """The facts to remember, EVENT."""
    return folded.where(is_to_remember(args)).select(*EVENT)
