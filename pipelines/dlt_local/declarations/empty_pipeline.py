"""A pipeline that declares no table: almost always a mistake, which an update must not report as complete."""

import re
from collections.abc import Sequence
from pathlib import Path

from dlt_local.declarations.registry import Registry
from dlt_local.errors import DeclarationError, SourceLocation

_MAIN = re.compile(r"^if\s+__name__\s*==\s*['\"]__main__['\"]\s*:", re.MULTILINE)


def nothing_declared(files: Sequence[Path], registry: Registry) -> DeclarationError:
    """The fault of source files that loaded without an error and declare neither a table nor a sink."""
    condition = "NO_TABLES_IN_PIPELINE"
    names = ", ".join(file.name for file in files[:3]) + (", ..." if len(files) > 3 else "")
    message = f"the source files declare no table ({names})"
    if registry.views:
        message = f"the source files declare views, {', '.join(registry.views)}, and no table: nothing would be written"
    for file in files:
        if file.suffix == ".py" and (found := _MAIN.search(text := file.read_text(encoding="utf-8"))):
            location = SourceLocation(str(file), text.count("\n", 0, found.start()) + 1)
            message += "; what stands below this `if` does not run in a pipeline, which imports the file"
            return DeclarationError(condition, message, location, "move the declarations out of the `if`")
    fix = "declare one with @dp.table, or correct the source files that are named"
    return DeclarationError(condition, message, SourceLocation(str(files[0]), 1), fix)
