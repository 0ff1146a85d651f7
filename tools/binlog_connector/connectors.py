"""The connectors of MariaDB and MySQL, by version, and their configuration for a server."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tools.binlog_connector.servers import PASSWORD, USER, MariaDb, MySql, Server
from tools.captures import Record
from tools.debezium_connector import Connector, Worker

_MYSQL = "io.debezium.connector.mysql.MySqlConnector"
_CONVERTER = "converters.TinyIntOneToBooleanConverter"


@dataclass(frozen=True)
class Version:
    """One version of a connector."""

    kind: str
    """As in ``source.connector``."""
    number: str
    configuration: str
    """In ivy.xml."""
    connector_class: str
    converter: str
    """The class that makes booleans of tinyint(1)."""

    @property
    def is_new(self) -> bool:
        """True from 3.0 on."""
        return self.number.startswith("3.")


MARIADB = Version(
    "mariadb",
    "3.5.0.Final",
    "mariadb-3.5",
    "io.debezium.connector.mariadb.MariaDbConnector",
    f"io.debezium.connector.binlog.{_CONVERTER}",
)
MYSQL = tuple(
    Version("mysql", f"{number}.Final", f"mysql-{number[:3]}", _MYSQL, f"io.debezium.connector.{package}.{_CONVERTER}")
    for number, package in (("1.4.2", "mysql"), ("1.9.7", "mysql"), ("2.5.4", "mysql"), ("3.6.1", "binlog"))
)
VERSIONS = (MARIADB, *MYSQL)
SERVERS: Mapping[str, type[Server]] = {"mariadb": MariaDb, "mysql": MySql}


def connector(
    jvm: Worker, version: Version, server: Server, folder: Path, properties: Mapping[str, str], prefix: str
) -> Connector:
    """A connector for the database `shop` of a server, not yet started."""
    folder.mkdir(parents=True, exist_ok=True)
    every = {
        "topic.prefix": prefix,
        "database.server.name": prefix,
        "database.hostname": "127.0.0.1",
        "database.port": str(server.port),
        "database.user": USER,
        "database.password": PASSWORD,
        "database.server.id": "9911",
        "database.include.list": "shop",
        "database.ssl.mode": "disable" if version.kind == "mariadb" else "disabled",
        "include.schema.changes": "true",
        "converter.replace.null.with.default": "false",
        **properties,
    }
    return jvm.connector(version.connector_class, every, folder / "offsets", folder / "history")


def is_last_read(record: Record) -> bool:
    """True for the last read of a snapshot."""
    value = record.value or b""
    return b'"snapshot":"last"' in value
