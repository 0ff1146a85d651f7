"""Run of the connector on a scenario, with the records that it emits."""

import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, get_args

from dlt_local.spark.jars import java
from tools.debezium_connector.classes import classpath
from tools.debezium_connector.emitted import Emitted

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
        NotCompiled: the fake driver could not be compiled.
    """
    configuration = _CONFIGURATION[version]
    settings = [f"{name}={value}" for name, value in (properties or {}).items()]
    with tempfile.TemporaryDirectory(prefix="sqlserver-connector-") as folder:
        out = Path(folder) / "records.jsonl"
        command = [
            java(),
            *_JVM_OPTIONS,
            "-cp",
            classpath(configuration, [_SOURCES]),
            "scripted.Main",
            str(scenario),
            str(out),
            *settings,
        ]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        if run.returncode:
            raise ConnectorFailed.from_run(scenario, run.stderr)
        return [Emitted.from_line(line) for line in out.read_text(encoding="utf-8").splitlines()]
