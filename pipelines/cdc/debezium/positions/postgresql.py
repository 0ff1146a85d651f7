"""PostgreSQL's position: a change's place in the log, or the commit before its transaction if that is later.

The server sends whole transactions in the order of their commits. ``source.lsn`` is a change's place in the log, where
transactions that ran at the same time are interleaved. Two of them cannot change one row at a time, so for the changes
of a row it is the order of their commits too. A read can come between: it has the place at which the snapshot was
taken, or at which the window of an incremental snapshot ended, and a transaction that began before and ended after it
has changes at earlier places that the read does not show. The first part of ``source.sequence``, the end of the last
commit before the change's own, is then later than the read.

Where the connector knows no commit, ``lsn`` alone decides: in connectors before 1.6, and in the first transaction
after a snapshot, so of that one a change before the snapshot's place sorts before the reads.
"""

from collections.abc import Mapping

from pyspark.sql import Column
from pyspark.sql import functions as F

from cdc import names
from cdc.debezium.positions.position import SNAPSHOT_FIELD, Finding, Position, unreadable
from cdc.debezium.rejects import quoted

_PLACE, _STREAMED, _LSN = "_log_place", "_streamed", "_lsn"
_SEQUENCE, _LSN_FIELD = "sequence", "lsn"
_FORM = r'^\s*\[\s*(null|"?\d{1,19}"?)\s*,\s*("?\d{1,19}"?)\s*\]\s*$'
"""``["24023128","24023200"]``; the first part is null until the connector has seen a commit."""


class PostgreSqlPosition(Position):
    """Position by log sequence number (LSN), as whole numbers of bytes."""

    log_fields = (_SEQUENCE, _LSN_FIELD)
    event_fields = (_LSN_FIELD,)
    transaction = _PLACE
    change = (_STREAMED, _LSN)
    log_is_exact = True
    tie = Finding("tie", "changes of one key at one position, ordered only by their operation")
    inversion = Finding(
        "inversion",
        "changes of one key at one place that arrived in another order than that of their LSNs; the records of two"
        " connectors, or of two partitions, were mixed",
    )
    backwards = Finding(
        "lsn_backwards",
        "changes at an earlier place in the log than a change that had arrived before; after a restore or a failover to"
        " a server with another log set `restored_at`",
    )

    def log_values(self, source: Column) -> Mapping[str, Column]:
        """The log columns by name."""
        snapshot = F.lower(source.getField(SNAPSHOT_FIELD))
        is_streamed = F.coalesce(snapshot, F.lit("false")).isin("false", "incremental")
        sequence = source.getField(_SEQUENCE)
        lsn = F.coalesce(_number(source.getField(_LSN_FIELD)), sequence_lsn(sequence))
        return {
            _PLACE: place(sequence, lsn),
            _STREAMED: F.when(is_streamed, 1).otherwise(0),
            _LSN: lsn,
        }

    def log_fault(self, source: Column) -> Column:
        """Why there is no position."""
        lsn, sequence = source.getField(_LSN_FIELD), source.getField(_SEQUENCE)
        is_malformed = lsn.isNotNull() & _number(lsn).isNull()
        # Only flattened records can lack it: they have the fields of `source` that the transformation is told to add.
        is_unmarked = (F.col(names.OP) == names.READ) & source.getField(SNAPSHOT_FIELD).isNull()
        return F.coalesce(
            F.when(is_malformed, F.concat(F.lit("source.lsn is "), quoted(lsn))),
            F.when(F.col(_LSN).isNull() & sequence.isNull(), "source.lsn is null"),
            unreadable(_PLACE, f"source.{_SEQUENCE}", sequence),
            F.when(is_unmarked, f"source.{SNAPSHOT_FIELD} is null"),
        )

    def operation_rank(self, op: Column) -> Column:
        """0 for a delete, 1 for the others: a change of the key is a delete and a create at one position."""
        return F.when(op == names.DELETE, 0).otherwise(1)

    def is_streamed(self) -> Column:
        """True for a change that is not a read of the first snapshot."""
        return F.col(_STREAMED) == 1


def place(sequence: Column, lsn: Column) -> Column:
    """The later one of the last commit before the change and its own place; null for a malformed text.

    >>> lsn = F.lit(24023200).cast("bigint")
    >>> [evaluate(place(F.lit(text), lsn)) for text in ('["24023128","24023200"]', '["24023500","24023200"]')]
    [24023200, 24023500]
    >>> [evaluate(place(F.lit(text).cast("string"), lsn)) for text in ('[null,"24023200"]', None, "none")]
    [24023200, 24023200, None]
    """
    first = F.regexp_extract(sequence, _FORM, 1)
    commit = F.when(first == "null", lsn).otherwise(_number(F.replace(first, F.lit('"'))))
    # Not `greatest` of a null: it would pass over it.
    latest = F.when(commit.isNotNull(), F.greatest(commit, lsn))
    return F.when(sequence.isNull(), lsn).otherwise(latest)


def sequence_lsn(sequence: Column) -> Column:
    """The change's own place, which reads of incremental snapshots have nowhere else.

    >>> evaluate(sequence_lsn(F.lit('["24023128","24023200"]'))), evaluate(sequence_lsn(F.lit("none")))
    (24023200, None)
    """
    return _number(F.replace(F.regexp_extract(sequence, _FORM, 2), F.lit('"')))


def _number(text: Column) -> Column:
    """A log sequence number; null for a text that is none."""
    return F.when(text.rlike(r"^\d{1,19}$"), text.try_cast("bigint"))
