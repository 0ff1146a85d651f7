"""A real single-node Apache Kafka (KRaft) on free loopback ports.

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
_PROTOCOLS = "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,SASL_PLAINTEXT:SASL_PLAINTEXT"
_LOGIN = 'org.apache.kafka.common.security.plain.PlainLoginModule required user_reader="reader-secret";'
_JVM_OPTIONS = ("-Xmx384m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")


class BrokerFailed(Exception):
    """The broker did not start; the message contains the end of its log."""

    @classmethod
    def from_status(cls, status: int, log: Path) -> "BrokerFailed":
        """Kafka exited."""
        return cls(f"Kafka stopped with status {status}:\n{_end(log)}")

    @classmethod
    def from_timeout(cls, seconds: float, log: Path) -> "BrokerFailed":
        """Kafka runs but does not accept connections."""
        return cls(f"Kafka did not accept connections after {seconds:.0f} seconds:\n{_end(log)}")


class Broker:
    """A broker for the duration of a ``with`` block; its data is deleted afterwards.

    Inside the block, :meth:`stop` and :meth:`start` restart it with the same port and data, under running clients.
    """

    def __init__(self) -> None:
        self._folder = Path()
        self._port = 0
        self._login_port = 0
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def bootstrap(self) -> str:
        """Address for clients, such as ``127.0.0.1:41234``; a restart does not change it."""
        return f"127.0.0.1:{self._port}"

    @property
    def with_login(self) -> str:
        """Address for clients that log in by SASL_PLAINTEXT, mechanism PLAIN, as `reader` with `reader-secret`.

        They need grants; those of the other address do not.
        """
        return f"127.0.0.1:{self._login_port}"

    def __enter__(self) -> Self:
        """Format an empty data folder and start.

        Raises:
            JavaMissing: there is no Java 17 or newer.
            JarsNotFetched: Kafka could not be fetched from Maven.
            BrokerFailed: it did not start.
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
        """Stop, and delete the data."""
        self._leave()

    def start(self) -> None:
        """Start with the existing data, and return once clients can connect.

        Raises:
            BrokerFailed: it did not start within a minute.
        """
        with self._log.open("ab") as log:
            command = [*self._java(), "kafka.Kafka", str(self._settings)]
            # In a session of its own, because Ctrl-C in the terminal must not reach the broker before its clients.
            self._process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, start_new_session=True)
        deadline = time.monotonic() + _START_SECONDS
        while not self._accepts():
            if self._process.poll() is not None:
                raise BrokerFailed.from_status(self._process.returncode, self._log)
            if time.monotonic() > deadline:
                raise BrokerFailed.from_timeout(_START_SECONDS, self._log)
            time.sleep(0.1)

    def stop(self) -> None:
        """Shut down; acknowledged records are on disk. Does nothing if the broker is not running."""
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
        self._port, self._login_port, controller = _free_ports(3)
        for_clients = f"PLAINTEXT://{self.bootstrap},SASL_PLAINTEXT://{self.with_login}"
        settings = {
            "process.roles": "broker,controller",
            "node.id": 1,
            "controller.quorum.voters": f"1@127.0.0.1:{controller}",
            "listeners": f"{for_clients},CONTROLLER://127.0.0.1:{controller}",
            "advertised.listeners": for_clients,
            "listener.security.protocol.map": _PROTOCOLS,
            "sasl.enabled.mechanisms": "PLAIN",
            "listener.name.sasl_plaintext.plain.sasl.jaas.config": _LOGIN,
            # Who logs in may do nothing until it is granted; clients without a login may do everything.
            "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
            "super.users": "User:ANONYMOUS",
            "controller.listener.names": "CONTROLLER",
            "log.dirs": self._folder / "data",
            "offsets.topic.replication.factor": 1,
            "offsets.topic.num.partitions": 1,
            "transaction.state.log.replication.factor": 1,
            "transaction.state.log.min.isr": 1,
            "transaction.state.log.num.partitions": 1,
            "group.initial.rebalance.delay.ms": 0,
            # A misspelt topic must fail instead of being created.
            "auto.create.topics.enable": "false",
        }
        self._settings.write_text("".join(f"{name}={value}\n" for name, value in settings.items()))
        cluster = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
        # Joined by "=": one id in 64 starts with a dash, and would be parsed as an option.
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
    """Free ports; all are held until the last is found, so they differ."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for s in sockets:
            s.bind(("127.0.0.1", 0))
        return [int(s.getsockname()[1]) for s in sockets]
    finally:
        for s in sockets:
            s.close()
