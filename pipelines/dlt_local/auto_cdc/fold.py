"""The fold: the facts known of a key become its versions. Pure: DataFrame -> DataFrame.

A *fact* is an event that happened, wherever it is known from: the batch, the auxiliary state, or a row of the target,
which implies an upsert at its start and, where no row follows its end, a delete there. The versions are a function of
the set of facts, so batching, order and duplicates cannot matter.
"""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F
from pyspark.sql.types import DataType, StructType

from dlt_local.auto_cdc.args import ChangeArgs
from dlt_local.auto_cdc.comparison import comparable, fingerprint, rank
from dlt_local.auto_cdc.names import (
    ARRIVED,
    AUTHORED,
    BATCH,
    DELETE,
    DUPLICATES,
    END,
    EXISTING,
    IS_KNOWN_TO_STATE,
    IS_LAST_OF_VERSION,
    IS_LATE,
    IS_NOT_DERIVABLE,
    IS_OUT_OF_ORDER,
    IS_TIE,
    KEY,
    OP,
    ORIGIN,
    ROW,
    SEQ,
    SHOWN,
    START,
    STARTS,
    STATE,
    STORED,
    TARGET,
    UPSERT,
    scratch,
)

_OF_ALL, _OF_OTHERS, _OF_BATCH = scratch("of_all"), scratch("of_others"), scratch("of_batch")
_LEAST, _GREATEST, _BY_TARGET = scratch("least"), scratch("greatest"), scratch("by_target")
_FACT, _ARRIVED, _LIFE, _TRACKED, _OPENING = (scratch(n) for n in ("fact", "arrived", "life", "tracked", "opening"))


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
