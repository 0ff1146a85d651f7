"""Java code of the tools, compiled here against the jars of one connector's version."""

import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterable
from pathlib import Path

from dlt_local.spark.jars import jars, java

SHARED = Path(__file__).with_name("src") / "connect"
"""Java code that every tool which runs a connector has."""


class NotCompiled(Exception):
    """Java code of a tool could not be compiled."""

    @classmethod
    def from_absent_compiler(cls, javac: Path) -> "NotCompiled":
        """The code has to be compiled, and the installed Java is not a JDK."""
        return cls(f"{javac} does not exist; fix: install a JDK (Debian: apt-get install openjdk-17-jdk-headless)")

    @classmethod
    def from_compilation(cls, configuration: str, output: str) -> "NotCompiled":
        """The code does not compile against this version of Debezium."""
        return cls(f"the Java code does not compile with the jars of {configuration}:\n{output}")


def classpath(configuration: str, folders: Iterable[Path]) -> str:
    """The Java classpath of a tool: its compiled code, then the jars of a configuration of ivy.xml.

    Args:
        configuration: of ivy.xml, such as ``postgresql-3.6``.
        folders: the tool's own Java sources; those that all tools share are added.

    Raises:
        NotCompiled: there is no compiler, or the code does not fit the jars.
    """
    # Old versions bring another logger, and the first one wins.
    libraries = sorted(jars(configuration), key=lambda jar: not jar.name.startswith("slf4j-simple"))
    return os.pathsep.join(str(part) for part in (_classes(configuration, folders), *libraries))


def _classes(configuration: str, folders: Iterable[Path]) -> Path:
    """The folder of the compiled code, named by a hash of its inputs, so a change recompiles it."""
    sources = sorted(source for folder in (SHARED, *folders) for source in folder.rglob("*.java"))
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
        raise NotCompiled.from_absent_compiler(javac)
    folder.parent.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(dir=folder.parent))
    libraries = os.pathsep.join(str(jar) for jar in jars(configuration))
    command: list[str | Path] = [javac, "-nowarn", "-d", scratch, "-cp", libraries, *sources]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode:
        shutil.rmtree(scratch)
        raise NotCompiled.from_compilation(configuration, run.stderr)
    # Atomic; another process may have compiled the same classes first.
    try:
        scratch.rename(folder)
    except OSError:
        shutil.rmtree(scratch)
