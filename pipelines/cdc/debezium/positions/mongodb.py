"""MongoDB's position: the time of a change and its number within the second, as the replica set's log counts.

``ts_ms`` and ``ord`` are the cluster time of a change in connectors before 3.0: its second, and its number in it. Since
3.0, with servers from 6.0 on, ``ts_ms`` is the server's clock when it logged the change (``wallTime``). A change logged
within the last tenth of a second may already count in the next one, so ``ord`` does not order these; there the order
of arrival does.

The changes of a transaction share both. Connectors of 1.x count them (``tord``); for others the connector's count of
``transaction`` decides, or the order of arrival. Reads of an initial snapshot have that of its start in 1.x, and sort
after the change there. Those of later connectors have none: they sort first, by their time.
"""

from collections.abc import Mapping

from pyspark.sql import Column
from pyspark.sql import functions as F

from cdc import names
from cdc.debezium.positions.position import SNAPSHOT_FIELD, Finding, Position, unreadable
from cdc.debezium.values.temporal import instant_of_millis

_LOGGED_AT, _ORDER, _IN_TRANSACTION = "_logged_at", "_order", "_transaction_order"
_TIME, _ORD, _TORD, _LSID, _SESSION, _WALL_TIME = "ts_ms", "ord", "tord", "lsid", "stxnid", "wallTime"
_MICROS = "ts_us"
"""Only connectors have it that may take a change's time from the server's clock."""
_BEFORE_ALL = -1
_AFTER_TRANSACTION = 2**62
"""Of a snapshot's read, which has the position of the last change before it."""
_SECOND = 1000
_UNSURE_FROM = 900
"""Milliseconds of a second from which a server's clock does not say in which second its log counts a change."""


class MongoDbPosition(Position):
    """Position by time and number in the log of a replica set."""

    log_fields = (_ORD, _TORD, _LSID, _SESSION, _WALL_TIME, _MICROS)
    event_fields = ()
    transaction = _LOGGED_AT
    change = (_ORDER, _IN_TRANSACTION)
    tie = Finding("tie", "changes of one document at one position, ordered only by their operation")
    inversion = Finding(
        "inversion",
        "changes of one document within one moment of the log that arrived in another order than that of their"
        " numbers; the order of arrival is right: set `within_transaction: arrival`",
    )
    backwards = Finding(
        "time_backwards",
        "changes with an earlier time than a change of the log that had arrived before; the clock of a new primary may"
        " be behind, or a snapshot was taken again: then set `restored_at`",
    )
    log_is_exact = True

    def log_values(self, source: Column) -> Mapping[str, Column]:
        """The log columns by name."""
        millis, is_first = logged_at(source), is_initial_read(source)
        return {
            _LOGGED_AT: F.when(is_first, F.lit(_BEFORE_ALL).cast("bigint")).otherwise(millis),
            # With one number for all reads, those of a second snapshot would look like the first ones delivered again,
            # and no finding would tell of it.
            _ORDER: F.when(is_first, F.coalesce(F.unix_millis(_committed_at(source)), F.lit(_BEFORE_ALL))).otherwise(
                F.when(is_unsure(source), F.col(names.OFFSET)).otherwise(source.getField(_ORD).try_cast("bigint"))
            ),
            _IN_TRANSACTION: in_transaction(source, F.lit(None).cast("string"), F.col(names.OFFSET)),
        }

    def log_fault(self, source: Column) -> Column:
        """Why there is no position."""
        return F.coalesce(
            unreadable(_LOGGED_AT, f"source.{_TIME}", source.getField(_TIME)),
            unreadable(_ORDER, f"source.{_ORD}", source.getField(_ORD)),
        )

    def values(self, source: Column, op: Column, total_order: Column) -> Mapping[str, Column]:
        """The position's columns by name."""
        return {
            **super().values(source, op, total_order),
            _IN_TRANSACTION: in_transaction(source, total_order, F.col(names.OFFSET)),
            names.COMMITTED_AT: _committed_at(source),
        }

    def fault(self, source: Column, total_order: Column) -> Column:
        """Why there is no position; a count that is none is one too."""
        count = source.getField(_TORD)
        return F.coalesce(
            super().fault(source, total_order),
            F.when(count.isNotNull(), unreadable(_IN_TRANSACTION, f"source.{_TORD}", count)),
            unreadable(_IN_TRANSACTION, "transaction.total_order", total_order),
        )

    def operation_rank(self, op: Column) -> Column:
        """0 for a delete, 1 for the others; it never decides between two changes that the log has.

        >>> position = MongoDbPosition(orders.connector)
        >>> evaluate(position.operation_rank(F.lit("d"))), evaluate(position.operation_rank(F.lit("c")))
        (0, 1)
        """
        return F.when(op == names.DELETE, 0).otherwise(1)

    def is_streamed(self) -> Column:
        """True for a change read from the log."""
        return F.col(_LOGGED_AT) > _BEFORE_ALL


def is_initial_read(source: Column) -> Column:
    """True for the read of an initial snapshot without a position: those of 1.x have that of the snapshot's start.

    >>> def source(ts_ms, ord, snapshot="last"):
    ...     fields = {"ts_ms": ts_ms, "ord": ord, "snapshot": snapshot}
    ...     return F.struct(*(F.lit(value).alias(name) for name, value in fields.items()))
    >>> [evaluate(is_initial_read(source(*each))) for each in (("0", "0"), ("1772366400000", "-1"))]
    [True, True]
    >>> evaluate(is_initial_read(source("1772366400000", "4"))), evaluate(is_initial_read(source("0", "0", "false")))
    (False, False)
    """
    is_incremental = F.coalesce(F.lower(source.getField(SNAPSHOT_FIELD)) == "incremental", F.lit(False))
    time, order = (source.getField(name).try_cast("bigint") for name in (_TIME, _ORD))
    has_position = F.coalesce((time > 0) & (order >= 0), F.lit(False))
    return is_read(source) & ~is_incremental & ~has_position


def logged_at(source: Column) -> Column:
    """The time that orders a change, in milliseconds.

    Reads that have a position have the second of the change before them, as the log counts it, also where changes have
    the server's clock, by which the next change may be just before that second. A read that comes too late hides a
    change; one that comes too early does no harm, because the changes that it has seen are applied again.

    >>> def source(micros, snapshot):
    ...     fields = {"ts_ms": F.lit("1772366400000"), "ts_us": F.lit(micros).cast("string")}
    ...     named = {**fields, "snapshot": F.lit(snapshot)}
    ...     return F.struct(*(value.alias(name) for name, value in named.items()))
    >>> [evaluate(logged_at(source(1772366400000000, each))) for each in ("false", "incremental")]
    [1772366400000, 1772366399000]
    >>> evaluate(logged_at(source(None, "incremental")))
    1772366400000
    """
    millis = source.getField(_TIME).try_cast("bigint")
    may_be_late = is_read(source) & source.getField(_MICROS).isNotNull()
    return F.when(may_be_late, millis - _SECOND).otherwise(millis)


def is_read(source: Column) -> Column:
    """True for the read of a snapshot, of whichever kind.

    >>> [evaluate(is_read(F.struct(F.lit(text).alias("snapshot")))) for text in ("incremental", "true", "false", None)]
    [True, True, False, False]
    """
    return F.coalesce(F.lower(source.getField(SNAPSHOT_FIELD)), F.lit("false")) != "false"


def is_unsure(source: Column) -> Column:
    """True if the time is that of a server's clock, so late in a second that ``ord`` may be the next one's.

    >>> at = F.lit("1772366400950").alias("ts_ms")
    >>> evaluate(is_unsure(F.struct(at, at.alias("wallTime"))))
    True
    >>> evaluate(is_unsure(F.struct(at, F.lit(None).cast("string").alias("wallTime"))))
    False
    """
    time, wall_time = (source.getField(name).try_cast("bigint") for name in (_TIME, _WALL_TIME))
    return F.coalesce((time == wall_time) & (time % 1000 >= _UNSURE_FROM), F.lit(False))


def in_transaction(source: Column, total_order: Column, offset: Column) -> Column:
    """The number of a change in its transaction: as the connector counts, else by arrival; 0 outside of one.

    >>> nothing = F.lit(None).cast("string")
    >>> def source(tord, lsid):
    ...     fields = {"tord": tord, "lsid": lsid, "stxnid": nothing, "snapshot": F.lit("false")}
    ...     return F.struct(*(value.alias(name) for name, value in fields.items()))
    >>> evaluate(in_transaction(source(F.lit("2"), nothing), nothing, F.lit(7)))
    2
    >>> [evaluate(in_transaction(source(nothing, F.lit("{}")), count, F.lit(7))) for count in (F.lit("3"), nothing)]
    [3, 7]
    >>> evaluate(in_transaction(source(nothing, nothing), nothing, F.lit(7)))
    0
    """
    count = F.coalesce(source.getField(_TORD), total_order)
    is_of_one = source.getField(_LSID).isNotNull() | source.getField(_SESSION).isNotNull()
    uncounted = F.when(is_of_one, offset.cast("bigint")).otherwise(F.lit(0).cast("bigint"))
    return F.when(is_read(source), F.lit(_AFTER_TRANSACTION)).otherwise(
        F.when(count.isNotNull(), count.try_cast("bigint")).otherwise(uncounted)
    )


def _committed_at(source: Column) -> Column:
    """When a change was committed, or a row read; of a read whose time is not stated (before 3.0) the record's time."""
    time = source.getField(_TIME)
    is_unknown = is_initial_read(source) & F.coalesce(time.try_cast("bigint") <= 0, F.lit(False))
    return F.when(is_unknown, F.col(names.RECORDED_AT)).otherwise(instant_of_millis(time))
