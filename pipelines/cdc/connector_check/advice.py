"""One thing that a setting means for the tables, in plain words."""

import textwrap
from dataclasses import dataclass
from enum import Enum

_INDENT = " " * 6


class Level(Enum):
    """How much a setting costs; the value says what the word stands for."""

    LOST = "something of the source cannot reach the tables"
    RISK = "some values or some orders can come out wrong"
    NOTE = "it is handled; good to know"
    GOOD = "nothing is lost"


@dataclass(frozen=True)
class Advice:
    """What one setting of a connector means."""

    level: Level
    setting: str
    said: str
    """The value as it counts, or that it is not set and what counts then; never a secret's."""
    meaning: str
    fix: str | None = None
    """What to write instead; None where nothing has to be."""

    def __str__(self) -> str:
        """A few lines: level, setting and value; the meaning; the fix."""
        told = [_wrapped(self.meaning), *([_wrapped(f"fix: {self.fix}")] if self.fix else [])]
        return "\n".join([f"{self.level.name:<5} {self.setting}: {self.said}", *told])


def _wrapped(text: str) -> str:
    """Indented, and no wider than a terminal; a setting is never broken in two."""
    return textwrap.fill(
        text, 110, initial_indent=_INDENT, subsequent_indent=_INDENT, break_long_words=False, break_on_hyphens=False
    )
