"""The Spark versions of Databricks' runtimes, each in a virtual environment of its own: `python -m tools.runtimes`.

`make test-runtimes` runs shipped code there. Environments are kept in the cache, since Spark alone is 400 MB in each;
PYTHON3_12 and the like name a Python that is not on PATH.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "debezium-dlt" / "runtimes"
SPARK = ("4.0.1", "4.1.1")
"""The versions that shipped code supports beside this project's own."""
PYTHON = ("3.11", "3.12")
"""3.12 is the Python of environment version 4, by which bundles/serverless.yml has pipelines run."""
TOO_OLD = "3.5.8"
"""A version that is refused."""
PACKAGES = (
    *("pyyaml", "jsonschema", "pandas", "pyarrow", "zstandard"),
    *("grpcio", "grpcio-status", "googleapis-common-protos", "protobuf"),
)
"""What shipped code and Spark Connect need beside pyspark, in the versions of requirements.txt."""


@dataclass(frozen=True)
class Runtime:
    """One version of Spark under one version of Python."""

    spark: str
    python: str

    @property
    def name(self) -> str:
        """``spark-4.0.1-python-3.12``."""
        return f"spark-{self.spark}-python-{self.python}"

    @property
    def program(self) -> Path:
        """Its Python."""
        return CACHE / self.name / "bin" / "python"

    @property
    def interpreter(self) -> str | None:
        """The Python that its environment is made from; None if this machine has none."""
        named = os.environ.get(f"PYTHON{self.python.replace('.', '_')}")
        here = sys.executable if self.python == f"{sys.version_info.major}.{sys.version_info.minor}" else None
        return named or here or _that_starts(f"python{self.python}")


RUNTIMES = tuple(Runtime(spark, python) for spark in SPARK for python in PYTHON)
REFUSED = Runtime(TOO_OLD, PYTHON[0])


def requirements(runtime: Runtime) -> tuple[str, ...]:
    """What pip installs into a runtime's environment."""
    pinned = dict(_pins())
    return (f"pyspark=={runtime.spark}", *(f"{name}=={pinned[name]}" for name in PACKAGES))


def make(runtime: Runtime) -> bool:
    """Make a runtime's environment unless it is as it should be; False if there is no such Python."""
    folder, wanted = CACHE / runtime.name, "\n".join(requirements(runtime))
    made_of = folder / "made-of"
    if made_of.is_file() and made_of.read_text() == wanted and runtime.program.exists():
        return True
    python = runtime.interpreter
    if python is None:
        return False
    subprocess.run([python, "-m", "venv", "--clear", folder], check=True)
    quiet = ("--quiet", "--disable-pip-version-check")
    subprocess.run([runtime.program, "-m", "pip", "install", *quiet, *requirements(runtime)], check=True)
    made_of.write_text(wanted)
    return True


def main() -> None:
    """Make every environment that this machine can have."""
    for runtime in (*RUNTIMES, REFUSED):
        made = make(runtime)
        where = CACHE / runtime.name if made else f"not made: there is no python{runtime.python}"
        print(f"{runtime.name}: {where}", flush=True)


def _pins() -> Iterator[tuple[str, str]]:
    for line in (ROOT / "requirements.txt").read_text().splitlines():
        name, _, version = line.partition("#")[0].strip().partition("==")
        if version:
            yield name, version


def _that_starts(name: str) -> str | None:
    """A program on PATH that starts: pyenv has a stand-in for each version, installed or not chosen."""
    found = shutil.which(name)
    if found is None:
        return None
    ran = subprocess.run([found, "-c", "import ensurepip, venv"], capture_output=True, check=False)
    return found if ran.returncode == 0 else None


if __name__ == "__main__":
    main()
