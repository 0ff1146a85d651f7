"""While source files load, `import dlt` and `from pyspark import pipelines` give the engine's decorators."""

import functools
import sys
import threading
import types
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyspark

from dlt_local.declarations import auto_cdc_decorators, decorators
from dlt_local.declarations.compatibility import refused_functions
from dlt_local.declarations.registry import caller
from dlt_local.errors import DeclarationError, did_you_mean

_MISSING = object()
# sys.modules and sys.path are the process's: two pipelines may load at once from two threads.
_loading = threading.RLock()


def _module(name: str) -> types.ModuleType:
    module = types.ModuleType(name, "The decorators of Delta Live Tables, served by dlt_local.")
    for source in (decorators, auto_cdc_decorators):
        for public in source.__all__:
            setattr(module, public, getattr(source, public))
    module.__dict__["__all__"] = [*decorators.__all__, *auto_cdc_decorators.__all__]
    # Python asks a module's own __getattr__ for the names that it has not.
    module.__dict__["__getattr__"] = functools.partial(_refuse, name)
    return module


def _refuse(module: str, name: str) -> object:
    if name.startswith("__"):
        raise AttributeError(name)
    reasons = refused_functions()
    if name in reasons:
        message = f"`{module}.{name}` does not run on this machine"
        raise DeclarationError("NOT_SUPPORTED_LOCALLY", message, caller(), reasons[name])
    near = did_you_mean(name, [*decorators.__all__, *auto_cdc_decorators.__all__])
    message = f"module `{module}` has no attribute `{name}`{near}"
    raise AttributeError(message)


@contextmanager
def pipeline_modules(root_path: Path | None) -> Iterator[None]:
    """Serve the decorators and put ``root_path`` on sys.path; leave sys.modules, pyspark and sys.path as they were.

    Modules that source files import from ``root_path`` meanwhile are forgotten afterwards, so that a second
    pipeline in this process runs their declarations anew.
    """
    with _loading:
        modules_before, path_before = dict(sys.modules), list(sys.path)
        attribute_before = getattr(pyspark, "pipelines", _MISSING)
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
            if attribute_before is _MISSING:
                del pyspark.pipelines  # type: ignore[attr-defined]
            else:
                pyspark.pipelines = attribute_before  # type: ignore[attr-defined]


def _restore(before: dict[str, types.ModuleType], root_path: Path | None) -> None:
    for name, module in list(sys.modules.items()):
        if name in before:
            continue
        file = getattr(module, "__file__", None)
        of_the_pipeline = root_path is not None and file is not None and Path(file).is_relative_to(root_path)
        if name in ("dlt", "pyspark.pipelines") or of_the_pipeline:
            del sys.modules[name]
    for name in ("dlt", "pyspark.pipelines"):
        if name in before:
            sys.modules[name] = before[name]
