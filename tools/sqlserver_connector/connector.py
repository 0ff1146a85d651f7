"""Run of the connector on a scenario, with the records that it emits."""

import hashlib
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal, get_args

from dlt_local.spark.jars import jars, java

Version = Literal["3.6.1.Final", "2.5.4.Final"]
VERSIONS: tuple[Version, ...] = get_args(Version)

_SOURCES = Path(__file__).with_name("src")
_CONFIGURATION: dict[Version, str] = {"3.6.1.Final": "sqlserver", "2.5.4.Final": "sqlserver-2.5"}
_JVM_OPTIONS = (
    "-Xmx400m",
    "-XX:TieredStopAtLevel=1",
    "-XX:+UseSerialGC",
    "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
)


class ConnectorFailed(Exception):
    """The connector could not be run on a scenario."""

    @classmethod
    def from_run(cls, scenario: Path, output: str) -> "ConnectorFailed":
        """A step failed or timed out; the JVM's output states which."""
        return cls(f"{scenario} could not be played to the end:\n{output}")

    @classmethod
    def from_absent_compiler(cls, javac: Path) -> "ConnectorFailed":
        """The fake driver has to be compiled, and the installed Java is not a JDK."""
        return cls(f"{javac} does not exist; fix: install a JDK (Debian: apt-get install openjdk-17-jdk-headless)")

    @classmethod
    def from_compilation(cls, output: str) -> "ConnectorFailed":
        """The fake driver does not compile against this version of Debezium."""
        return cls(f"{_SOURCES} does not compile:\n{output}")


@dataclass(frozen=True)
class Emitted:
    """One record as handed to the worker: without partition and offset."""

    topic: str
    key: str | None
    value: str | None
    headers: tuple[tuple[str, str | None], ...]
    section: str
    """The scenario's last ``section``; empty if there was none."""
    run: int
    """Number of earlier starts of the connector."""
    started: datetime
    """The server's clock at the start of this run of the connector."""

    @classmethod
    def from_line(cls, line: str) -> "Emitted":
        """Parse a line written by RecordWriter.java."""
        fields = json.loads(line)
        flat = fields["headers"]
        return cls(
            topic=fields["topic"],
            key=fields["key"],
            value=fields["value"],
            headers=tuple(zip(flat[::2], flat[1::2], strict=True)),
            section=fields.get("section", ""),
            run=fields["run"],
            started=datetime.fromisoformat(fields["started"]),
        )


def emitted(
    scenario: Path,
    *,
    version: Version = "3.6.1.Final",
    properties: Mapping[str, str] | None = None,
) -> list[Emitted]:
    """Play a scenario to the connector; returns the records in the order of emission.

    Args:
        scenario: a JSON list of steps; README.md explains them.
        version: Debezium's version.
        properties: of the connector, overriding the scenario's; ``converter.*`` goes to the JsonConverter.

    Raises:
        ConnectorFailed: a step failed or timed out.
    """
    configuration = _CONFIGURATION[version]
    classpath = f"{_classes(configuration)}{os.pathsep}{_classpath(configuration)}"
    settings = [f"{name}={value}" for name, value in (properties or {}).items()]
    with tempfile.TemporaryDirectory(prefix="sqlserver-connector-") as folder:
        out = Path(folder) / "records.jsonl"
        command = [
            java(),
            *_JVM_OPTIONS,
            "-cp",
            classpath,
            "scripted.Main",
            str(scenario),
            str(out),
            *settings,
        ]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        if run.returncode:
            raise ConnectorFailed.from_run(scenario, run.stderr)
        return [Emitted.from_line(line) for line in out.read_text(encoding="utf-8").splitlines()]


def _classpath(configuration: str) -> str:
    return os.pathsep.join(str(jar) for jar in jars(configuration))


def _classes(configuration: str) -> Path:
    """The folder of the compiled driver, named by a hash of its inputs, so a change recompiles it."""
    sources = sorted(_SOURCES.rglob("*.java"))
    digest = hashlib.sha256("\n".join(jar.name for jar in jars(configuration)).encode())
    for source in sources:
        digest.update(source.read_bytes())
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "debezium-dlt" / "classes"
    folder = cache / digest.hexdigest()[:12]
    if not folder.is_dir():
        _compile(sources, configuration, folder)
    return folder


def _compile(sources: list[Path], configuration: str, folder: Path) -> None:
    javac = Path(java()).resolve().with_name("javac")
    if not javac.exists():
        raise ConnectorFailed.from_absent_compiler(javac)
    folder.parent.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(dir=folder.parent))
    command: list[str | Path] = [javac, "-nowarn", "-d", scratch, "-cp", _classpath(configuration), *sources]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode:
        shutil.rmtree(scratch)
        raise ConnectorFailed.from_compilation(run.stderr)
    # Atomic; another process may have compiled the same classes first.
    try:
        scratch.rename(folder)
    except OSError:
        shutil.rmtree(scratch)
