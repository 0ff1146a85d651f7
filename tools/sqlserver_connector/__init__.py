"""Records from Debezium's real SQL Server connector, with no SQL Server at hand.

A stand-in for the JDBC driver (``src/``) answers the connector's statements from a scripted history;
everything downstream of it is Debezium's own code. README.md explains the scenarios.

What this shows: envelope, encodings, keys, headers, tombstones, snapshots and incremental snapshots, order of
emission, what a restart does. What it cannot show: that a real SQL Server would log just these rows.
"""

from tools.sqlserver_connector.connector import ConnectorFailed, Emitted, emitted
from tools.sqlserver_connector.placing import placed
from tools.sqlserver_connector.repeatable import repeatable

__all__ = ["ConnectorFailed", "Emitted", "emitted", "placed", "repeatable"]
