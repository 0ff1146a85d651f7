"""Which code is installed, Python itself included, and which is the project's."""

import sysconfig
from pathlib import Path

import pyspark

_LIBRARIES = ("stdlib", "platstdlib", "purelib", "platlib")
_FOLDERS = tuple({*(f"{sysconfig.get_path(name)}/" for name in _LIBRARIES), f"{Path(pyspark.__file__).parent}/"})


def is_installed(file: str) -> bool:
    """True for a file of Python or of a package; False for one of the project."""
    return file.startswith((*_FOLDERS, "<frozen "))
