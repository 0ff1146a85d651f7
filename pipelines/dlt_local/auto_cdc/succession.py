"""SCD type 2 where a batch lies wholly behind all that is known. Pure.

Then a key's history up to the batch can change in one way only: its open version comes to an end. So the new versions
follow from the batch's own events and the open versions; neither older versions nor the state have a say. It takes
that all columns are tracked, so that the events of one version are equal, and that no two events share key and
sequence; `fold` does the rest.
"""

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from dlt_local.auto_cdc import fold
from dlt_local.auto_cdc.args import ChangeArgs
from dlt_local.auto_cdc.events import assembled, comparable, flat_key, flat_row, flat_sequence, leaves, sequence
from dlt_local.auto_cdc.names import ARRIVED, AUTHORED, DELETE, KEY, OP, ROW, SEQ, UPSERT
from dlt_local.names import OWN_PREFIX, START_AT, quote

END = fold.END
"""Of a version: the sequence that ends it, null while it lasts."""
IS_OWN = f"{OWN_PREFIX}is_own"
"""True for an event of the batch, false for an open version of the target."""
STARTS = f"{OWN_PREFIX}starts"
"""True for an event that opens a version."""
IS_HIDDEN = f"{OWN_PREFIX}is_hidden"
"""True for an event of the batch that no version will tell of."""
_BREAK = f"{OWN_PREFIX}break"
SHARES_PLACE = f"{OWN_PREFIX}shares_place"
IS_OUT_OF_ORDER = f"{OWN_PREFIX}is_out_of_order"


def applies(args: ChangeArgs) -> bool:
    """True for a flow whose batches can be taken this way."""
    told = {name.lower() for name in (*args.keys, *args.tracked)}
    return args.scd_type == 2 and not args.is_partial and told >= {name.lower() for name in args.columns.names}


def open_versions(rows: DataFrame, args: ChangeArgs) -> DataFrame:
    """Rows of the target as flat events, each at the start of its version."""
    starts = leaves(F.col(START_AT), args.sequence_type)
    return rows.select(
        *[F.col(quote(name)).alias(part) for name, part in zip(args.columns.names, flat_row(args), strict=True)],
        *[start.alias(part) for start, part in zip(starts, flat_sequence(args), strict=True)],
        F.lit(UPSERT).alias(OP),
        F.lit(None).cast("bigint").alias(ARRIVED),
        F.lit(False).alias(IS_OWN),
    )


def succession(events: DataFrame, versions: DataFrame, args: ChangeArgs) -> DataFrame:
    """Events and open versions of their keys, each with its part in the key's history.

    Columns: `flat_row`, `flat_sequence`, OP, IS_OWN, STARTS, END, IS_HIDDEN, SHARES_PLACE (true where the one before
    has the same sequence), IS_OUT_OF_ORDER (true where one that is earlier in sequence has arrived later).

    Args:
        events: flat ones.
        versions: from `open_versions`.
        args: the flow's.
    """
    row, place, key = flat_row(args), flat_sequence(args), flat_key(args)
    # What a source tells of a deleted row is no part of the event.
    own = events.select(
        *[F.col(part) if part in key else F.when(F.col(OP) == UPSERT, F.col(part)).alias(part) for part in row],
        *(*place, OP, ARRIVED),
        F.lit(True).alias(IS_OWN),
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
    placed = own.unionByName(versions).select(
        *(*row, *place, OP, IS_OWN),
        starts.alias(STARTS),
        (closes_nothing | (F.col(IS_OWN) & (F.col(OP) == UPSERT) & ~starts)).alias(IS_HIDDEN),
        F.coalesce(F.lag(at).over(in_order) == at, F.lit(False)).alias(SHARES_PLACE),
        F.coalesce(F.max(ARRIVED).over(earlier) > F.col(ARRIVED), F.lit(False)).alias(IS_OUT_OF_ORDER),
    )
    breaks = F.when(F.col(STARTS) | (F.col(OP) == DELETE), sequence(args))
    window = f"PARTITION BY {', '.join(key)} ORDER BY {', '.join(place)}"
    end = F.expr(f"lead({_BREAK}) IGNORE NULLS OVER ({window})")
    return placed.withColumn(_BREAK, breaks).withColumn(END, end).drop(_BREAK)


def last_versions(told: DataFrame, args: ChangeArgs) -> DataFrame:
    """The versions that events open, and those that were open, as `fold.actions` tells them: all of them to be put."""
    return assembled(told.where(F.col(STARTS)), args).select(
        KEY,
        F.col(SEQ).alias(fold.START),
        F.lit(fold.PUT).alias(fold.ACTION),
        END,
        ROW,
        F.col(IS_OWN).alias(fold.IS_NEW),
    )


def changed_versions(told: DataFrame, args: ChangeArgs) -> DataFrame:
    """Those of `last_versions` that are new or come to an end."""
    return last_versions(told.where(F.col(IS_OWN) | F.col(END).isNotNull()), args)


def hidden(told: DataFrame, args: ChangeArgs) -> DataFrame:
    """The facts to remember, EVENT."""
    unsaid = F.lit(None).cast("array<string>").alias(AUTHORED)
    return assembled(told.where(IS_HIDDEN), args).select(KEY, SEQ, OP, ROW, unsaid)
