"""Position in a binary log: file number, position in the file, row of the event; MariaDB's and MySQL's.

Together they order all changes of one server, inside a transaction too. An event with several rows has one position
and counts them. An update that changes the key is a delete and a create of one row of one event. The reads of an
initial snapshot have the log's end at its start, before the position of every later change; those of an incremental
one that of the event before which the connector writes them.

Positions of two servers cannot be compared: their logs have other files. So the server and the GTID are columns of a
change, and after a failover the incarnation has to grow.
"""

from collections.abc import Mapping

from pyspark.sql import Column
from pyspark.sql import functions as F

from cdc import names
from cdc.debezium.positions.position import Finding, Position, unreadable

_FILE, _POS, _ROW = "_binlog_file", "_binlog_pos", "_binlog_row"
_SERVER, _GTID = "_server_id", "_gtid"
_FILE_NUMBER = r"\.(\d{1,18})$"
_RANKS = {names.READ: 0, names.DELETE: 1}
"""Of operations at one position; the others come last."""


class BinlogPosition(Position):
    """Position by file number, position and row."""

    log_fields = ("file", "pos", "row", "server_id", "gtid")
    event_fields = ("file", "pos", "server_id", "gtid")
    transaction = _FILE
    change = (_POS, _ROW)
    log_is_exact = True
    same_delivery = (names.OP, _SERVER, _GTID)
    tie = Finding("tie", "changes of one key at one position, ordered only by their operation")
    inversion = Finding(
        "inversion",
        "changes of one key that arrived in another order than that of their positions in one binary log file; if"
        " their `_server_id` differs, the server was replaced: set `restored_at` to that moment",
    )
    backwards = Finding(
        "log_backwards",
        "changes in a binary log file with a lower number than a file that had been read before: another server, or a"
        " log that was reset; set `restored_at` to the moment from which its records came",
    )

    @property
    def columns(self) -> tuple[str, ...]:
        """The flat columns of a change that hold its position, and whose log it is in."""
        return (*super().columns, _SERVER, _GTID)

    def log_values(self, source: Column) -> Mapping[str, Column]:
        """The log columns by name."""
        return {
            _FILE: file_number(source.getField("file")),
            _POS: source.getField("pos").try_cast("bigint"),
            _ROW: source.getField("row").try_cast("bigint"),
            _SERVER: source.getField("server_id").try_cast("bigint"),
            _GTID: source.getField("gtid"),
        }

    def log_fault(self, source: Column) -> Column:
        """Why there is no position."""
        fields = {_FILE: "file", _POS: "pos", _ROW: "row"}
        texts = {column: source.getField(field) for column, field in fields.items()}
        return F.coalesce(*(unreadable(column, f"source.{fields[column]}", text) for column, text in texts.items()))

    def operation_rank(self, op: Column) -> Column:
        """0 for a read, 1 for a delete, 2 for the others.

        An update that changes the key is a delete and a create at one position, whose keys may be equal to the
        database's collation; the create must win. A read of an incremental snapshot is written before the event whose
        position it has.

        >>> evaluate(F.array(*(BinlogPosition(orders.connector).operation_rank(F.lit(op)) for op in "rdcu")))
        [0, 1, 2, 2]
        """
        cases = F.when(op.isNull(), F.lit(None).cast("int"))
        for operation, rank in _RANKS.items():
            cases = cases.when(op == operation, rank)
        return cases.otherwise(2)

    def is_streamed(self) -> Column:
        """True for a change of a server's log: the reads of a snapshot are of no server."""
        return F.col(_SERVER) > 0


def file_number(file: Column) -> Column:
    """The number at the end of a binary log file's name; null for other names.

    >>> evaluate(file_number(F.lit("mysql-bin.000042"))), evaluate(file_number(F.lit("binlog.1000000")))
    (42, 1000000)
    >>> evaluate(file_number(F.lit("binlog"))), evaluate(file_number(F.lit("binlog.00001x")))
    (None, None)
    """
    return F.when(file.rlike(_FILE_NUMBER), F.regexp_extract(file, _FILE_NUMBER, 1).try_cast("bigint"))
