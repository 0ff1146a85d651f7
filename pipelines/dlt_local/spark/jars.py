"""The jars that Spark needs, fetched once from Maven into a cache that all checkouts share.

pyspark ships the Ivy that fetches them. ``ivy.xml`` beside this file is the lock file: one configuration for the Spark
session, others for test servers.
"""

import hashlib
import os
import shutil
import subprocess
import tempfile
from importlib.resources import files
from pathlib import Path

from dlt_local.errors import JarsNotFetched, JavaMissing

_LOCK = Path(__file__).with_name("ivy.xml")
_MINIMUM_JAVA = 17


def java() -> str:
    """The path of Java 17 or newer: that of $JAVA_HOME, else the one on PATH.

    Raises:
        JavaMissing: there is no Java, or it is too old; the message says how to install one.
    """
    home = os.environ.get("JAVA_HOME")
    path = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    if path is None or not Path(path).exists():
        raise JavaMissing.from_absence(path)
    settings = subprocess.run(
        [path, "-XshowSettings:properties", "-version"], capture_output=True, text=True, check=False
    ).stderr
    version = next(
        (line.split("=")[1].strip() for line in settings.splitlines() if "java.specification.version" in line),
        "0",
    )
    # Java 8 calls itself 1.8
    if int(version.split(".")[-1] if version.startswith("1.") else version.split(".")[0]) < _MINIMUM_JAVA:
        raise JavaMissing.from_version(path, version)
    return path


def jars(configuration: str) -> tuple[Path, ...]:
    """The jars of one configuration of ivy.xml, fetched on first use; cached jars need neither Java nor a network.

    Args:
        configuration: ``spark``, ``kafka`` or another ``conf`` of ivy.xml.

    Raises:
        JavaMissing: Ivy has to run and there is no Java 17 or newer.
        JarsNotFetched: Ivy could not resolve or fetch them; the message quotes its output.
    """
    folder = _folder(configuration)
    if not folder.is_dir():
        _retrieve(configuration, folder, _cache() / "ivy")
    return tuple(sorted(folder.glob("*.jar")))


def is_fetched(configuration: str) -> bool:
    """True if the jars of a configuration are in the cache."""
    return _folder(configuration).is_dir()


def _cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "debezium-dlt"


def _folder(configuration: str) -> Path:
    # Named by a hash of the lock file, so a changed lock never finds an old cache.
    return _cache() / "jars" / _fingerprint() / configuration


def _fingerprint() -> str:
    return hashlib.sha256(_LOCK.read_bytes()).hexdigest()[:12]


def _retrieve(configuration: str, folder: Path, ivy_cache: Path) -> None:
    ivy = next(Path(str(files("pyspark"))).joinpath("jars").glob("ivy-*.jar"))
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
        pattern = f"{scratch}/[artifact]-[revision](-[classifier]).[ext]"
        command: list[str | Path] = [java(), "-jar", ivy, "-ivy", _LOCK, "-cache", ivy_cache]
        run = subprocess.run(
            [*command, "-confs", configuration, "-types", "jar", "bundle", "-retrieve", pattern],
            capture_output=True,
            text=True,
            check=False,
        )
        if run.returncode or not any(Path(scratch).glob("*.jar")):
            raise JarsNotFetched(configuration, run.stdout + run.stderr)
        # Renamed as a whole: another process may be fetching the same jars.
        try:
            os.rename(scratch, folder)
        except OSError:
            if not folder.is_dir():
                raise
        Path(scratch).mkdir(exist_ok=True)
