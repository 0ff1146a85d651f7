"""Records from Debezium's real Db2 connector, without a Db2; README.md says what is real in them."""

from tools.db2_connector.connector import VERSIONS, Version, connector
from tools.db2_connector.server import Server

__all__ = ["VERSIONS", "Server", "Version", "connector"]
