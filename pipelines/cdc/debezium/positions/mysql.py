"""MySQL's position."""

from cdc.debezium.positions.binlog import BinlogPosition


class MySqlPosition(BinlogPosition):
    """Position in the binary log; a GTID is ``server_uuid:number``."""
