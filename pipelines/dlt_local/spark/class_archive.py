"""Java's archive of the classes that Spark loads, from which a new process has them at once.

Without it each process reads and checks some 20,000 classes from jars: a quarter of the CPU of a small update. It is
Java's class data sharing (JEP 350), made once for each Python environment by `dlt-local class-archive`. Java ignores an
archive that does not fit: one of another Java, of other jars, or where the heap is above 32 GB.
"""

import sys
from pathlib import Path

# Otherwise Java warns of an archive that does not fit.
_QUIET = "-Xlog:cds=off -Xlog:cds+dynamic=off"


def class_archive() -> Path:
    """Where this Python environment has its archive, or would have it."""
    return Path(sys.prefix) / "share" / "dlt_local" / "classes.jsa"


def loading() -> str:
    """The Java options that have a process load the archive; nothing where there is none."""
    archive = class_archive()
    return f"-XX:SharedArchiveFile={archive} {_QUIET}" if archive.exists() else ""


def writing(archive: Path) -> str:
    """The Java options that have a process write an archive when it ends."""
    return f"-XX:ArchiveClassesAtExit={archive} -XX:TieredStopAtLevel=1 {_QUIET}"
