"""SQL Server's position: log sequence numbers, compared as the server compares them.

``commit_lsn`` orders transactions, ``change_lsn`` the changes of a transaction, ``event_serial_no`` the events of a
change. Snapshot reads have neither ``change_lsn`` nor a serial number and sort before every change of the same
``commit_lsn``; without a ``commit_lsn`` they sort before all changes, if the connector spec lets them.
"""

from collections.abc import Mapping

from pyspark.sql import Column
from pyspark.sql import functions as F

from cdc import names
from cdc.debezium.positions.position import Finding, Position, unreadable

_COMMIT_LSN, _CHANGE_LSN, _EVENT_SERIAL_NO = "_commit_lsn", "_change_lsn", "_event_serial_no"
_LOWEST_LSN = "00000000:00000000:0000"
_LSN = "^[0-9a-f]{8}:[0-9a-f]{8}:[0-9a-f]{4}$"
_READ_WITHOUT_POSITION = (
    "source.commit_lsn is null; if the reads of this connector's snapshots have no position, write"
    " `reads_without_position: first` in the connector spec"
)
_ABSENT = ("null", "00", "", _LOWEST_LSN)
"""How connectors and their forks write an absent LSN, in lower case, other than as null."""


class SqlServerPosition(Position):
    """Position by log sequence number (LSN)."""

    log_fields = ("commit_lsn", "change_lsn", "event_serial_no")
    event_fields = ("commit_lsn",)
    transaction = _COMMIT_LSN
    change = (_CHANGE_LSN, _EVENT_SERIAL_NO)
    tie = Finding("tie", "changes of one key at one position, ordered only by their operation: a deferred update")
    inversion = Finding(
        "inversion",
        "changes of one key in one transaction that arrived in another order than that of their LSNs; with"
        " `data.query.mode=direct` the order of arrival is right, and the count that the connector writes with"
        " `provide.transaction.metadata=true` keeps it",
    )
    backwards = Finding(
        "lsn_backwards",
        "changes with a lower commit LSN than a change that had arrived before; after a restore of the database set"
        " `restored_at`",
    )

    def log_values(self, source: Column) -> Mapping[str, Column]:
        """The log columns by name."""
        return {
            _COMMIT_LSN: lsn(source.getField("commit_lsn")),
            _CHANGE_LSN: lsn(source.getField("change_lsn")),
            _EVENT_SERIAL_NO: serial_number(source.getField("event_serial_no")),
        }

    def log_fault(self, source: Column) -> Column:
        """Why there is no position; a change without ``commit_lsn`` has the lowest one as its column."""
        columns = (_COMMIT_LSN, _CHANGE_LSN, _EVENT_SERIAL_NO)
        has_none, is_read = F.col(_COMMIT_LSN) == _LOWEST_LSN, F.col(names.OP) == names.READ
        of_read = None if self.connector.reads_without_position == "first" else _READ_WITHOUT_POSITION
        return F.coalesce(
            F.when(has_none & is_read, F.lit(of_read).cast("string")).when(has_none, "source.commit_lsn is null"),
            *(
                unreadable(column, f"source.{field}", source.getField(field))
                for column, field in zip(columns, self.log_fields, strict=True)
            ),
        )

    def operation_rank(self, op: Column) -> Column:
        """0 for a delete, 1 for the others.

        A deferred update is a delete and a create of one key at one position; the create must win.

        >>> position = SqlServerPosition(orders.connector)
        >>> evaluate(position.operation_rank(F.lit("d"))), evaluate(position.operation_rank(F.lit("c")))
        (0, 1)
        """
        return F.when(op == names.DELETE, 0).otherwise(1)

    def is_streamed(self) -> Column:
        """True for a change that has a ``change_lsn``."""
        return F.col(_CHANGE_LSN) != _LOWEST_LSN


def lsn(text: Column) -> Column:
    """A log sequence number in fixed width and lower case, so that it sorts as text.

    An absent one becomes the lowest, a malformed one null.

    >>> evaluate(lsn(F.lit("0000002A:00000160:0005")))
    '0000002a:00000160:0005'
    >>> evaluate(lsn(F.lit("NULL"))), evaluate(lsn(F.lit("2a:160")))
    ('00000000:00000000:0000', None)
    """
    plain = F.lower(F.trim(text))
    return F.when(is_absent(text), _LOWEST_LSN).when(plain.rlike(_LSN), plain)


def is_absent(text: Column) -> Column:
    """True for null and for the texts that stand for it.

    >>> evaluate(is_absent(F.lit("NULL"))), evaluate(is_absent(F.lit("0000002a:00000160:0005")))
    (True, False)
    """
    return text.isNull() | F.lower(F.trim(text)).isin(*_ABSENT)


def serial_number(text: Column) -> Column:
    """``event_serial_no`` as a number; absent becomes 0, below the first, and malformed null.

    >>> evaluate(serial_number(F.lit("2"))), evaluate(serial_number(F.lit(""))), evaluate(serial_number(F.lit("x")))
    (2, 0, None)
    """
    return F.when(is_absent(text), F.lit(0).cast("bigint")).otherwise(text.try_cast("bigint"))
