"""Temporary folders of this process, which the next one removes if this one is killed."""

import atexit
import os
import re
import shutil
import tempfile
from pathlib import Path

_PREFIX = "dlt_local-"
_OWNED = re.compile(rf"{_PREFIX}(\d+)_\w+")


def create_folder() -> Path:
    """A new folder in the system's temporary directory; those that dead processes left there are removed."""
    _remove_abandoned(Path(tempfile.gettempdir()))
    return Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}_"))


def remove_at_exit(folder: Path) -> None:
    """Remove a folder when this process ends by itself."""
    atexit.register(shutil.rmtree, folder, ignore_errors=True)


def _remove_abandoned(directory: Path) -> None:
    for folder in directory.glob(f"{_PREFIX}*"):
        match = _OWNED.fullmatch(folder.name)
        if match is not None and not _is_alive(int(match[1])):
            shutil.rmtree(folder, ignore_errors=True)


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        # It is somebody else's.
        return True
    return True
