"""A scripted primary of a MongoDB replica set: it speaks MongoDB's protocol and logs the changes that it is told."""

import json
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, NotRequired, TypedDict

from dlt_local.spark.jars import java
from tools.debezium_connector.classes import classpath

_SOURCES = Path(__file__).with_name("src")
_CLASS = "io.debezium.connector.mongodb.MongoDbConnector"
VERSIONS = {"3.6.1.Final": "mongodb-3.6", "2.5.4.Final": "mongodb-2.5", "1.4.2.Final": "mongodb-1.4"}
"""Debezium's versions -> their configurations of ivy.xml."""


class Description(TypedDict):
    """An update as a change stream describes it: paths that it set, removed, and of arrays that it shortened."""

    updatedFields: Mapping[str, Any]
    removedFields: Sequence[str]
    truncatedArrays: Sequence[Mapping[str, Any]]


class Change(TypedDict):
    """One change of a document; all values are extended JSON."""

    op: Literal["insert", "update", "replace", "delete"]
    ns: str
    """Database and collection: ``shop.orders``."""
    id: Any
    document: NotRequired[Mapping[str, Any]]
    """The document after the change; none after a delete."""
    description: NotRequired[Description]
    """Of an update."""


class Primary:
    """The running server."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        """Use `primary`."""
        self._process = process
        self.address = self._read()

    def properties(self, prefix: str) -> dict[str, str]:
        """What a connector of any version needs to read its changes."""
        return {
            "topic.prefix": prefix,
            "mongodb.connection.string": f"mongodb://{self.address}/?replicaSet=rs0",
            "mongodb.connection.mode": "sharded",
            # Before 2.0.
            "mongodb.name": prefix,
            "mongodb.hosts": f"rs0/{self.address}",
        }

    def clock(self, moment: str) -> None:
        """Set its clock: ``2026-03-01T12:00:00.250Z``."""
        self._play({"clock": moment})

    def wall_time(self, present: bool) -> None:
        """Whether events have their `wallTime`, as those of servers from 6.0 on."""
        self._play({"wall_time": present})

    def seed(self, namespace: str, documents: Iterable[Mapping[str, Any]]) -> None:
        """Documents that are there before anything is logged."""
        self._play({"seed": namespace, "documents": list(documents)})

    def change(self, *changes: Change) -> None:
        """Changes that are committed one by one."""
        self._play({"changes": changes})

    def transact(self, *changes: Change) -> None:
        """Changes of one transaction."""
        self._play({"transaction": changes})

    def _play(self, step: Mapping[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(step, ensure_ascii=False) + "\n")
        self._process.stdin.flush()
        self._read()

    def _read(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline().strip()
        if not line:
            message = "the scripted server has ended"
            raise RuntimeError(message)
        return line


@contextmanager
def primary() -> Iterator[Primary]:
    """A running server on a free port of this machine, ended at exit.

    Raises:
        NotCompiled: there is no JDK.
        JarsNotFetched: Maven's jars cannot be had.
    """
    # MongoDB's library for BSON comes with the connector.
    libraries = classpath(VERSIONS["3.6.1.Final"], [_SOURCES])
    process = subprocess.Popen(
        [java(), "-Xmx200m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp", libraries, "scripted.Main"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )
    try:
        yield Primary(process)
    finally:
        assert process.stdin is not None
        process.stdin.close()
        process.terminate()
        process.wait()


CONNECTOR_CLASS = _CLASS
"""The connector's Java class, in all versions."""
