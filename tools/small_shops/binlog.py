"""The shop in MariaDB, and in MySQL."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from tools.binlog_connector.connectors import MARIADB, MYSQL, SERVERS, Version, connector
from tools.binlog_connector.servers import Server
from tools.debezium_connector import Worker, worker
from tools.small_shops.database import PREFIX, SqlDatabase


class Binlog(SqlDatabase):
    """A database of one of the servers that tools/binlog_connector runs."""

    def __init__(self, version: Version, running: Server, jvm: Worker, folder: Path) -> None:
        self._server = running
        running.sql(f"CREATE DATABASE shop DEFAULT CHARACTER SET {running.charset}")
        self.kind = version.kind
        self.create()
        self.connector = connector(jvm, version, running, folder, {}, PREFIX)

    def run(self, sql: str) -> None:
        """Run statements."""
        self._server.sql(sql, "shop")


def of(version: Version) -> Callable[[Path], AbstractContextManager[Binlog]]:
    """A function that opens the shop's database on a server of its own, under this version of the connector."""

    @contextmanager
    def opened(folder: Path) -> Iterator[Binlog]:
        with SERVERS[version.kind]() as running, worker(version.configuration) as jvm:
            yield Binlog(version, running, jvm, folder)

    return opened


MARIADB_SHOP, MYSQL_SHOP = of(MARIADB), of(MYSQL[-1])
