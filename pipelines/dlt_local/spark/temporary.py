"""Temporary folders of this process, which the next one removes if this one is killed."""

import atexit
import fcntl
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

_PREFIX = "dlt_local-"
_LOCK = ".lock"
"""Locked for as long as the process lives, wherever it runs; Spark ignores files of such names."""
_held: dict[Path, IO[str]] = {}


def create_folder() -> Path:
    """A new folder in the system's temporary directory; those that killed processes left there are removed."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        if _is_abandoned(folder):
            shutil.rmtree(folder, ignore_errors=True)
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
    lock = (folder / _LOCK).open("w")
    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    _held[folder] = lock
    return folder


def remove_folder(folder: Path) -> None:
    """Remove a folder that `create_folder` made."""
    _held.pop(folder).close()
    shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """A new folder for the duration of a block."""
    folder = create_folder()
    try:
        yield folder
    finally:
        remove_folder(folder)


def is_temporary(path: Path) -> bool:
    """True for a folder that this or another process made here, whether it is still there or not."""
    return path.name.startswith(_PREFIX) and path.parent == Path(tempfile.gettempdir())


def folder_of_process() -> Path:
    """A new folder that is removed when this process ends."""
    folder = create_folder()
    atexit.register(remove_folder, folder)
    return folder


def _is_abandoned(folder: Path) -> bool:
    """True if nobody holds the folder's lock; False where there is none, as for folders of others."""
    try:
        with (folder / _LOCK).open("r+") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
