"""One thing that a setting means for the tables, in plain words."""

from dataclasses import dataclass
from enum import Enum


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
        """Two or three lines: level, setting and value; the meaning; the fix."""
        lines = [f"{self.level.name:<5} {self.setting}: {self.said}", f"      {self.meaning}"]
        return "\n".join([*lines, *([f"      fix: {self.fix}"] if self.fix else [])])
