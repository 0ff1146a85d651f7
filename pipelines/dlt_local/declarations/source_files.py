"""Finds a pipeline's source files and runs each as a module of its own, with `spark` defined."""

import sys
import traceback
import types
from collections.abc import Sequence
from glob import glob
from pathlib import Path

from dlt_local.declarations.import_hook import pipeline_modules
from dlt_local.declarations.registry import Registry, registration
from dlt_local.declarations.sql.run import run_file
from dlt_local.errors import DeclarationError, LocalPipelineError, SourceLocation


def source_files(patterns: Sequence[str]) -> tuple[Path, ...]:
    """The files that match the patterns, in the order of the patterns and then of their paths; each once.

    Args:
        patterns: files, globs, or `folder/**` for every Python and SQL file below a folder.

    Raises:
        DeclarationError: a pattern matches no file.
    """
    found: dict[Path, None] = {}
    for pattern in patterns:
        recursive = f"{pattern}/*" if pattern.endswith("**") else pattern
        matches = sorted(Path(match) for match in glob(recursive, recursive=True))
        files = [match.resolve() for match in matches if match.suffix in (".py", ".sql") and match.is_file()]
        if not files:
            message = f"`{pattern}` matches no Python or SQL file"
            raise DeclarationError("NO_SOURCE_FILES", message, fix="give a file, or a folder as `folder/**`")
        found.update(dict.fromkeys(files))
    return tuple(found)


def load(files: Sequence[Path], registry: Registry, root_path: Path | None) -> list[Exception]:
    """Run every file; their declarations go to ``registry``.

    Returns:
        The faults: at most one per file, because a file stops at its first; the files after it are loaded all the
        same. A fault that several files raise, such as a faulty conf folder that each of them reads, is reported once.
    """
    faults: list[Exception] = []
    reported: set[tuple[type[Exception], str]] = set()
    with pipeline_modules(root_path), registration(registry):
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
    if file.suffix == ".sql":
        run_file(file, registry.spark)
        return
    module = types.ModuleType(name)
    module.__file__ = str(file)
    module.__dict__["spark"] = registry.spark
    # Dataclasses and typing look up the module of a class while the file runs.
    sys.modules[name] = module
    try:
        exec(compile(file.read_text(encoding="utf-8"), str(file), "exec"), module.__dict__)
    finally:
        del sys.modules[name]


def _fault_in(file: Path, error: Exception) -> DeclarationError:
    """The error as a fault at the line of ``file`` that raised it."""
    if isinstance(error, SyntaxError):
        location = SourceLocation(error.filename or str(file), error.lineno or 1)
    else:
        frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(file)]
        location = SourceLocation(str(file), (frames[-1].lineno or 1) if frames else 1)
    fault = DeclarationError("SOURCE_FILE_FAILED", f"{type(error).__name__}: {error}", location)
    fault.__cause__ = error
    return fault
