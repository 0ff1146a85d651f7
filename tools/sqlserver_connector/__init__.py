"""Records from Debezium's real SQL Server connector, without a SQL Server.

A fake JDBC driver (``src/``) answers the connector's statements from a scripted history; everything downstream of it
is Debezium's code. README.md explains the scenarios.

Realistic: envelope, encodings, keys, headers, tombstones, snapshots and incremental snapshots, order of emission,
restarts. Not covered: which rows a real SQL Server would log.
"""

from tools.debezium_connector.emitted import Emitted
from tools.debezium_connector.placing import placed
from tools.debezium_connector.repeatable import repeatable
from tools.sqlserver_connector.connector import ConnectorFailed, emitted

__all__ = ["ConnectorFailed", "Emitted", "emitted", "placed", "repeatable"]
