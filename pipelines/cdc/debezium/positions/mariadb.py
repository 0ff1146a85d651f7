"""MariaDB's position."""

from cdc.debezium.positions.binlog import BinlogPosition


class MariaDbPosition(BinlogPosition):
    """Position in the binary log; a GTID is ``domain-server-number``."""
