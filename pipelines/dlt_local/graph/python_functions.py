"""What a Python function computes, as text: its code, and all that the code refers to outside of installed packages.

Two functions with the same text give the same results for the same arguments. A function that cannot be known in this
way, because it imports a module of the project while it runs or holds an object of some library, has no text.
"""

import datetime
import decimal
import dis
import functools
import importlib.util
import json
import re
import sys
import types
import uuid
from collections.abc import Callable, Iterable, Iterator
from enum import Enum
from pathlib import PurePath
from typing import Any

from pyspark.sql.types import DataType

from dlt_local.declarations.installed import is_installed

_PLAIN = (
    *(type(None), bool, int, float, complex, str, bytes, type(...), range, type(NotImplemented)),
    *(decimal.Decimal, datetime.date, datetime.datetime, datetime.time, datetime.timedelta, datetime.timezone),
    *(uuid.UUID, re.Pattern),
)
"""Types whose `repr` says everything."""
_BUILTINS = (types.BuiltinFunctionType, types.MethodDescriptorType, types.WrapperDescriptorType)
_READS_MORE = frozenset({"open", "eval", "exec", "__import__", "globals", "import_module", "environ", "getenv"})
"""Names by which code reads what its text does not show."""
_NOT_OF_A_CLASS = ("__dict__", "__weakref__", "__module__", "__doc__", "__annotations__", "__static_attributes__")


class NotKnown(Exception):
    """A value that has no exact text."""


def text_of(value: object) -> str:
    """The text of a function, or of any other value that a function refers to.

    >>> add = lambda x: x + 1
    >>> text_of(add) == text_of(lambda x: x + 1), text_of(add) == text_of(lambda x: x + 1000)
    (True, False)

    Raises:
        NotKnown: it has none.
    """
    return json.dumps(_Description().of(value, frozenset()))


class _Description:
    """Describes values as JSON; what was described before, a function that calls itself, say, by its number."""

    def __init__(self) -> None:
        self._seen: dict[int, int] = {}
        # An id is unique only as long as its object lives.
        self._alive: list[object] = []

    def of(self, value: Any, names: frozenset[str]) -> object:
        """Describe a value; ``names`` are those that the code around it uses, which matter for a module."""
        kind = type(value)
        if kind in _PLAIN or isinstance(value, PurePath):
            return [kind.__name__, repr(value)]
        if kind in (list, tuple):
            return [kind.__name__, [self.of(each, names) for each in value]]
        if kind in (set, frozenset):
            return [kind.__name__, sorted(json.dumps(self.of(each, names)) for each in value)]
        if kind is dict:
            return ["dict", [[self.of(key, names), self.of(each, names)] for key, each in value.items()]]
        if isinstance(value, DataType):
            return ["type", value.json()]
        if id(value) in self._seen:
            return ["seen", self._seen[id(value)]]
        self._seen[id(value)] = len(self._seen)
        self._alive.append(value)
        return self._object(value, names)

    def _object(self, value: Any, names: frozenset[str]) -> object:
        match value:
            case types.CodeType():
                return self._code(value)
            case types.FunctionType():
                return self._installed_function(value) or self._function(value)
            case functools._lru_cache_wrapper():
                return ["cached", self.of(value.__wrapped__, names)]
            case types.ModuleType():
                return _installed(value) or ["module", self._members(vars(value), names)]
            case type():
                return _installed(value) or self._class(value)
            case types.MethodType():
                return ["method", self.of(value.__func__, names), self.of(value.__self__, names)]
            case functools.partial():
                return ["partial", *(self.of(each, names) for each in (value.func, value.args, value.keywords))]
            case staticmethod() | classmethod():
                return [type(value).__name__, self.of(value.__func__, names)]
            case property():
                return ["property", *(self.of(each, names) for each in (value.fget, value.fset))]
            case Enum():
                return ["enum", type(value).__qualname__, value.name, self.of(value.value, names)]
            case _ if isinstance(value, _BUILTINS):
                return self._builtin(value, names)
        if _installed(type(value)) is not None or not hasattr(value, "__dict__"):
            message = f"an object of class {type(value).__name__}"
            raise NotKnown(message)
        return ["object", self.of(type(value), names), self.of(vars(value), names)]

    def _installed_function(self, function: types.FunctionType) -> object | None:
        found = _installed(function)
        # A decorator of a package wraps a function of the project in one of its own.
        cells = [_content(cell) for cell in function.__closure__ or ()]
        return None if found is None else [found, self.of(cells, frozenset())]

    def _function(self, function: types.FunctionType) -> object:
        names = frozenset(_names(function.__code__))
        used = {name: each for name, each in function.__globals__.items() if name in names}
        if hidden := {name for name in names & _READS_MORE if name not in used}:
            message = f"a function that calls {', '.join(sorted(hidden))}"
            raise NotKnown(message)
        cells = [_content(cell) for cell in function.__closure__ or ()]
        parts = (function.__code__, function.__defaults__, function.__kwdefaults__, cells)
        return ["function", *(self.of(part, names) for part in parts), self._members(used, names)]

    def _members(self, members: dict[str, Any], names: Iterable[str]) -> object:
        known = frozenset(names)
        return [[name, self.of(members[name], known)] for name in sorted(known & members.keys())]

    def _class(self, kind: type) -> object:
        members = {name: each for name, each in vars(kind).items() if name not in _NOT_OF_A_CLASS}
        # Slots and the like are made by Python from what is described anyway.
        plain = {n: e for n, e in members.items() if not isinstance(e, types.GetSetDescriptorType)}
        bases = [self.of(base, frozenset()) for base in kind.__bases__]
        return ["class", kind.__qualname__, bases, self._members(plain, plain)]

    def _builtin(self, value: Any, names: frozenset[str]) -> object:
        owner = getattr(value, "__self__", None)
        bound = None if owner is None or isinstance(owner, types.ModuleType) else self.of(owner, names)
        return ["builtin", getattr(value, "__module__", None), value.__qualname__, bound]

    def _code(self, code: types.CodeType) -> object:
        for module in _imports(code):
            if not _is_installed_module(module):
                message = f"a function that imports {module} while it runs"
                raise NotKnown(message)
        shape = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags)
        names = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
        consts = [self.of(each, frozenset()) for each in code.co_consts]
        return ["code", code.co_code.hex(), code.co_exceptiontable.hex(), shape, names, consts]


def _content(cell: types.CellType) -> object:
    try:
        return cell.cell_contents
    except ValueError:
        return "an empty cell"


def _names(code: types.CodeType) -> Iterator[str]:
    yield from code.co_names
    for each in code.co_consts:
        if isinstance(each, types.CodeType):
            yield from _names(each)


def _imports(code: types.CodeType) -> Iterator[str]:
    return (str(each.argval) for each in dis.get_instructions(code) if each.opname == "IMPORT_NAME")


def _installed(value: Callable[..., object] | types.ModuleType) -> object | None:
    """The description of a module, class or function of Python or of an installed package; None for the project's."""
    name = value.__name__ if isinstance(value, types.ModuleType) else getattr(value, "__module__", None) or ""
    if isinstance(value, types.FunctionType):
        # A function of a source file that was unpickled has that file, but no module.
        if not is_installed(value.__code__.co_filename):
            return None
    elif not _is_installed_module(name):
        return None
    package = sys.modules.get(name.partition(".")[0])
    version = getattr(package, "__version__", sys.version)
    return ["installed", name, getattr(value, "__qualname__", ""), str(version)]


def _is_installed_module(name: str) -> bool:
    top = name.partition(".")[0]
    if top in sys.stdlib_module_names:
        return True
    module = sys.modules.get(name) or sys.modules.get(top)
    file = getattr(module, "__file__", None)
    if module is None:
        try:
            spec = importlib.util.find_spec(top)
        except (ImportError, ValueError):
            return False
        file = None if spec is None else spec.origin
    return file is not None and is_installed(file)
