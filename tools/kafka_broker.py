"""A real Apache Kafka of one node (KRaft), on loopback ports that nobody else uses.

>>> with Broker() as broker:
...     produce(captures, broker.bootstrap)
"""

import base64
import shutil
import socket
import subprocess
import tempfile
import time
import uuid
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from dlt_local.spark.jars import jars, java

_START_SECONDS = 60.0
_STOP_SECONDS = 20.0
_JVM_OPTIONS = ("-Xmx384m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")


class BrokerFailed(Exception):
    """The broker did not come up; the end of its log is in the message."""

    @classmethod
    def from_status(cls, status: int, log: Path) -> "BrokerFailed":
        """Kafka gave up by itself."""
        return cls(f"Kafka stopped with status {status}:\n{_end(log)}")

    @classmethod
    def from_timeout(cls, seconds: float, log: Path) -> "BrokerFailed":
        """Kafka runs, and accepts no connection."""
        return cls(f"Kafka was not up after {seconds:.0f} seconds:\n{_end(log)}")


class Broker:
    """A broker for as long as a ``with`` block lasts; its data goes with it.

    Inside, :meth:`stop` and :meth:`start` take it down and up again on the same port and data, as a broker
    that is restarted under running clients.
    """

    def __init__(self) -> None:
        self._folder = Path()
        self._port = 0
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def bootstrap(self) -> str:
        """Address for clients, such as ``127.0.0.1:41234``; it stays the same over a restart."""
        return f"127.0.0.1:{self._port}"

    def __enter__(self) -> Self:
        """Formats an empty data folder and starts.

        Raises:
            JavaMissing: there is no Java 17 or newer.
            JarsNotFetched: Kafka could not be fetched from Maven.
            BrokerFailed: it did not come up.
        """
        self._folder = Path(tempfile.mkdtemp(prefix="kafka-broker-"))
        try:
            self._format()
            self.start()
        except BaseException:
            self._leave()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stops, and removes the data."""
        self._leave()

    def start(self) -> None:
        """Starts on the data that is there, and comes back when clients can connect.

        Raises:
            BrokerFailed: it did not come up within a minute.
        """
        with self._log.open("ab") as log:
            command = [*self._java(), "kafka.Kafka", str(self._settings)]
            # A session of its own: Ctrl-C in the terminal must not reach the broker before its clients.
            self._process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, start_new_session=True)
        deadline = time.monotonic() + _START_SECONDS
        while not self._accepts():
            if self._process.poll() is not None:
                raise BrokerFailed.from_status(self._process.returncode, self._log)
            if time.monotonic() > deadline:
                raise BrokerFailed.from_timeout(_START_SECONDS, self._log)
            time.sleep(0.1)

    def stop(self) -> None:
        """Stops in order; what was acknowledged is on disk. Does nothing when it is down already."""
        if self._process is None:
            return
        self._process.terminate()
        try:
            self._process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process = None

    @property
    def _settings(self) -> Path:
        return self._folder / "server.properties"

    @property
    def _log(self) -> Path:
        return self._folder / "broker.log"

    def _leave(self) -> None:
        self.stop()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _java(self) -> list[str]:
        return [java(), *_JVM_OPTIONS, "-cp", ":".join(str(jar) for jar in jars("kafka"))]

    def _format(self) -> None:
        self._port, controller = _free_ports(2)
        settings = {
            "process.roles": "broker,controller",
            "node.id": 1,
            "controller.quorum.voters": f"1@127.0.0.1:{controller}",
            "listeners": f"PLAINTEXT://{self.bootstrap},CONTROLLER://127.0.0.1:{controller}",
            "advertised.listeners": f"PLAINTEXT://{self.bootstrap}",
            "controller.listener.names": "CONTROLLER",
            "log.dirs": self._folder / "data",
            "offsets.topic.replication.factor": 1,
            "offsets.topic.num.partitions": 1,
            "transaction.state.log.replication.factor": 1,
            "transaction.state.log.min.isr": 1,
            "transaction.state.log.num.partitions": 1,
            "group.initial.rebalance.delay.ms": 0,
            # A misspelt topic has to fail, not to come into being.
            "auto.create.topics.enable": "false",
        }
        self._settings.write_text("".join(f"{name}={value}\n" for name, value in settings.items()))
        cluster = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
        # Joined by "=": one name in 64 begins with a dash, and would be read as an option of its own.
        command = [
            *self._java(),
            "kafka.tools.StorageTool",
            "format",
            f"--cluster-id={cluster}",
            f"--config={self._settings}",
        ]
        run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        self._log.write_bytes(run.stdout)
        if run.returncode:
            raise BrokerFailed.from_status(run.returncode, self._log)

    def _accepts(self) -> bool:
        with suppress(OSError), socket.create_connection(("127.0.0.1", self._port), timeout=1):
            return True
        return False


def _end(log: Path) -> str:
    return "\n".join(log.read_text(errors="replace").splitlines()[-20:])


def _free_ports(count: int) -> list[int]:
    """Ports that are free now; held together while they are drawn, so that they differ."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for s in sockets:
            s.bind(("127.0.0.1", 0))
        return [int(s.getsockname()[1]) for s in sockets]
    finally:
        for s in sockets:
            s.close()
