"""Serves `dlt` and `pyspark.pipelines` while source files load and queries run, and the project's own modules."""

import functools
import hashlib
import os
import sys
import threading
import types
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pyspark

from dlt_local.declarations import decorators
from dlt_local.declarations.compatibility import refused_functions
from dlt_local.declarations.databricks import DBUtils
from dlt_local.declarations.installed import is_installed
from dlt_local.declarations.registry import caller, current
from dlt_local.errors import DeclarationError, did_you_mean
from dlt_local.spark.temporary import folder_of_process

_MISSING = object()
_SERVED = ("dlt", "pyspark.pipelines")
_turn = threading.Condition(threading.RLock())
_present: "PipelineModules | None" = None
"""The pipeline whose modules are there."""


def _module(name: str) -> types.ModuleType:
    module = types.ModuleType(name, "The decorators of Delta Live Tables, served by dlt_local.")
    for public in decorators.__all__:
        setattr(module, public, getattr(decorators, public))
    module.__dict__["__all__"] = [*decorators.__all__]
    # Python calls a module's own __getattr__ for names that it does not define.
    module.__dict__["__getattr__"] = functools.partial(_refuse, name)
    return module


def _utilities() -> types.ModuleType:
    """A module `pyspark.dbutils`, which only Databricks has: with `DBUtils(spark)` helpers get `dbutils`."""
    module = types.ModuleType("pyspark.dbutils", "The utilities of Databricks, served by dlt_local.")
    module.__dict__["DBUtils"] = lambda *session: DBUtils(current())
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
    """Serve the decorators in a block; modules that are imported from ``root_path`` are unloaded at its end."""
    with PipelineModules([] if root_path is None else [root_path]).present():
        yield


class PipelineModules:
    """The modules of one pipeline: the decorators, and what its source files import from the project.

    They are there while the pipeline loads, evaluates a query or calls a function of its user, on any thread of it, and
    nowhere else: modules and sys.path belong to the process, so two pipelines take turns.
    """

    def __init__(self, paths: Sequence[Path], environment: MutableMapping[str, str] | None = None) -> None:
        """Describe the modules; nothing is imported yet.

        Args:
            paths: the folders to import from; the first one comes before all others, the rest after them.
            environment: of Python workers, if they have to find the modules too.
        """
        self._paths = tuple(paths)
        self._environment = environment
        self._own = {name: _module(name) for name in _SERVED} | {"pyspark.dbutils": _utilities()}
        self._threads = 0
        self._before: _Process | None = None

    @contextmanager
    def present(self) -> Iterator[None]:
        """Have the modules in a block, once no other pipeline has its own there."""
        global _present
        with _turn:
            _turn.wait_for(lambda: _present is None or _present is self)
            if self._threads == 0:
                self._enter()
            _present = self
            self._threads += 1
        try:
            yield
        finally:
            with _turn:
                self._threads -= 1
                if self._threads == 0:
                    self._leave()
                    _present = None
                    _turn.notify_all()

    def _enter(self) -> None:
        state = "" if self._environment is None else self._state()
        self._before = _Process(dict(sys.modules), list(sys.path), getattr(pyspark, "pipelines", _MISSING))
        sys.modules.update(self._own)
        pyspark.pipelines = self._own["pyspark.pipelines"]  # type: ignore[attr-defined]
        first, rest = self._paths[:1], self._paths[1:]
        sys.path[:] = [*map(str, first), *sys.path, *map(str, rest)]
        if self._environment is not None:
            for_workers = [*map(str, self._paths), str(_for_workers())]
            self._environment["PYTHONPATH"] = os.pathsep.join([*for_workers, os.environ.get("PYTHONPATH", "")])
            # A worker keeps the modules that it has imported, and serves only calls with the environment it began with.
            self._environment["DLT_LOCAL_MODULES"] = state

    def _leave(self) -> None:
        assert self._before is not None
        before, self._before = self._before, None
        # Source files add paths once, while they load; queries and workers need them later.
        added = (Path(path) for path in sys.path if path not in before.path)
        self._paths = tuple(dict.fromkeys((*self._paths, *added)))
        self._own |= {name: each for name, each in sys.modules.items() if self._is_of_project(name, each, before)}
        for name in self._own:
            if name in before.modules:
                sys.modules[name] = before.modules[name]
            else:
                sys.modules.pop(name, None)
        sys.path[:] = before.path
        if before.pipelines is _MISSING:
            del pyspark.pipelines  # type: ignore[attr-defined]
        else:
            pyspark.pipelines = before.pipelines  # type: ignore[attr-defined]
        if self._environment is not None:
            for key in ("PYTHONPATH", "DLT_LOCAL_MODULES"):
                self._environment.pop(key, None)

    def _is_of_project(self, name: str, module: types.ModuleType, before: "_Process") -> bool:
        """True for a module that was imported from the pipeline's paths."""
        if name in self._own or name in before.modules:
            return False
        places = [getattr(module, "__file__", None), *getattr(module, "__path__", ())]
        return any(
            not is_installed(place) and any(Path(place).is_relative_to(path) for path in self._paths)
            for place in places
            if place is not None
        )

    def _state(self) -> str:
        """A text that changes when a Python file that workers may import does."""
        files = {Path(str(each.__file__)) for each in self._own.values() if getattr(each, "__file__", None)}
        folders = {*self._paths, *(file.parent for file in files)}
        entries = [entry for folder in folders if folder.is_dir() for entry in os.scandir(folder)]
        listed = sorted((entry.path, entry.stat().st_mtime_ns) for entry in entries if entry.name.endswith(".py"))
        return hashlib.sha256(repr(listed).encode()).hexdigest()[:16]


@dataclass(frozen=True)
class _Process:
    """What of the process a pipeline's modules replace."""

    modules: Mapping[str, types.ModuleType]
    path: list[str]
    pipelines: object


@functools.cache
def _for_workers() -> Path:
    """A folder with a `dlt` that declares nothing: a worker may import a module of the project that declares too."""
    folder = folder_of_process()
    (folder / "dlt.py").write_text(
        "def __getattr__(name):\n"
        "    return lambda *given, **options: given[0] if given and callable(given[0]) else lambda function: function\n"
    )
    return folder
