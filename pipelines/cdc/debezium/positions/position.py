"""The interface of a source position: what decoding, findings and gold ask of a connector kind."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import ClassVar

from pyspark.sql import Column
from pyspark.sql import functions as F

from cdc import names
from cdc.debezium.rejects import quoted
from cdc.debezium.values.temporal import instant_of_millis
from cdc.spec.model import ConnectorSpec

SNAPSHOT_FIELD = "snapshot"
"""Field of every connector's ``source``: whether the change is a read of a snapshot, and of which."""
COMMIT_TIME_FIELD = "ts_ms"
"""Field of every connector's ``source``: when the change was committed, in milliseconds since 1970-01-01 UTC."""
_AFTER_ALL_EVENTS = 2**63 - 1


@dataclass(frozen=True)
class Finding:
    """A kind of anomaly in the changes of a table, as ``gold.<connector>_findings`` has it."""

    name: str
    meaning: str


@dataclass(frozen=True)
class Position(ABC):
    """The positions of one connector's changes; a pure function of the event, so a redelivery changes nothing.

    A position is a set of flat columns: `incarnation`, those of the source's log, then the rank of the operation and
    the commit time. A subclass says which columns the log has and how they are read.
    """

    connector: ConnectorSpec

    log_fields: ClassVar[tuple[str, ...]]
    """Fields of the envelope's ``source``, read as text, that make the position in the log."""
    event_fields: ClassVar[tuple[str, ...]]
    """Those of them that a connector's own events, such as schema changes, have too."""
    transaction: ClassVar[str]
    """The log column that orders transactions."""
    change: ClassVar[tuple[str, ...]]
    """The log columns that order the changes of one transaction."""
    tie: ClassVar[Finding]
    """Changes of one key at one position in the log."""
    inversion: ClassVar[Finding]
    """Changes of one key and transaction that arrive in another order than the log's."""
    backwards: ClassVar[Finding]
    """Changes of an earlier transaction than one that has arrived before."""
    log_is_exact: ClassVar[bool] = False
    """True if the log orders the changes of a transaction as the server made them, so that the connector's count of
    them is not needed."""
    same_delivery: ClassVar[tuple[str, ...]] = ()
    """The columns in which a change that is delivered again is equal to its first delivery, beside its place in the
    log. Empty where positions can fall for other reasons too: else a change below an earlier one of its topic's
    partition, other than a read of an incremental snapshot, is of another log if it was not delivered before."""

    @abstractmethod
    def log_values(self, source: Column) -> Mapping[str, Column]:
        """The log columns by name: the lowest value for an absent part, null for an unreadable one."""

    @abstractmethod
    def log_fault(self, source: Column) -> Column:
        """Why there is no position in the log, from ``source`` and the frame's log columns; null if there is one."""

    @abstractmethod
    def operation_rank(self, op: Column) -> Column:
        """What orders the operations at one position in the log."""

    @abstractmethod
    def is_streamed(self) -> Column:
        """True for a change read from the log, by the frame's log columns; the reads of a snapshot share a position."""

    @property
    def source_fields(self) -> tuple[str, ...]:
        """Fields of the envelope's ``source``, read as text, that `values` and `fault` need."""
        return (*self.log_fields, COMMIT_TIME_FIELD)

    @property
    def log_order(self) -> tuple[str, ...]:
        """The columns that identify a position in the log, in the order in which they decide."""
        return (names.INCARNATION, self.transaction, *self.change)

    @property
    def columns(self) -> tuple[str, ...]:
        """The flat columns of a change that hold its position."""
        total_order = (names.TOTAL_ORDER,) if self._reads_count else ()
        return (*self.log_order, names.OPERATION, names.COMMITTED_AT, *total_order)

    @property
    def sequence(self) -> tuple[str, ...]:
        """The columns of the sequence, in the order in which they decide.

        Inside a transaction the connector's count comes before the log's order, which is not always that in which the
        server made the changes; the spec may choose the count or the order of arrival alone. With ``auto`` a change
        without a count has 0 there, so the log's order decides: the type of the sequence is the same for all records.
        """
        within = {
            "auto": (*((names.TOTAL_ORDER,) if self._reads_count else ()), *self.change),
            "lsn": self.change,
            "log": self.change,
            "total_order": (names.TOTAL_ORDER,),
            "arrival": (names.OFFSET,),
        }
        change = within[self.connector.within_transaction]
        return (names.INCARNATION, self.transaction, *change, names.OPERATION, names.COMMITTED_AT)

    def values(self, source: Column, op: Column, total_order: Column) -> Mapping[str, Column]:
        """The position's columns by name, from ``source``, the operation and the connector's count.

        The frame has the record's timestamp as ``_recorded_at``.
        """
        counted = {names.TOTAL_ORDER: self._transaction_order(total_order, source)} if self._reads_count else {}
        return {
            **counted,
            names.INCARNATION: self._incarnation(),
            **self.log_values(source),
            names.OPERATION: self.operation_rank(op),
            names.COMMITTED_AT: instant_of_millis(source.getField(COMMIT_TIME_FIELD)),
        }

    def fault(self, source: Column, total_order: Column) -> Column:
        """Why a record has no position, in a frame that has the columns of `values`; null if it has one."""
        counted = (unreadable(names.TOTAL_ORDER, "transaction.total_order", total_order),) if self._reads_count else ()
        commit_time = source.getField(COMMIT_TIME_FIELD)
        return F.coalesce(
            self.log_fault(source),
            unreadable(names.COMMITTED_AT, f"source.{COMMIT_TIME_FIELD}", commit_time),
            *counted,
        )

    def _incarnation(self) -> Column:
        """By the record's timestamp, so that a rebuild, which decodes it again, gives it the same one."""
        recorded, first = F.col(names.RECORDED_AT), F.lit(self.connector.incarnation)
        restores = (F.when(recorded >= F.lit(moment), 1).otherwise(0) for moment in self.connector.restored_at)
        return reduce(add, restores, first)

    @property
    def _reads_count(self) -> bool:
        within = self.connector.within_transaction
        return within == "total_order" or (within == "auto" and not self.log_is_exact)

    def _transaction_order(self, count: Column, source: Column) -> Column:
        counted = transaction_order(count, source)
        if self.connector.within_transaction == "total_order":
            return counted
        # Only an absent count is 0; one that cannot be read stays null, and its record is rejected.
        return F.coalesce(counted, F.when(count.isNull(), 0))


def unreadable(column: str, field: str, text: Column) -> Column:
    """The fault of a field whose column is null: the text could not be read; null if the column has a value."""
    return F.when(F.col(column).isNull(), F.concat(F.lit(f"{field} is "), quoted(text)))


def transaction_order(count: Column, source: Column) -> Column:
    """Position in the transaction, as a number; null where the connector did not count.

    Reads of a snapshot are not in a transaction. Those of the initial one sort first; those of an incremental one,
    which have the log position of the last event before them, sort last.

    >>> evaluate(transaction_order(F.lit("3"), F.struct(F.lit("false").alias("snapshot"))))
    3
    >>> evaluate(transaction_order(F.lit(None).cast("string"), F.struct(F.lit("first").alias("snapshot"))))
    0
    """
    snapshot = F.lower(source.getField(SNAPSHOT_FIELD))
    is_initial = F.coalesce(snapshot, F.lit("false")) != "false"
    of_read = F.when(snapshot == "incremental", _AFTER_ALL_EVENTS).when(is_initial, 0)
    return F.coalesce(count.try_cast("bigint"), of_read)
