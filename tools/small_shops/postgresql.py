"""The shop in PostgreSQL."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tools.debezium_connector import Worker, worker
from tools.postgresql_connector.server import Server, server
from tools.postgresql_connector.types import CONNECTOR
from tools.small_shops.database import PREFIX, SqlDatabase


class PostgreSql(SqlDatabase):
    """A database of the server that Debian has."""

    kind = "postgresql"

    def __init__(self, running: Server, jvm: Worker, folder: Path) -> None:
        self._server = running
        running.run("CREATE DATABASE shop")
        self.create()
        properties = {**running.properties("shop", PREFIX), "table.include.list": "public.customers,public.orders"}
        self.connector = jvm.connector(CONNECTOR, properties, folder / "offsets")

    def run(self, sql: str) -> None:
        """Run statements."""
        self._server.run(sql, "shop")

    def text_of_list(self, values: Sequence[str]) -> str:
        """An array."""
        return f"{{{','.join(values)}}}"


@contextmanager
def opened(folder: Path) -> Iterator[PostgreSql]:
    """The shop's database on a server of its own."""
    with server() as running, worker("postgresql-3.6") as jvm:
        yield PostgreSql(running, jvm, folder)
