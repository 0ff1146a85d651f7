"""Database servers for the connectors: MariaDB as Debian installs it, and MySQL 5.5.9 from Maven.

with MariaDb() as server:
    server.sql("create database shop")
"""

import shutil
import socket
import subprocess
import tempfile
import time
import zipfile
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import ClassVar, Self

from dlt_local.spark.jars import jars
from tools.binlog_connector.greeting import Completed

USER, PASSWORD = "dbz", "dbz"
_ACCOUNT = "mysql"
"""The servers refuse to run as root; Debian's package has made this account."""
_START_SECONDS = 30.0
_STOP_SECONDS = 20.0
_IN_JAR = "5-5-9"


class ServerFailed(Exception):
    """A server could not be started, or refused a statement."""


class Server(ABC):
    """A server on a free loopback port for the duration of a ``with`` block, with a binary log of rows."""

    charset: ClassVar[str]
    """Of the client."""
    title: ClassVar[str]

    def __init__(self, server_id: int = 101, settings: Mapping[str, str] | None = None) -> None:
        """A server that is not started.

        Args:
            server_id: as in the position of its changes.
            settings: options of the server, without the dashes.
        """
        self.server_id = server_id
        self.port = 0
        self.folder = Path()
        self._settings = settings or {}
        self._process: subprocess.Popen[bytes] | None = None

    @abstractmethod
    def prepare(self) -> list[str]:
        """Make the data folder; returns the server's program and its own options."""

    @abstractmethod
    def users(self) -> str:
        """SQL that makes the connector's user."""

    def __enter__(self) -> Self:
        """Start.

        Raises:
            ServerFailed: it does not.
        """
        self.folder = Path(tempfile.mkdtemp(prefix="binlog-server-"))
        try:
            self.folder.chmod(0o755)
            (self.folder / "data").mkdir()
            command = self.prepare()
            shutil.chown(self.folder / "data", _ACCOUNT)
            for each in (self.folder / "data").rglob("*"):
                shutil.chown(each, _ACCOUNT)
            self.port = _free_port()
            self.start(command)
            self.sql(self.users())
        except BaseException:
            self._leave()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop, and remove the data."""
        self._leave()

    def start(self, command: list[str]) -> None:
        """Run the server until it answers."""
        options = {
            "user": _ACCOUNT,
            "datadir": str(self.folder / "data"),
            "socket": str(self._socket),
            "pid-file": str(self.folder / "data" / "pid"),
            "port": str(self.port),
            "bind-address": "127.0.0.1",
            "server-id": str(self.server_id),
            "log-bin": "binlog",
            "binlog-format": "ROW",
            "default-time-zone": "+00:00",
            "innodb-buffer-pool-size": "32M",
            "innodb-flush-log-at-trx-commit": "2",
            **self._settings,
        }
        log = self.folder / "log"
        with log.open("ab") as errors:
            self._process = subprocess.Popen(
                [command[0], "--no-defaults", *command[1:], *(f"--{name}={value}" for name, value in options.items())],
                stdout=errors,
                stderr=errors,
            )
        deadline = time.monotonic() + _START_SECONDS
        while self._client("select 1").returncode:
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise ServerFailed(log.read_text(encoding="utf-8", errors="replace")[-3000:])
            time.sleep(0.1)

    def sql(self, text: str, database: str = "") -> list[list[str]]:
        """Run statements; returns the rows of all of them, with ``NULL`` for null.

        Raises:
            ServerFailed: one was refused.
        """
        run = self._client(text, database)
        if run.returncode:
            raise ServerFailed(f"{run.stderr.decode()}\n{text[:2000]}")
        return [line.split("\t") for line in run.stdout.decode().splitlines()]

    @property
    def _socket(self) -> Path:
        return self.folder / "data" / "socket"

    def _client(self, text: str, database: str = "") -> subprocess.CompletedProcess[bytes]:
        command = ["mariadb", "--no-defaults", f"--default-character-set={self.charset}", f"--socket={self._socket}"]
        options = ["--user=root", "--batch", "--raw", "--skip-column-names", *([database] if database else [])]
        return subprocess.run([*command, *options], input=text.encode(), capture_output=True, check=False)

    def _leave(self) -> None:
        if self._process is not None:
            self._process.terminate()
            try:
                self._process.wait(_STOP_SECONDS)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


class MariaDb(Server):
    """Debian's MariaDB (``apt-get install --no-install-recommends mariadb-server``)."""

    charset = "utf8mb4"
    title = "MariaDB"

    def prepare(self) -> list[str]:
        """Make the data folder."""
        command = ["mariadb-install-db", "--no-defaults", f"--user={_ACCOUNT}", f"--datadir={self.folder / 'data'}"]
        options = ["--auth-root-authentication-method=normal", "--skip-test-db"]
        run = subprocess.run([*command, *options], capture_output=True, text=True, check=False)
        if run.returncode:
            raise ServerFailed(run.stdout + run.stderr)
        return ["mariadbd", "--character-set-server=utf8mb4"]

    def users(self) -> str:
        """The connector's user."""
        hosts = ("127.0.0.1", "localhost")
        return "".join(
            f"create user {USER}@'{host}' identified by '{PASSWORD}'; grant all on *.* to {USER}@'{host}';"
            for host in hosts
        )


class MySql(Server):
    """MySQL 5.5.9: no fractions of seconds, no json, no generated columns, no GTIDs.

    Connectors reach it through a proxy, which completes its greeting.
    """

    charset = "utf8mb4"
    title = "MySQL"

    def prepare(self) -> list[str]:
        """Unpack the server and its empty data folder."""
        (archive,) = jars("mysql-server")
        with zipfile.ZipFile(archive) as outer:
            for name in ("data_dir.jar", "share_dir.jar", "Linux-x86_64/mysqld"):
                outer.extract(f"{_IN_JAR}/{name}", self.folder)
        unpacked = self.folder / _IN_JAR
        for name, target in (("data_dir.jar", self.folder / "data"), ("share_dir.jar", self.folder / "share")):
            with zipfile.ZipFile(unpacked / name) as inner:
                inner.extractall(target)
        program = unpacked / "Linux-x86_64" / "mysqld"
        program.chmod(0o755)
        share = next((self.folder / "share").rglob("english/errmsg.sys")).parents[1]
        return [
            str(program),
            f"--lc-messages-dir={share}",
            f"--character-sets-dir={share / 'charsets'}",
            "--innodb_use_native_aio=0",
        ]

    def users(self) -> str:
        """The connector's user."""
        hosts = ("127.0.0.1", "localhost")
        return "".join(f"grant all on *.* to {USER}@'{host}' identified by '{PASSWORD}';" for host in hosts)

    def __enter__(self) -> Self:
        """Start the server, and the proxy on a port of its own."""
        super().__enter__()
        self._proxy = Completed(self.port)
        self.port = self._proxy.port
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop both."""
        self._proxy.close()
        super().__exit__(kind, error, trace)


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
    return port
