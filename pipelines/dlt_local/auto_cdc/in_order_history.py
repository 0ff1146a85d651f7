"""In-order history reconciler: SCD type 2 where the whole batch is above the high watermark. Pure.

Then a key's history can change in one way only: its open version ends. The new versions follow from the batch's events
and the open versions of their keys; ended versions and the auxiliary state play no part. This takes that all columns
are tracked, so the events of one version are equal, and that no two events share key and sequence; otherwise
`general_fold` does it.
"""

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from dlt_local.auto_cdc.args import ChangeArgs
from dlt_local.auto_cdc.cache import Cache
from dlt_local.auto_cdc.comparison import comparable
from dlt_local.auto_cdc.events import assembled, flat_key, flat_row, flat_sequence, is_open, leaves, sequence
from dlt_local.auto_cdc.metrics import CdcMetrics
from dlt_local.auto_cdc.names import (
    ACTION,
    ARRIVED,
    AUTHORED,
    DELETE,
    END,
    IS_NEW,
    IS_NOT_DERIVABLE,
    IS_OF_BATCH,
    IS_OUT_OF_ORDER,
    KEY,
    OP,
    PUT,
    ROW,
    SEQ,
    SHARES_SEQUENCE,
    START,
    STARTS,
    UPSERT,
    scratch,
)
from dlt_local.auto_cdc.reconciled import Reconciled, RowChanges
from dlt_local.auto_cdc.validation import Batch
from dlt_local.names import START_AT, quote

BROADCAST_KEYS = 2_000_000
"""Up to so many keys are held in memory to find them in the target; more are joined by a sort."""


def reconcile(batch: Batch, target: DataFrame, args: ChangeArgs, cache: Cache) -> Reconciled | None:
    """The versions that the batch opens and ends; None if two of its events share key and sequence.

    Args:
        batch: its flat events have ARRIVED.
        target: the target's rows.
        args: the flow's.
        cache: where frames are kept.
    """
    flags = IS_NOT_DERIVABLE, IS_OUT_OF_ORDER, SHARES_SEQUENCE
    is_inserted = F.col(IS_OF_BATCH) & F.col(STARTS)
    is_ended = ~F.col(IS_OF_BATCH) & F.col(END).isNotNull()
    placed = succession(batch.flat, _open_versions(target, batch, args), args)
    needed, found = cache.measured(
        placed.where(is_inserted | is_ended | F.greatest(*flags)),
        F.count_if(is_inserted).alias("inserted"),
        F.count_if(is_ended).alias("replaced"),
        *[F.count_if(flag).alias(flag) for flag in flags],
    )
    if found[SHARES_SEQUENCE]:
        return None
    out_of_order = needed.where(IS_OUT_OF_ORDER).select(*flat_key(args)).distinct()
    return Reconciled(
        RowChanges(_row_changes(needed, args), found["inserted"], found["replaced"], 0, predicate=is_open(args)),
        _facts(needed, args) if found[IS_NOT_DERIVABLE] else None,
        CdcMetrics(
            num_events=batch.statistics.events,
            num_out_of_order_keys=out_of_order.count() if found[IS_OUT_OF_ORDER] else 0,
        ),
    )


def _open_versions(target: DataFrame, batch: Batch, args: ChangeArgs) -> DataFrame:
    """The open versions of the batch's keys as flat events, each at the start of its version."""
    keys = batch.flat.select(*flat_key(args))
    is_touched = [target[quote(key)] == keys[part] for key, part in zip(args.keys, flat_key(args), strict=True)]
    touched = F.broadcast(keys) if batch.statistics.events <= BROADCAST_KEYS else keys
    starts = leaves(F.col(START_AT), args.sequence_type)
    return (
        target.where(is_open(args))
        .join(touched, is_touched, "left_semi")
        .select(
            *[F.col(quote(name)).alias(part) for name, part in zip(args.columns.names, flat_row(args), strict=True)],
            *[start.alias(part) for start, part in zip(starts, flat_sequence(args), strict=True)],
            F.lit(UPSERT).alias(OP),
            F.lit(None).cast("bigint").alias(ARRIVED),
            F.lit(False).alias(IS_OF_BATCH),
        )
    )


def succession(events: DataFrame, versions: DataFrame, args: ChangeArgs) -> DataFrame:
    """Events and open versions of their keys in order, each with its part in the key's history.

    Grain: one row per event and per open version.
    Columns: `flat_row`, `flat_sequence`, OP, IS_OF_BATCH, STARTS, END, IS_NOT_DERIVABLE, SHARES_SEQUENCE,
    IS_OUT_OF_ORDER.

    Args:
        events: flat ones with ARRIVED.
        versions: flat ones with ARRIVED and IS_OF_BATCH.
        args: the flow's.
    """
    row, place, key = flat_row(args), flat_sequence(args), flat_key(args)
    # Whatever a source says about the columns of a deleted row is no part of the event.
    of_batch = events.select(
        *[F.col(part) if part in key else F.when(F.col(OP) == UPSERT, F.col(part)).alias(part) for part in row],
        *(*place, OP, ARRIVED),
        F.lit(True).alias(IS_OF_BATCH),
    )
    in_order = Window.partitionBy(*key).orderBy(*place)
    types = dict(zip(row, args.columns.fields, strict=True))
    values = F.struct(*[comparable(F.col(part), types[part].dataType).alias(part) for part in row])
    at = F.struct(*place)
    before = F.lag(OP).over(in_order)
    continues = (before == UPSERT) & F.lag(values).over(in_order).eqNullSafe(values)
    starts = (F.col(OP) == UPSERT) & ~F.coalesce(continues, F.lit(False))
    closes_nothing = (F.col(OP) == DELETE) & F.coalesce(before == DELETE, F.lit(True))
    earlier = in_order.rowsBetween(Window.unboundedPreceding, -1)
    placed = of_batch.unionByName(versions).select(
        *(*row, *place, OP, IS_OF_BATCH),
        starts.alias(STARTS),
        (closes_nothing | (F.col(IS_OF_BATCH) & (F.col(OP) == UPSERT) & ~starts)).alias(IS_NOT_DERIVABLE),
        F.coalesce(F.lag(at).over(in_order) == at, F.lit(False)).alias(SHARES_SEQUENCE),
        F.coalesce(F.max(ARRIVED).over(earlier) > F.col(ARRIVED), F.lit(False)).alias(IS_OUT_OF_ORDER),
    )
    ending = scratch("ending")
    window = f"PARTITION BY {', '.join(key)} ORDER BY {', '.join(place)}"
    return (
        placed.withColumn(ending, F.when(F.col(STARTS) | (F.col(OP) == DELETE), sequence(args)))
        .withColumn(END, F.expr(f"lead({ending}) IGNORE NULLS OVER ({window})"))
        .drop(ending)
    )


def _row_changes(placed: DataFrame, args: ChangeArgs) -> DataFrame:
    """The versions that are new or come to an end."""
    is_changed = F.col(STARTS) & (F.col(IS_OF_BATCH) | F.col(END).isNotNull())
    return assembled(placed.where(is_changed), args).select(
        KEY,
        F.col(SEQ).alias(START),
        F.lit(PUT).alias(ACTION),
        END,
        ROW,
        F.col(IS_OF_BATCH).alias(IS_NEW),
    )


def _facts(placed: DataFrame, args: ChangeArgs) -> DataFrame:
    """The facts that the target's rows do not imply, EVENT."""
    all_columns = F.lit(None).cast("array<string>").alias(AUTHORED)
    return assembled(placed.where(IS_NOT_DERIVABLE), args).select(KEY, SEQ, OP, ROW, all_columns)
