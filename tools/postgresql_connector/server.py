"""A PostgreSQL server of our own: a new cluster in a temporary folder, with logical decoding."""

import json
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_BINARIES = Path("/usr/lib/postgresql")
_USER = "postgres"
_DONE = "statement done"


class NoServer(Exception):
    """PostgreSQL is not installed."""

    @classmethod
    def from_absence(cls) -> "NoServer":
        """Says how to install it."""
        return cls(f"{_BINARIES} has no server; fix: apt-get install postgresql postgresql-15-postgis-3")


class StatementFailed(Exception):
    """The server refused a statement."""


@dataclass(frozen=True)
class Session:
    """An open session."""

    psql: "subprocess.Popen[str]"

    def run(self, sql: str) -> list[str]:
        """Run statements; returns the lines of psql's plain output when they are done.

        Raises:
            StatementFailed: one failed.
        """
        assert self.psql.stdin is not None
        assert self.psql.stdout is not None
        self.psql.stdin.write(f"{sql}\n\\echo {_DONE}\n")
        self.psql.stdin.flush()
        said = []
        for line in self.psql.stdout:
            if line.strip() == _DONE:
                return said
            said.append(line.rstrip("\n"))
        raise StatementFailed("\n".join((sql, *said)))


@dataclass(frozen=True)
class Server:
    """A running server."""

    port: int
    binaries: Path

    def run(self, sql: str, database: str = "postgres") -> str:
        """Run statements, each one a transaction of its own unless they say otherwise; returns psql's plain output.

        Raises:
            StatementFailed: the first one that the server refuses.
        """
        command: list[str | Path] = [
            self.binaries / "psql",
            "-h",
            "127.0.0.1",
            "-p",
            str(self.port),
            "-U",
            _USER,
            "-d",
            database,
        ]
        options = ["-XqAt", "-v", "ON_ERROR_STOP=1", "-f", "-"]
        run = subprocess.run([*command, *options], input=sql, capture_output=True, text=True, check=False)
        if run.returncode:
            raise StatementFailed(run.stderr)
        return run.stdout

    @contextmanager
    def session(self, database: str) -> Iterator["Session"]:
        """A session that stays open, for transactions that run at the same time as others."""
        command: list[str | Path] = [self.binaries / "psql", "-h", "127.0.0.1", "-p", str(self.port), "-U", _USER]
        with subprocess.Popen(
            [*command, "-d", database, "-XqAt", "-v", "ON_ERROR_STOP=1"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        ) as psql:
            yield Session(psql)
            psql.communicate()

    def rows(self, table: str, database: str, *, arrays_are_lists: bool = True) -> list[dict[str, Any]]:
        """A table's rows as the server writes their values in text, by its first column.

        Arrays are lists of their elements' texts, or texts like other values.
        """
        columns = self.run(
            "SELECT attname, format_type(atttypid, NULL) LIKE '%[]' FROM pg_attribute"
            f" WHERE attrelid = '{table}'::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum",
            database,
        )
        names = [tuple(line.split("|")) for line in columns.splitlines()]
        lists = {name for name, is_array in names if is_array == "t" and arrays_are_lists}
        texts = [f'array_to_json("{n}"::text[]) AS "{n}"' if n in lists else f'"{n}"::text' for n, _ in names]
        lines = self.run(
            f"SET extra_float_digits = 1; SELECT row_to_json(r) FROM (SELECT {', '.join(texts)} FROM {table}"
            f' ORDER BY {table}."{names[0][0]}") r',
            database,
        )
        return [json.loads(line) for line in lines.splitlines()]

    def properties(self, database: str, prefix: str) -> dict[str, str]:
        """The properties by which a connector of any version reaches a database."""
        return {
            "database.hostname": "127.0.0.1",
            "database.port": str(self.port),
            "database.user": _USER,
            "database.password": "none",
            "database.dbname": database,
            "topic.prefix": prefix,
            "database.server.name": prefix,
            "plugin.name": "pgoutput",
        }


@contextmanager
def server() -> Iterator[Server]:
    """A server with an empty cluster, stopped at exit.

    Raises:
        NoServer: PostgreSQL is not installed.
    """
    versions = sorted(_BINARIES.glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    if not versions:
        raise NoServer.from_absence()
    binaries = versions[-1].parent
    folder = Path(tempfile.mkdtemp(prefix="postgresql-", dir="/tmp"))
    _own(folder)
    data = folder / "data"
    port = _free_port()
    settings = {
        "port": port,
        "listen_addresses": "127.0.0.1",
        "unix_socket_directories": folder,
        "wal_level": "logical",
        "fsync": "off",
        "shared_buffers": "32MB",
        "max_replication_slots": 40,
        "max_wal_senders": 40,
        "timezone": "UTC",
    }
    try:
        _as_owner([binaries / "initdb", "-D", data, "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "-N"], folder)
        with (data / "postgresql.auto.conf").open("a") as file:
            file.writelines(f"{name} = '{value}'\n" for name, value in settings.items())
        _as_owner([binaries / "pg_ctl", "-D", data, "-l", folder / "log", "-w", "start"], folder)
        try:
            yield Server(port, binaries)
        finally:
            _as_owner([binaries / "pg_ctl", "-D", data, "-m", "immediate", "-w", "stop"], folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _own(folder: Path) -> None:
    """PostgreSQL refuses to run as root."""
    if os.geteuid() == 0:
        owner = pwd.getpwnam(_USER)
        os.chown(folder, owner.pw_uid, owner.pw_gid)


def _as_owner(command: list[str | Path], folder: Path) -> None:
    user = _USER if os.geteuid() == 0 else None
    run = subprocess.run(command, user=user, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
    if run.returncode:
        raise StatementFailed(run.stderr.decode())


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
