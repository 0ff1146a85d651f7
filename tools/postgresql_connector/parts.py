"""SQL files of several parts, separated by lines of ``-- mark``."""

from pathlib import Path


def parts(file: Path) -> list[str]:
    """The parts in order; the first one is for before the connector starts."""
    return file.read_text(encoding="utf-8").split("-- mark\n")
