"""Notebooks as source files, in Databricks' source format or Jupyter's; a cell keeps the lines that it has there."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from dlt_local.errors import DeclarationError, SourceLocation

RUN_CELL = "__dlt_local_cell__"
"""The function that a notebook's program calls in place of a cell in another language."""

_HEADER = re.compile(r"\s*(#|--) Databricks notebook source\b")
_SEPARATOR = re.compile(r"^(?:#|--) COMMAND -+\s*$")
_MAGIC = re.compile(r"^(?:#|--) MAGIC ?")
_COMMENT = re.compile(r"^(?:#|--)")
_COMMAND = re.compile(r"^%%?([a-z]\w*)\b ?(.*)$")
_SHELL = re.compile(r"^!")
_LANGUAGES = {"py": "python", "python": "python", "sql": "sql", "md": "md", "md-sandbox": "md", "run": "run"}
NO_EFFECT = (
    *("pip", "conda", "sh", "fs", "config", "load_ext", "matplotlib", "reload_ext", "autoreload", "environment"),
    "restart_python",
)
"""Commands of a notebook that are accepted without effect."""


@dataclass(frozen=True)
class Cell:
    """One cell of a notebook."""

    language: str
    """`python`, `sql`, `md`, `run` (its text is a path), or one of `NO_EFFECT`."""
    text: str
    line: int
    """Of its first line of text, from 1."""


def is_notebook(file: Path, text: str) -> bool:
    """True for a notebook; every other file is plain Python or SQL."""
    return file.suffix == ".ipynb" or _HEADER.match(text) is not None


def cells(file: Path, text: str) -> list[Cell]:
    """The cells of a notebook, in order.

    Raises:
        DeclarationError: a cell is in a language that does not run here, or the file is no notebook.
    """
    default = "sql" if file.suffix == ".sql" or _is_sql_jupyter(file, text) else "python"
    raw = _of_jupyter(file, text) if file.suffix == ".ipynb" else _of_source_format(text)
    return [cell for lines, first in raw for cell in _parts(file, lines, first, default)]


def program(cells: Sequence[Cell]) -> str:
    """A notebook as one Python program: other cells are calls of `RUN_CELL` with their number, on their first line.

    >>> program([Cell("python", "a = 1", 2), Cell("sql", "SELECT 1", 4)])
    '\\na = 1\\n\\n__dlt_local_cell__(1)\\n'
    """
    lines: list[str] = []
    for number, cell in enumerate(cells):
        if cell.language not in ("python", "sql", "run"):
            continue
        lines += [""] * (cell.line - 1 - len(lines))
        lines += cell.text.split("\n") if cell.language == "python" else [f"{RUN_CELL}({number})"]
    return "\n".join(lines) + "\n"


def _of_source_format(text: str) -> Iterator[tuple[list[str], int]]:
    """The lines of each cell, and the number of its first line."""
    found: list[str] = []
    first = 1
    for number, line in enumerate(text.split("\n"), start=1):
        if _SEPARATOR.match(line) or _HEADER.match(line):
            yield found, first
            found, first = [], number + 1
        else:
            found.append(line)
    yield found, first


def _of_jupyter(file: Path, text: str) -> Iterator[tuple[list[str], int]]:
    try:
        notebook = json.loads(text)
        raw = [(cell["cell_type"], cell["source"]) for cell in notebook["cells"]]
    except (ValueError, KeyError, TypeError) as error:
        message = f"{file.name} is no notebook: {type(error).__name__}: {error}"
        fix = "save it again as a notebook (.ipynb), or in source format (.py)"
        raise DeclarationError("NOT_A_NOTEBOOK", message, SourceLocation(str(file), 1), fix) from None
    after = 0
    lines_of_file = text.split("\n")
    for kind, source in raw:
        lines = (source if isinstance(source, str) else "".join(source)).split("\n")
        # An editor saves each line of a cell on a line of its own: these are the lines to name in messages.
        first = _first_line(lines_of_file, lines[0], after)
        after = first + len(lines) - 1
        if kind == "code":
            yield lines, first


def _is_sql_jupyter(file: Path, text: str) -> bool:
    """True if cells without a command are SQL: Databricks' own metadata says so."""
    if file.suffix != ".ipynb":
        return False
    try:
        metadata = json.loads(text).get("metadata", {})
    except (ValueError, AttributeError):
        # Reported when the cells are read.
        return False
    language: object = metadata.get("application/vnd.databricks.v1+notebook", {}).get("language")
    return language == "sql"


def _first_line(lines_of_file: Sequence[str], line: str, after: int) -> int:
    written = json.dumps(line, ensure_ascii=False)[:-1], json.dumps(line)[:-1]
    for number in range(after, len(lines_of_file)):
        if lines_of_file[number].strip().startswith(written):
            return number + 1
    return after + 1


def _start(lines: Sequence[str]) -> tuple[int | None, bool]:
    """The first line that is no comment, and whether it is a command's: above it may stand a title (`DBTITLE`)."""
    for number, line in enumerate(lines):
        if _MAGIC.match(line):
            if _MAGIC.sub("", line).strip():
                return number, True
        elif line.strip() and not _COMMENT.match(line):
            return number, False
    return None, False


def _parts(file: Path, lines: Sequence[str], first: int, default: str) -> Iterator[Cell]:
    """A cell as cells of one language each: lines of the notebook's language may have commands among them."""
    start, is_magic = _start(lines)
    if start is None:
        return
    plain = [_MAGIC.sub("", line) if is_magic else line for line in lines]
    command = _COMMAND.match(plain[start])
    if command is not None and _LANGUAGES.get(command[1]):
        language = _LANGUAGES[command[1]]
        text = command[2].strip() if language == "run" else "\n".join([command[2], *plain[start + 1 :]])
        yield Cell(language, text, first + start)
        if language == "run":
            yield from _parts(file, ["", *plain[start + 1 :]], first + start, default)
        return
    if is_magic and command is None:
        return
    kept = list(plain)
    for number, line in enumerate(plain):
        found = _COMMAND.match(line) if default == "python" or is_magic else None
        if found is None and not (default == "python" and _SHELL.match(line)):
            continue
        name = "sh" if found is None else found[1]
        if name not in NO_EFFECT:
            message = f"`%{name}` does not run in a pipeline on this machine"
            fix = "write the cell in Python or SQL, or take it out of the notebook"
            raise DeclarationError("NOT_SUPPORTED_LOCALLY", message, SourceLocation(str(file), first + number), fix)
        yield Cell(name, line.strip(), first + number)
        kept[number] = ""
        if name in ("sh", "fs", "environment") and found is not None:
            # The rest of the cell is a script, or data.
            return
    if any(line.strip() for line in kept):
        yield Cell(default, "\n".join(kept), first)
