"""Finds a pipeline's source files and runs each as a module of its own, with `spark` defined."""

import sys
import traceback
import types
from collections.abc import Sequence
from glob import glob
from pathlib import Path

from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]

from dlt_local.declarations import notebooks, running_notebooks
from dlt_local.declarations.databricks import names_of_a_source_file
from dlt_local.declarations.import_hook import PipelineModules
from dlt_local.declarations.registry import Registry, registration
from dlt_local.declarations.spark_errors import fix_of, line_of
from dlt_local.declarations.sql.run import run_text
from dlt_local.declarations.user_lines import lines_below
from dlt_local.errors import DeclarationError, LocalPipelineError, SourceLocation

SUFFIXES = (".py", ".sql", ".ipynb")


def source_files(patterns: Sequence[str]) -> tuple[Path, ...]:
    """The files that match the patterns, in the order of the patterns and then of their paths; each once.

    Args:
        patterns: files, globs, or `folder/**` for every Python and SQL file and notebook below a folder.

    Raises:
        DeclarationError: a pattern matches no file.
    """
    found: dict[Path, None] = {}
    for pattern in patterns:
        recursive = f"{pattern}/*" if pattern.endswith("**") else pattern
        matches = sorted(Path(match) for match in glob(recursive, recursive=True))
        files = [match.resolve() for match in matches if match.suffix in SUFFIXES and match.is_file()]
        if not files:
            message = f"`{pattern}` matches no Python or SQL file"
            raise DeclarationError("NO_SOURCE_FILES", message, fix="give a file, or a folder as `folder/**`")
        found.update(dict.fromkeys(files))
    return tuple(found)


def load(files: Sequence[Path], registry: Registry, root_path: Path | None) -> list[Exception]:
    """Run every file; their declarations go to ``registry``, and how to have their modules again.

    Returns:
        The faults: at most one per file, because a file stops at its first; the files after it are loaded all the
        same. A fault that several files raise, such as a faulty conf folder that each of them reads, is reported once.
    """
    faults: list[Exception] = []
    reported: set[tuple[type[Exception], str]] = set()
    # Those beside a source file come last: they must not hide a package.
    folders = dict.fromkeys([*([] if root_path is None else [root_path]), *(file.parent for file in files)])
    context = getattr(registry.spark, "sparkContext", None)
    modules = PipelineModules(list(folders), None if context is None else context.environment)
    registry.with_modules = modules.present
    with modules.present(), registration(registry):
        for number, file in enumerate(files):
            try:
                _execute(file, f"__dlt_source_{number}__", registry)
            except LocalPipelineError as error:
                faults.append(error)
            except Exception as error:
                if (type(error), str(error)) not in reported:
                    faults.append(_fault_in(file, error))
                    reported.add((type(error), str(error)))
    return faults


def _execute(file: Path, name: str, registry: Registry) -> None:
    text = running_notebooks.text_of(file)
    is_notebook = notebooks.is_notebook(file, text)
    if file.suffix == ".sql" and (not is_notebook or _is_sql_only(file, text)):
        run_text(text, str(file), registry.spark)
        return
    module = types.ModuleType(name)
    module.__file__ = str(file)
    module.__dict__.update(names_of_a_source_file(registry))
    if is_notebook:
        # As on Databricks: a notebook is never imported.
        module.__dict__["__name__"] = "__main__"
    # Dataclasses and typing look up the module of a class while the file runs.
    sys.modules[name] = module
    try:
        running_notebooks.run(file, text, module.__dict__, registry)
    finally:
        del sys.modules[name]


def _is_sql_only(file: Path, text: str) -> bool:
    return {cell.language for cell in notebooks.cells(file, text)} <= {"sql", "md"}


def _fault_in(file: Path, error: Exception) -> DeclarationError:
    """The error as a fault at the line of ``file`` that raised it."""
    if isinstance(error, SyntaxError):
        location = SourceLocation(error.filename or str(file), error.lineno or 1)
    else:
        frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(file)]
        location = SourceLocation(str(file), (frames[-1].lineno or 1) if frames else 1)
    # Java's own stack says nothing to the user.
    text = line_of(error) if isinstance(error, Py4JJavaError) else str(error)
    message = f"{type(error).__name__}: {text}{lines_below(str(file), error)}"
    fault = DeclarationError("SOURCE_FILE_FAILED", message, location, fix_of(line_of(error)))
    fault.__cause__ = error
    return fault
