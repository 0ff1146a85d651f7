"""The text of a declaration: what stands at its place in a Python or SQL source file."""

import ast
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

_MOST = 80
"""Lines that are kept of a declaration."""


@dataclass(frozen=True)
class SourceText:
    """Lines of a source file."""

    first: int
    """The number of the first line."""
    lines: tuple[str, ...]


def source_texts(places: Iterable[str], redact: Callable[[str], str]) -> dict[str, SourceText]:
    """Place (`file:line`) -> the redacted text of what is declared there; without places that cannot be read."""
    found = {}
    files: dict[str, str | None] = {}
    for place in dict.fromkeys(places):
        file, _, line = place.rpartition(":")
        if file not in files:
            files[file] = _text(Path(file))
        text = files[file]
        if text is not None:
            first, last = _extent(text, int(line), is_sql=file.endswith(".sql"))
            lines = text.splitlines()[first - 1 : min(last, first + _MOST - 1)]
            found[place] = SourceText(first, tuple(map(redact, lines)))
    return found


def _text(file: Path) -> str | None:
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None


def _extent(text: str, line: int, is_sql: bool) -> tuple[int, int]:
    """The first and the last line of the declaration at a line."""
    if is_sql:
        rest = enumerate(text.splitlines()[line - 1 :], line)
        return line, next((number for number, each in rest if each.rstrip().endswith(";")), line + _MOST)
    try:
        module = ast.parse(text)
    except SyntaxError:
        return line, line
    # The innermost statement: sources declare within functions and loops.
    extents = [_lines(node) for node in ast.walk(module) if isinstance(node, ast.stmt)]
    around = [(first, last) for first, last in extents if first <= line <= last]
    return min(around, key=lambda extent: extent[1] - extent[0], default=(line, line))


def _lines(statement: ast.stmt) -> tuple[int, int]:
    decorators = getattr(statement, "decorator_list", [])
    return min((each.lineno for each in decorators), default=statement.lineno), statement.end_lineno or statement.lineno
