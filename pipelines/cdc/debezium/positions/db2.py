"""Db2's position: log sequence numbers of its own width, as SQL Replication writes them into its change tables.

``commit_lsn`` (IBMSNAP_COMMITSEQ) orders transactions, ``change_lsn`` (IBMSNAP_INTENTSEQ) the changes of a transaction,
in the order in which the server logged them. There is no number of the event within a change: a changed key is a delete
and a create of one position. Snapshot reads have no ``change_lsn`` and sort before every change of the same
``commit_lsn``.
"""

from collections.abc import Mapping

from pyspark.sql import Column
from pyspark.sql import functions as F

from cdc import names
from cdc.debezium.positions.position import Finding, Position, unreadable

_COMMIT_LSN, _CHANGE_LSN = "_commit_lsn", "_change_lsn"
_DIGITS = 32
_LOWEST_LSN = "0" * _DIGITS
_LSN = "^[0-9a-f]{8}:[0-9a-f]{8}:([0-9a-f]{2}){1,8}$"
_ABSENT = ("null", "")
_READ_WITHOUT_POSITION = (
    "source.commit_lsn is null; if the reads of this connector's snapshots have no position, write"
    " `reads_without_position: first` in the connector spec"
)


class Db2Position(Position):
    """Position by log sequence number (LSN)."""

    log_fields = ("commit_lsn", "change_lsn")
    event_fields = ("commit_lsn",)
    transaction = _COMMIT_LSN
    change = (_CHANGE_LSN,)
    log_is_exact = True
    tie = Finding("tie", "changes of one key at one position, ordered only by their operation: a delete and its insert")
    inversion = Finding(
        "inversion", "changes of one key in one transaction that arrived in another order than that of their LSNs"
    )
    backwards = Finding(
        "lsn_backwards",
        "changes with a lower commit LSN than a change that had arrived before; after a restore of the database set"
        " `restored_at`",
    )

    def log_values(self, source: Column) -> Mapping[str, Column]:
        """The log columns by name."""
        return {_COMMIT_LSN: lsn(source.getField("commit_lsn")), _CHANGE_LSN: lsn(source.getField("change_lsn"))}

    def log_fault(self, source: Column) -> Column:
        """Why there is no position; a change without ``commit_lsn`` has the lowest one as its column."""
        has_none, is_read = F.col(_COMMIT_LSN) == _LOWEST_LSN, F.col(names.OP) == names.READ
        of_read = None if self.connector.reads_without_position == "first" else _READ_WITHOUT_POSITION
        return F.coalesce(
            F.when(has_none & is_read, F.lit(of_read).cast("string")).when(has_none, "source.commit_lsn is null"),
            unreadable(_COMMIT_LSN, "source.commit_lsn", source.getField("commit_lsn")),
            unreadable(_CHANGE_LSN, "source.change_lsn", source.getField("change_lsn")),
        )

    def operation_rank(self, op: Column) -> Column:
        """0 for a delete, 1 for the others: a changed key is a delete and a create of one position.

        >>> position = Db2Position(orders.connector)
        >>> evaluate(position.operation_rank(F.lit("d"))), evaluate(position.operation_rank(F.lit("c")))
        (0, 1)
        """
        return F.when(op == names.DELETE, 0).otherwise(1)

    def is_streamed(self) -> Column:
        """True for a change that has a ``change_lsn``."""
        return F.col(_CHANGE_LSN) != _LOWEST_LSN


def lsn(text: Column) -> Column:
    """A log sequence number as 32 digits in lower case, so that it sorts as text, whatever the server's width.

    The connector writes the server's bytes, of which there are 16 since Db2 10 and 10 before, with two colons. An
    absent number becomes the lowest, a malformed one null.

    >>> evaluate(lsn(F.lit("00000000:00000000:0000000000045CF3")))
    '00000000000000000000000000045cf3'
    >>> evaluate(lsn(F.lit("00000027:00000758:0005"))), evaluate(lsn(F.lit("27:758:5")))
    ('00000000000000000027000007580005', None)
    """
    plain = F.lower(F.trim(text))
    digits = F.lpad(F.translate(plain, ":", ""), _DIGITS, "0")
    return F.when(text.isNull() | plain.isin(*_ABSENT), _LOWEST_LSN).when(plain.rlike(_LSN), digits)
