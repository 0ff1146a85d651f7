"""The lines of a project that led to an error in it, beyond the line that the error is reported at."""

import sysconfig
import traceback
from pathlib import Path

import pyspark

_NOT_OF_THE_USER = (
    str(Path(__file__).parents[1]),
    str(Path(pyspark.__file__).parent),
    *(path for name, path in sysconfig.get_paths().items() if name in ("stdlib", "platstdlib", "purelib", "platlib")),
    "<frozen",
)


def lines_below(file: str, error: BaseException) -> str:
    """One line of text for each call in a module of the project, from ``file`` down to where the error was raised.

    Empty for an error that was raised in ``file`` itself, or outside of the project.
    """
    frames = traceback.extract_tb(error.__traceback__)
    last = max((number for number, frame in enumerate(frames) if frame.filename == file), default=len(frames))
    below = [frame for frame in frames[last + 1 :] if not frame.filename.startswith(_NOT_OF_THE_USER)]
    return "".join(f"\n    {frame.filename}:{frame.lineno} in {frame.name}: {frame.line}" for frame in below)
