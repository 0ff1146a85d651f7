"""Serves the engine's decorators as `dlt` and `pyspark.pipelines` while source files load."""

import functools
import sys
import threading
import types
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyspark

from dlt_local.declarations import decorators
from dlt_local.declarations.compatibility import refused_functions
from dlt_local.declarations.registry import caller
from dlt_local.errors import DeclarationError, did_you_mean

_MISSING = object()
# sys.modules and sys.path belong to the process, and two threads may load two pipelines at once.
_loading = threading.RLock()


def _module(name: str) -> types.ModuleType:
    module = types.ModuleType(name, "The decorators of Delta Live Tables, served by dlt_local.")
    for public in decorators.__all__:
        setattr(module, public, getattr(decorators, public))
    module.__dict__["__all__"] = [*decorators.__all__]
    # Python calls a module's own __getattr__ for names that it does not define.
    module.__dict__["__getattr__"] = functools.partial(_refuse, name)
    return module


def _refuse(module: str, name: str) -> object:
    if name.startswith("__"):
        raise AttributeError(name)
    reasons = refused_functions()
    if name in reasons:
        message = f"`{module}.{name}` does not run on this machine"
        raise DeclarationError("NOT_SUPPORTED_LOCALLY", message, caller(), reasons[name])
    near = did_you_mean(name, decorators.__all__)
    message = f"module `{module}` has no attribute `{name}`{near}"
    raise AttributeError(message)


@contextmanager
def pipeline_modules(root_path: Path | None) -> Iterator[None]:
    """Serve the decorators and put ``root_path`` on sys.path; restore sys.modules, pyspark and sys.path at the end.

    Modules imported from ``root_path`` in the block are unloaded as well, so a second pipeline in this process runs
    their declarations again.
    """
    with _loading:
        modules_before, path_before = dict(sys.modules), list(sys.path)
        pipelines_before = getattr(pyspark, "pipelines", _MISSING)
        sys.modules["dlt"] = _module("dlt")
        sys.modules["pyspark.pipelines"] = _module("pyspark.pipelines")
        pyspark.pipelines = sys.modules["pyspark.pipelines"]  # type: ignore[attr-defined]
        if root_path is not None:
            sys.path.insert(0, str(root_path))
        try:
            yield
        finally:
            sys.path[:] = path_before
            _restore(modules_before, root_path)
            if pipelines_before is _MISSING:
                del pyspark.pipelines  # type: ignore[attr-defined]
            else:
                pyspark.pipelines = pipelines_before  # type: ignore[attr-defined]


def _restore(before: dict[str, types.ModuleType], root_path: Path | None) -> None:
    for name, module in list(sys.modules.items()):
        if name in before:
            continue
        file = getattr(module, "__file__", None)
        from_root_path = root_path is not None and file is not None and Path(file).is_relative_to(root_path)
        if name in ("dlt", "pyspark.pipelines") or from_root_path:
            del sys.modules[name]
    for name in ("dlt", "pyspark.pipelines"):
        if name in before:
            sys.modules[name] = before[name]
