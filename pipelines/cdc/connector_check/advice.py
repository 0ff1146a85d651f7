"""Advice on one setting of a connector."""

import textwrap
from dataclasses import dataclass
from enum import Enum

_INDENT = " " * 6


class Level(Enum):
    """How much a setting costs; the value explains the level."""

    LOST = "data of the source cannot reach the tables"
    RISK = "some values, or the order of some changes, can be wrong"
    NOTE = "handled; good to know"
    GOOD = "nothing is lost"


@dataclass(frozen=True)
class Advice:
    """What one setting of a connector means for the tables."""

    level: Level
    setting: str
    value: str
    """The effective value as shown to people, with a note if it is the default; never a secret."""
    meaning: str
    fix: str | None = None
    """What to change; None if nothing has to be."""

    def __str__(self) -> str:
        """A few lines: level, setting and value; meaning; fix."""
        lines = [_wrapped(self.meaning), *([_wrapped(f"fix: {self.fix}")] if self.fix else [])]
        return "\n".join([f"{self.level.name:<5} {self.setting}: {self.value}", *lines])


def _wrapped(text: str) -> str:
    """Indented and at most as wide as a terminal; a setting is never broken across lines."""
    return textwrap.fill(
        text, 110, initial_indent=_INDENT, subsequent_indent=_INDENT, break_long_words=False, break_on_hyphens=False
    )
