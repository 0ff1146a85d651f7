"""What a query function changes in its session belongs to one call of it, and such calls take turns.

Databricks calls query functions one after the other. Here flows call theirs side by side on one session: of two that
make a temporary view `tmp`, one would read the other's rows. So from its first temporary view or function until it
returns, a call keeps out all others that make some, and when it returns, the session has what it had before. What it
returns needs none of them: Spark has put them into the query's plan.

Conf is different, as queries run with it after the call has returned. What query functions set while the graph is
resolved is the conf of the whole update, so a setting can have only one value.
"""

import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Protocol

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.classic.dataframe import DataFrame as ClassicDataFrame
from pyspark.sql.udf import UDFRegistration
from pyspark.sql.udtf import UDTFRegistration

from dlt_local.names import parts
from dlt_local.spark import jvm
from dlt_local.spark.replaced_methods import ReplacedMethods

_BLANK = r"(?:\s|--[^\n]*\n|/\*.*?\*/)*"
_TEMPORARY = re.compile(
    rf"""{_BLANK}CREATE\s+(?:OR\s+REPLACE\s+)?(?P<global>GLOBAL\s+)?TEMP(?:ORARY)?\s+(?P<kind>VIEW|FUNCTION)\s+"""
    r"""(?:IF\s+NOT\s+EXISTS\s+)?(?P<name>(?:`(?:[^`]|``)+`|\w+)(?:\.(?:`(?:[^`]|``)+`|\w+))*)""",
    re.IGNORECASE | re.DOTALL,
)
_VARIABLE = re.compile(rf"{_BLANK}(DECLARE|SET\s+VAR(IABLE)?)\s", re.IGNORECASE | re.DOTALL)
_SET = re.compile(rf"{_BLANK}SET\s+(?P<key>[\w.]+)\s*=\s*(?P<value>.*?)\s*;?\s*", re.IGNORECASE | re.DOTALL)


class Rules(Protocol):
    """What a pipeline's query functions must not do to their session."""

    def check_view(self, name: str) -> None:
        """Refuse a name that a temporary view must not have."""

    def conf_refused(self, key: str, value: str | None, other: str | None) -> Exception:
        """The error of a query function that sets conf to ``value`` where the update has ``other``; None is unset."""


class QueryCalls:
    """The calls of query functions in one update."""

    def __init__(self, session: SparkSession, rules: Rules) -> None:
        """Take what the calls share.

        Args:
            session: the pipeline's session.
            rules: refuse what other calls would suffer from.
        """
        self.session = session
        self.rules = rules
        self.turn = threading.RLock()
        self.conf: dict[str, str | None] = {}
        """What query functions have set."""
        self.is_resolving = True
        """Whether they may set more of it."""

    @contextmanager
    def call(self) -> Iterator[None]:
        """Call a query function in a block."""
        call = _Call(self)
        token = _current.set(call)
        try:
            with _VIEWS.replaced():
                yield
        finally:
            _current.reset(token)
            call.end()


class _Call:
    def __init__(self, calls: QueryCalls) -> None:
        self.has_turn = False
        self._calls = calls
        self._restore: dict[tuple[str, str], Callable[[], None]] = {}
        """Kind and name in lower case -> gives the session what had the name before."""

    def take_turn(self) -> None:
        if not self.has_turn:
            self._calls.turn.acquire()
            self.has_turn = True

    def makes_view(self, name: str, *, is_global: bool = False) -> None:
        bare = parts(name)[-1]
        if not is_global:
            self._calls.rules.check_view(bare)
        self._makes("global view" if is_global else "view", bare, jvm.restoring_view(is_global))

    def makes_function(self, name: str) -> None:
        self._makes("function", parts(name)[-1], jvm.restoring_function)

    def _makes(self, kind: str, name: str, restoring: Callable[[SparkSession, str], Callable[[], None]]) -> None:
        self.take_turn()
        if (kind, name.lower()) not in self._restore:
            self._restore[kind, name.lower()] = restoring(self._calls.session, name)

    def sets_conf(self, key: str, value: str | None) -> None:
        """Refuse a second value of a setting, and one that the graph was not resolved with."""
        calls = self._calls
        other = calls.conf.get(key, value) if calls.is_resolving else calls.session.conf.get(key, None)
        if other != value:
            raise calls.rules.conf_refused(key, value, other)
        calls.conf[key] = value

    def end(self) -> None:
        if not self.has_turn:
            return
        try:
            for restore in self._restore.values():
                restore()
        finally:
            self._calls.turn.release()


_current: ContextVar[_Call | None] = ContextVar("query_call", default=None)


def has_turn() -> bool:
    """True in a call that keeps others out."""
    call = _current.get()
    return call is not None and call.has_turn


@contextmanager
def outside() -> Iterator[None]:
    """Let the engine do in a block, in the middle of a call, what is not of the call."""
    token = _current.set(None)
    try:
        yield
    finally:
        _current.reset(token)


def note_statement(text: str) -> None:
    """Note what an SQL statement of a query function is about to change in the session."""
    call = _current.get()
    if call is None:
        return
    if made := _TEMPORARY.match(text):
        if made["kind"].upper() == "VIEW":
            call.makes_view(made["name"], is_global=bool(made["global"]))
        else:
            call.makes_function(made["name"])
    elif setting := _SET.fullmatch(text):
        call.sets_conf(setting["key"], setting["value"])
    elif _VARIABLE.match(text):
        call.take_turn()


def note_conf(key: str, value: str | int | bool | None) -> None:
    """Note what a query function is about to set in its session's conf."""
    if (call := _current.get()) is not None:
        text = str(value).lower() if isinstance(value, bool) else str(value)
        call.sets_conf(key, None if value is None else text)


class SharedConf(jvm.Conf):
    """A session's conf, which query functions set for all of them."""

    def set(self, key: str, value: str | int | bool) -> None:
        """As Spark's."""
        note_conf(key, value)
        super().set(key, value)

    def unset(self, key: str) -> None:
        """As Spark's."""
        note_conf(key, None)
        super().unset(key)


class CallRegistration(UDFRegistration):
    """Registers functions; one of a query function is gone when that returns."""

    def register(self, name: str, *args: Any, **kwargs: Any) -> Any:
        """As Spark's."""
        _makes_function(name)
        return super().register(name, *args, **kwargs)

    def registerJavaFunction(self, name: str, *args: Any, **kwargs: Any) -> None:
        """As Spark's."""
        _makes_function(name)
        super().registerJavaFunction(name, *args, **kwargs)

    def registerJavaUDAF(self, name: str, *args: Any, **kwargs: Any) -> None:
        """As Spark's."""
        _makes_function(name)
        super().registerJavaUDAF(name, *args, **kwargs)


class CallTableRegistration(UDTFRegistration):
    """Registers table functions; query functions that do take turns."""

    def register(self, name: str, *args: Any, **kwargs: Any) -> Any:
        """As Spark's."""
        if (call := _current.get()) is not None:
            call.take_turn()
        return super().register(name, *args, **kwargs)


def _makes_function(name: str) -> None:
    if (call := _current.get()) is not None:
        call.makes_function(name)


def _noted(name: str, *, is_global: bool) -> tuple[type, str, Callable[[DataFrame, str], None]]:
    """A method that makes a temporary view, noting it first."""
    original = vars(ClassicDataFrame)[name]

    def make(frame: DataFrame, view: str) -> None:
        if (call := _current.get()) is not None:
            call.makes_view(view, is_global=is_global)
        original(frame, view)

    return ClassicDataFrame, name, make


_VIEWS = ReplacedMethods(
    [
        _noted("registerTempTable", is_global=False),
        _noted("createTempView", is_global=False),
        _noted("createOrReplaceTempView", is_global=False),
        _noted("createGlobalTempView", is_global=True),
        _noted("createOrReplaceGlobalTempView", is_global=True),
    ]
)
