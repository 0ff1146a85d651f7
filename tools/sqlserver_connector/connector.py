"""Runs the connector over a scenario and gives the records that it emitted."""

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
    """The connector could not be run over a scenario."""

    @classmethod
    def from_run(cls, scenario: Path, output: str) -> "ConnectorFailed":
        """A step failed, or records that it waited for did not come; the JVM's own words say which."""
        return cls(f"{scenario} could not be played to its end:\n{output}")

    @classmethod
    def from_absent_compiler(cls, javac: Path) -> "ConnectorFailed":
        """The stand-in driver has to be compiled, and the Java at hand is no JDK."""
        return cls(f"{javac} does not exist; fix: install a JDK (Debian: apt-get install openjdk-17-jdk-headless)")

    @classmethod
    def from_compilation(cls, output: str) -> "ConnectorFailed":
        """The stand-in driver does not compile against this version of Debezium."""
        return cls(f"{_SOURCES} does not compile:\n{output}")


@dataclass(frozen=True)
class Emitted:
    """One record as the connector handed it to its worker: no partition or offset yet."""

    topic: str
    key: str | None
    value: str | None
    headers: tuple[tuple[str, str | None], ...]
    section: str
    """What the scenario's last ``section`` step said; empty without one."""
    run: int
    """How often the connector had been started before."""
    started: datetime
    """The server's clock when this run of the connector began."""

    @classmethod
    def from_line(cls, line: str) -> "Emitted":
        """Reads a line that RecordWriter.java wrote."""
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
    """Plays a scenario to the connector; the records in the order in which it emitted them.

    Args:
        scenario: a list of steps in JSON; README.md explains them.
        version: of Debezium.
        properties: the connector's, over those of the scenario; ``converter.*`` goes to the JsonConverter.

    Raises:
        ConnectorFailed: a step failed, or records that it waited for did not come.
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
    """The folder of the compiled stand-in, named for all that goes into it, so a change compiles anew."""
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
    # Whole or not at all; another process may have been quicker with the same classes.
    try:
        scratch.rename(folder)
    except OSError:
        shutil.rmtree(scratch)
