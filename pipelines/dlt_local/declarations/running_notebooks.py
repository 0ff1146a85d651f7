"""Runs a notebook: its cells in order, with one set of names."""

import shlex
from pathlib import Path
from typing import Any

from dlt_local.declarations import notebooks
from dlt_local.declarations.databricks import NotebookExit
from dlt_local.declarations.notebooks import NO_EFFECT, RUN_CELL, Cell
from dlt_local.declarations.registry import Registry
from dlt_local.declarations.sql.run import run_text
from dlt_local.declarations.sql.settings import settings
from dlt_local.errors import DeclarationError, SourceLocation

_SUFFIXES = ("", ".py", ".ipynb", ".sql")


def run(file: Path, text: str, names: dict[str, Any], registry: Registry) -> None:
    """Run a notebook, or a plain Python file that a notebook runs; ``names`` are its globals.

    Raises:
        DeclarationError: a cell is refused, or declares something that is.
    """
    if not notebooks.is_notebook(file, text):
        exec(compile(text, str(file), "exec"), names)
        return
    cells = notebooks.cells(file, text)
    for cell in cells:
        if cell.language in NO_EFFECT:
            registry.notice(
                f"`%{cell.language}` of a notebook has no effect locally ({file.name}:{cell.line}): "
                "install what the pipeline needs into the environment that runs it"
            )

    place: tuple[str, ...] = ()
    given: dict[str, str] = {}
    for cell in cells:
        if cell.language == "sql":
            given |= settings(_on_its_lines(cell), str(file))

    def run_cell(number: int) -> None:
        nonlocal place
        cell = cells[number]
        if cell.language == "sql":
            place = run_text(_on_its_lines(cell), str(file), registry.spark, place, given)
        else:
            other, parameters = _notebook(file, cell)
            with names["dbutils"].widgets.given(parameters):
                _run_other(other, names, registry)

    outer = names.get(RUN_CELL)
    names[RUN_CELL] = run_cell
    try:
        exec(compile(notebooks.program(cells), str(file), "exec"), names)
    except NotebookExit:
        pass
    finally:
        names[RUN_CELL] = outer


def text_of(file: Path) -> str:
    """The text of a source file, without the mark that editors on Windows put at its beginning."""
    return file.read_text(encoding="utf-8-sig")


def _run_other(other: Path, names: dict[str, Any], registry: Registry) -> None:
    if other.suffix == ".sql":
        run_text(text_of(other), str(other), registry.spark)
    else:
        run(other, text_of(other), names, registry)


def _on_its_lines(cell: Cell) -> str:
    """The cell's text on the lines that it has in the file."""
    return "\n" * (cell.line - 1) + cell.text


def _notebook(file: Path, cell: Cell) -> tuple[Path, dict[str, str]]:
    """The notebook that a `%run` names, and the values of widgets that it gives, `$name="value"`."""
    path, *rest = shlex.split(cell.text) or [""]
    parameters = {name.lstrip("$"): value for name, _, value in (each.partition("=") for each in rest)}
    found = next((each for end in _SUFFIXES if path and (each := file.parent / f"{path}{end}").is_file()), None)
    if found is None:
        message = f"`%run {cell.text}`: there is no notebook {file.parent / path}"
        fix = "write the path relative to this notebook, as in `%run ./helpers`"
        raise DeclarationError("NOTEBOOK_NOT_FOUND", message, SourceLocation(str(file), cell.line), fix)
    return found.resolve(), parameters
