"""SQL Server: log sequence numbers, as the server orders them.

``commit_lsn`` orders transactions, ``change_lsn`` changes inside one, ``event_serial_no`` events inside one
change. Snapshot reads have no ``change_lsn`` and no serial number and sort before every change of the same
``commit_lsn``.
"""

from collections.abc import Mapping

from pyspark.sql import Column
from pyspark.sql import functions as F

from cdc import names
from cdc.debezium.positions.position import Position
from cdc.debezium.rejects import quoted
from cdc.debezium.values.temporal import instant_of_millis
from cdc.spec.model import ConnectorSpec

_COLUMNS = (
    names.INCARNATION,
    names.COMMIT_LSN,
    names.CHANGE_LSN,
    names.EVENT_SERIAL_NO,
    names.OPERATION,
    names.COMMITTED_AT,
)
LOWEST_LSN = "00000000:00000000:0000"
_LSN = "^[0-9a-f]{8}:[0-9a-f]{8}:[0-9a-f]{4}$"
_LAST_OF_ALL = 2**63 - 1
_ABSENT = ("null", "00", "", LOWEST_LSN)
"""How connectors and their forks write an absent LSN, in lower case; null besides."""


def lsn(text: Column) -> Column:
    """A log sequence number in fixed width and lower case, which sorts as the server sorts.

    Absent becomes the lowest; what is no LSN becomes null.
    """
    plain = F.lower(F.trim(text))
    return F.when(is_absent(text), LOWEST_LSN).when(plain.rlike(_LSN), plain)


def is_absent(text: Column) -> Column:
    """True for null and for the texts that stand for it."""
    return text.isNull() | F.lower(F.trim(text)).isin(*_ABSENT)


def serial_number(text: Column) -> Column:
    """``event_serial_no`` as a number, however it came; absent becomes 0, below the first."""
    return F.when(is_absent(text), F.lit(0).cast("bigint")).otherwise(text.try_cast("bigint"))


def operation_rank(op: Column) -> Column:
    """0 for a delete, 1 for the others.

    A deferred update is a delete and a create of one key with one position: the create has to win.
    """
    return F.when(op == "d", 0).otherwise(1)


def total_order(text: Column, source: Column) -> Column:
    """The place in the transaction, as a number; where the connector counted none, null.

    Reads of a snapshot are in no transaction: those of the initial one come first, and those of an incremental one,
    which carry the position of the last event before them, come last.
    """
    snapshot = F.lower(source.getField("snapshot"))
    of_read = F.when(snapshot == "incremental", _LAST_OF_ALL).when(F.coalesce(snapshot, F.lit("false")) != "false", 0)
    return F.coalesce(text.try_cast("bigint"), of_read)


def columns(source: Column, op: Column, in_transaction: Column, connector: ConnectorSpec) -> Mapping[str, Column]:
    """The flat columns of a change that make its sequence."""
    counted = {names.TOTAL_ORDER: total_order(in_transaction, source)} if _is_counted(connector) else {}
    return {
        **counted,
        names.INCARNATION: F.lit(connector.incarnation),
        names.COMMIT_LSN: lsn(source.getField("commit_lsn")),
        names.CHANGE_LSN: lsn(source.getField("change_lsn")),
        names.EVENT_SERIAL_NO: serial_number(source.getField("event_serial_no")),
        names.OPERATION: operation_rank(op),
        names.COMMITTED_AT: instant_of_millis(source.getField("ts_ms")),
    }


def column_names(connector: ConnectorSpec) -> tuple[str, ...]:
    """The flat columns of a change that hold its position."""
    return (*_COLUMNS, names.TOTAL_ORDER) if _is_counted(connector) else _COLUMNS


def fault(source: Column, in_transaction: Column, connector: ConnectorSpec) -> Column:
    """Why the record has no position; null where it has one.

    What `columns` could not read is null there; a lowest ``commit_lsn`` is one that was absent.
    """
    unreadable = {
        names.COMMIT_LSN: "commit_lsn",
        names.CHANGE_LSN: "change_lsn",
        names.EVENT_SERIAL_NO: "event_serial_no",
        names.COMMITTED_AT: "ts_ms",
    }
    return F.coalesce(
        F.when(F.col(names.COMMIT_LSN) == LOWEST_LSN, "source.commit_lsn is null"),
        *(
            F.when(F.col(name).isNull(), F.concat(F.lit(f"source.{field} is "), quoted(source.getField(field))))
            for name, field in unreadable.items()
        ),
        *((_uncounted(in_transaction),) if _is_counted(connector) else ()),
    )


def sequence(connector: ConnectorSpec) -> tuple[str, ...]:
    """By LSN, or inside a transaction by the connector's count or by arrival: `__$seqval` does not order those."""
    if _is_counted(connector):
        return (names.INCARNATION, names.COMMIT_LSN, names.TOTAL_ORDER, names.OPERATION, names.COMMITTED_AT)
    if connector.within_transaction == "arrival":
        return (names.INCARNATION, names.COMMIT_LSN, names.OFFSET, names.OPERATION, names.COMMITTED_AT)
    return _COLUMNS


def _is_counted(connector: ConnectorSpec) -> bool:
    return connector.within_transaction == "total_order"


def _uncounted(in_transaction: Column) -> Column:
    message = F.concat(F.lit("transaction.total_order is "), quoted(in_transaction))
    return F.when(F.col(names.TOTAL_ORDER).isNull(), message)


POSITION = Position(
    column_names=column_names,
    source_fields=("commit_lsn", "change_lsn", "event_serial_no", "ts_ms"),
    columns=columns,
    fault=fault,
    sequence=sequence,
)
