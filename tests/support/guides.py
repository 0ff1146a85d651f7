"""The guides of docs/guides as tests read them: their commands, files and queries, block by block."""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "guides"
_BLOCK = re.compile(r"^( *)```([^\n]*)\n(.*?)^ *```$", re.DOTALL | re.MULTILINE)
_NEEDS, _AGAIN = "# needs ", "# runs anywhere"


@dataclass(frozen=True)
class Command:
    """One line of a shell block."""

    text: str
    needs: str | None
    """What it needs that a test does not have: Kafka, a workspace; as the comment before it says."""

    @property
    def words(self) -> list[str]:
        """Its words, without redirections."""
        return shlex.split(self.text)


def blocks(guide: str, language: str) -> list[str]:
    """The blocks of a guide in one language, without the indentation of the list that they are in."""
    found = _BLOCK.findall((FOLDER / guide).read_text(encoding="utf-8"))
    return [re.sub(rf"^{indent}", "", text, flags=re.MULTILINE) for indent, name, text in found if name == language]


def commands(guide: str) -> list[Command]:
    """All lines of a guide's shell blocks, in order."""
    return [command for block in blocks(guide, "shell") for command in _commands(block)]


def files(guide: str) -> dict[str, str]:
    """Path -> text of the YAML files that a guide shows; the first line of each is a comment with its path."""
    return {text.splitlines()[0].removeprefix("# "): text for text in blocks(guide, "yaml")}


def sources(guide: str) -> tuple[set[str], set[str]]:
    """The names in brackets that statements rest on, and the names that the list at the end has."""
    body, _, listed = (FOLDER / guide).read_text(encoding="utf-8").partition("## Sources")
    prose = re.sub(r"```.*?```", "", body, flags=re.DOTALL)
    named = {name.partition(":")[0] for name in re.findall(r"(?<!\])\[([a-z]+(?:: [^\]]+)?)\](?!\()", prose)}
    return named, set(re.findall(r"^\| ([a-z]+) \| (?!page or file)", listed, re.MULTILINE))


def _commands(block: str) -> Iterator[Command]:
    needs = None
    for line in block.splitlines():
        if line.startswith(_NEEDS):
            needs = line.removeprefix(_NEEDS)
        elif line.startswith(_AGAIN):
            needs = None
        elif line:
            yield Command(line, needs)
