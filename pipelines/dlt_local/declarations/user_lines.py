"""The lines of a project that led to an error in it, beyond the line that the error is reported at."""

import traceback
from pathlib import Path

from dlt_local.declarations.installed import is_installed

_ENGINE = str(Path(__file__).parents[1])


def lines_below(file: str, error: BaseException) -> str:
    """One line of text for each call in a module of the project, from ``file`` down to where the error was raised.

    Empty for an error that was raised in ``file`` itself, or outside of the project.
    """
    frames = traceback.extract_tb(error.__traceback__)
    last = max((number for number, frame in enumerate(frames) if frame.filename == file), default=len(frames))
    below = [f for f in frames[last + 1 :] if not f.filename.startswith(_ENGINE) and not is_installed(f.filename)]
    return "".join(f"\n    {frame.filename}:{frame.lineno} in {frame.name}: {frame.line}" for frame in below)
