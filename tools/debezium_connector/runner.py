"""Connectors against real servers: start, wait for records, stop, kill, start again.

with running("postgresql-3.6", "io.debezium.connector.postgresql.PostgresConnector", properties, folder) as connector:
    connector.wait(records=4)
    connector.flush()
    connector.kill()
    connector.start()
    connector.wait(quiet=2)
    records = connector.records()
"""

import itertools
import json
import subprocess
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dlt_local.spark.jars import java
from tools.captures import Record
from tools.debezium_connector.classes import classpath

_SOURCES = Path(__file__).with_name("src") / "runner"
_JVM_OPTIONS = (
    "-Xmx500m",
    "-XX:TieredStopAtLevel=1",
    "-XX:+UseSerialGC",
    # Debezium 1.4 and its libraries are older than Java's modules.
    "--add-opens=java.base/java.lang=ALL-UNNAMED",
    "--add-opens=java.base/java.nio=ALL-UNNAMED",
    "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
    "-Dorg.slf4j.simpleLogger.showDateTime=true",
)
_COMMAND_SECONDS = 120.0
_END_SECONDS = 10.0


class ConnectorFailed(Exception):
    """A connector could not be started, or failed later."""

    @classmethod
    def from_message(cls, connector: str, message: str, log: Path) -> "ConnectorFailed":
        """The connector itself, or the JVM that it runs in; quotes the end of the JVM's log."""
        end = "\n".join(log.read_text(encoding="utf-8", errors="replace").splitlines()[-120:])
        return cls(f"{connector}: {message}\n{end}")

    @classmethod
    def from_timeout(cls, connector: str, expected: str, log: Path) -> "ConnectorFailed":
        """What was waited for has not come."""
        return cls.from_message(connector, f"{expected} have not come in time", log)


class Worker:
    """A JVM with the jars of one connector's version; runs any number of connectors, at once or in turn."""

    def __init__(self, configuration: str, log: Path, sources: Sequence[Path] = ()) -> None:
        """Start the JVM.

        Args:
            configuration: one of ivy.xml.
            log: file for what libraries print.
            sources: folders of further Java code, such as a fake driver, which comes before the jars.
        """
        self.log = log
        self._connectors: dict[str, Connector] = {}
        self._answers: list[dict[str, Any]] = []
        self.changed = threading.Condition()
        self._numbers = itertools.count()
        with log.open("ab") as errors:
            self._jvm = subprocess.Popen(
                [java(), *_JVM_OPTIONS, "-cp", classpath(configuration, [_SOURCES, *sources]), "runner.Main"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
            )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def connector(
        self,
        connector_class: str,
        properties: Mapping[str, str],
        offsets: Path,
        history: Path | None = None,
    ) -> "Connector":
        """A connector of this JVM, not yet started.

        Args:
            connector_class: name of its Java class.
            properties: of the connector, ``transforms.*``, and ``converter.*`` for Connect's JsonConverter, whose
                ``schemas.enable`` is false unless it is given.
            offsets: file of the connector's offsets; a start continues from them.
            history: file of its schema history, for connectors that have one.
        """
        every = {"name": f"connector{next(self._numbers)}", "connector.class": connector_class, "tasks.max": "1"}
        every |= {"poll.interval.ms": "50"}
        if history is not None:
            every |= _history(history)
        connector = Connector(self, every | dict(properties), offsets)
        self._connectors[connector.name] = connector
        return connector

    def close(self) -> None:
        """End the JVM and every connector that still runs in it."""
        assert self._jvm.stdin is not None
        self._jvm.stdin.close()
        try:
            self._jvm.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            self._jvm.kill()
            self._jvm.wait()
        self._reader.join()

    def command(self, connector: str, command: str, **fields: Any) -> None:
        """Send a command to a connector and wait for its answer.

        Raises:
            ConnectorFailed: it could not be done.
        """
        assert self._jvm.stdin is not None
        line = json.dumps({"command": command, "connector": connector, **fields})
        try:
            self._jvm.stdin.write(line.encode() + b"\n")
            self._jvm.stdin.flush()
        except BrokenPipeError:
            raise ConnectorFailed.from_message(connector, "the JVM has ended", self.log) from None
        with self.changed:
            if not self.changed.wait_for(lambda: self._answers or not self._reader.is_alive(), _COMMAND_SECONDS):
                raise ConnectorFailed.from_timeout(connector, f"answers to {command}", self.log)
            if not self._answers:
                raise ConnectorFailed.from_message(connector, "the JVM has ended", self.log)
            answer = self._answers.pop()
        if "error" in answer:
            raise ConnectorFailed.from_message(connector, f"{command}: {answer['error']}", self.log)

    def _read(self) -> None:
        assert self._jvm.stdout is not None
        for line in self._jvm.stdout:
            fields = json.loads(line)
            with self.changed:
                if "answer" in fields:
                    self._answers.append(fields)
                elif "failure" in fields:
                    self._connectors[fields["connector"]].failure = fields["failure"]
                else:
                    self._connectors[fields["connector"]].add(fields)
                self.changed.notify_all()
        with self.changed:
            self.changed.notify_all()


class Connector:
    """One connector: its runs, and the records of all of them."""

    def __init__(self, worker: Worker, properties: Mapping[str, str], offsets: Path) -> None:
        """Use ``Worker.connector``."""
        self.name = properties["name"]
        self.failure: str | None = None
        """What the running connector failed with."""
        self._worker = worker
        self._properties = dict(properties)
        self._offsets = offsets
        self._records: list[Record] = []
        self._next: Counter[str] = Counter()
        self._runs = False
        self._last = time.monotonic()

    def start(self, properties: Mapping[str, str] | None = None) -> None:
        """Start it where its offsets say; ``properties`` replace earlier ones of the same name from now on.

        Raises:
            ConnectorFailed: it does not start.
        """
        self._properties |= properties or {}
        self.failure = None
        self._last = time.monotonic()
        self._worker.command(self.name, "start", properties=self._properties, offsets=str(self._offsets))
        self._runs = True

    def flush(self) -> None:
        """Store the offsets of every record so far and tell the connector, as a worker does once a minute."""
        self._worker.command(self.name, "flush")

    def stop(self) -> None:
        """Flush and stop; nothing if it does not run."""
        if self._runs:
            self._runs = False
            self._worker.command(self.name, "stop")

    def kill(self) -> None:
        """Stop without a flush: the next start delivers again what came after the last flush."""
        if self._runs:
            self._runs = False
            self._worker.command(self.name, "kill")

    def wait(
        self,
        *,
        records: int | None = None,
        until: Callable[[Record], bool] | None = None,
        quiet: float | None = None,
        timeout: float = 60,
    ) -> None:
        """Wait until a condition holds.

        Args:
            records: this number of records has come, of all runs together.
            until: a record for which it is true has come, in any run.
            quiet: no record has come for this number of seconds.
            timeout: in seconds.

        Raises:
            ConnectorFailed: the connector has failed, or the time is over.
        """
        deadline = time.monotonic() + timeout
        began = time.monotonic()
        seen = 0
        with self._worker.changed:
            while True:
                if self.failure is not None:
                    raise ConnectorFailed.from_message(self.name, self.failure, self._worker.log)
                now = time.monotonic()
                if records is not None and len(self._records) >= records:
                    return
                if until is not None and any(until(record) for record in self._records[seen:]):
                    return
                seen = len(self._records)
                if quiet is not None and now - max(began, self._last) >= quiet:
                    return
                if now > deadline:
                    expected = f"{records} records" if records is not None else "expected records"
                    message = f"{expected} (there are {len(self._records)})"
                    raise ConnectorFailed.from_timeout(self.name, message, self._worker.log)
                self._worker.changed.wait(0.05 if quiet is not None else 0.5)

    def records(self) -> list[Record]:
        """Every record of all runs in the order of emission, as in topics with one partition."""
        return list(self._records)

    def add(self, fields: Mapping[str, Any]) -> None:
        """Take a record from the JVM; timestamp is the time at which it came."""
        topic, flat = fields["topic"], fields["headers"]
        self._last = time.monotonic()
        self._records.append(
            Record(
                topic=topic,
                partition=0,
                offset=self._next[topic],
                timestamp=time.time_ns() // 1_000_000,
                headers=tuple((name, _utf8(value)) for name, value in zip(flat[::2], flat[1::2], strict=True)),
                key=_utf8(fields["key"]),
                value=_utf8(fields["value"]),
            )
        )
        self._next[topic] += 1


@contextmanager
def worker(configuration: str, log: Path | None = None, sources: Sequence[Path] = ()) -> Iterator[Worker]:
    """A JVM for connectors of one version, ended at exit; for several connectors in turn.

    Raises:
        NotCompiled: there is no JDK.
        JarsNotFetched: Maven's jars cannot be had.
    """
    with tempfile.TemporaryDirectory(prefix="connector-") as folder:
        jvm = Worker(configuration, log or Path(folder) / "log", sources)
        try:
            yield jvm
        finally:
            jvm.close()


@contextmanager
def running(
    configuration: str,
    connector_class: str,
    properties: Mapping[str, str],
    folder: Path,
) -> Iterator[Connector]:
    """A started connector in a JVM of its own; offsets and schema history are kept in ``folder``.

    Raises:
        ConnectorFailed: it does not start.
    """
    with worker(configuration, folder / "log") as jvm:
        connector = jvm.connector(connector_class, properties, folder / "offsets", folder / "history")
        connector.start()
        yield connector
        connector.stop()


def _history(file: Path) -> dict[str, str]:
    """A schema history in a file, under the names of Debezium 2 and newer and of those before."""
    return {
        "schema.history.internal": "io.debezium.storage.file.history.FileSchemaHistory",
        "schema.history.internal.file.filename": str(file),
        "database.history": "io.debezium.relational.history.FileDatabaseHistory",
        "database.history.file.filename": str(file),
    }


def _utf8(text: str | None) -> bytes | None:
    return None if text is None else text.encode()
