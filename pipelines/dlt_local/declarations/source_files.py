"""Find a pipeline's source files and run them, each as a module of its own with `spark` at hand."""

import sys
import traceback
import types
from collections.abc import Sequence
from glob import glob
from pathlib import Path

from dlt_local.declarations import sql
from dlt_local.declarations.import_hook import pipeline_modules
from dlt_local.declarations.registry import Registry, registration
from dlt_local.errors import DeclarationError, LocalPipelineError, SourceLocation


def source_files(patterns: Sequence[str]) -> tuple[Path, ...]:
    """The files that the patterns name, in the order of the patterns, then of their paths; each once.

    Args:
        patterns: files, globs, or `folder/**` for every Python and SQL file below a folder.

    Raises:
        DeclarationError: a pattern names nothing.
    """
    found: dict[Path, None] = {}
    for pattern in patterns:
        recursive = f"{pattern}/*" if pattern.endswith("**") else pattern
        matches = sorted(Path(match) for match in glob(recursive, recursive=True))
        files = [match.resolve() for match in matches if match.suffix in (".py", ".sql") and match.is_file()]
        if not files:
            message = f"`{pattern}` names no Python or SQL file"
            raise DeclarationError("NO_SOURCE_FILES", message, fix="give a file, or a folder as `folder/**`")
        found.update(dict.fromkeys(files))
    return tuple(found)


def load(files: Sequence[Path], registry: Registry, root_path: Path | None) -> list[Exception]:
    """Run every file; what they declare is in ``registry`` afterwards.

    Returns:
        The faults, at most one a file, since a file stops at its first; later files are loaded all the same. One that
        several files run into, such as a faulty conf folder that each of them reads, is told once.
    """
    faults: list[Exception] = []
    told: set[tuple[type[Exception], str]] = set()
    with pipeline_modules(root_path), registration(registry):
        for number, file in enumerate(files):
            try:
                _execute(file, f"__dlt_source_{number}__", registry)
            except LocalPipelineError as error:
                faults.append(error)
            except Exception as error:
                if (type(error), str(error)) not in told:
                    faults.append(_at_users_line(error, file))
                    told.add((type(error), str(error)))
    return faults


def _execute(file: Path, name: str, registry: Registry) -> None:
    if file.suffix == ".sql":
        sql.run_file(file, registry.spark)
        return
    module = types.ModuleType(name)
    module.__file__ = str(file)
    module.__dict__["spark"] = registry.spark
    # Dataclasses and typing look their module up while the file runs.
    sys.modules[name] = module
    try:
        exec(compile(file.read_text(encoding="utf-8"), str(file), "exec"), module.__dict__)
    finally:
        del sys.modules[name]


def _at_users_line(error: Exception, file: Path) -> DeclarationError:
    if isinstance(error, SyntaxError):
        location = SourceLocation(error.filename or str(file), error.lineno or 1)
    else:
        frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(file)]
        location = SourceLocation(str(file), (frames[-1].lineno or 1) if frames else 1)
    fault = DeclarationError("SOURCE_FILE_FAILED", f"{type(error).__name__}: {error}", location)
    fault.__cause__ = error
    return fault
