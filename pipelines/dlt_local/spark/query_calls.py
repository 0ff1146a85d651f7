"""Calls of query functions: what one of them changes in its session is its own.

Databricks calls query functions one after the other. Here flows call theirs side by side on one session: of two that
make a temporary view `tmp`, one would read the other's rows. So a call goes on in a copy of the session from its first
temporary view, function, variable or setting on. The query that it returns needs no names: Spark has put what they mean
into its plan. If the call has set conf, the query runs in a session that has it too.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql.catalog import Catalog
from pyspark.sql.classic.dataframe import DataFrame as ClassicDataFrame
from pyspark.sql.udf import UDFRegistration
from pyspark.sql.udtf import UDTFRegistration

from dlt_local.names import parts
from dlt_local.spark import jvm
from dlt_local.spark.replaced_methods import ReplacedMethods

_BLANK = r"(?:\s|--[^\n]*\n|/\*.*?\*/)*"
_VIEW = re.compile(
    rf"{_BLANK}CREATE\s+(?:OR\s+REPLACE\s+)?(?P<global>GLOBAL\s+)?TEMP(?:ORARY)?\s+VIEW\s+(?:IF\s+NOT\s+EXISTS\s+)?"
    r"(?P<name>(?:`(?:[^`]|``)+`|\w+)(?:\.(?:`(?:[^`]|``)+`|\w+))*)",
    re.IGNORECASE | re.DOTALL,
)
_OTHER_CHANGE = re.compile(rf"{_BLANK}(CREATE\s.*?\bFUNCTION|DECLARE|SET|RESET|USE)\b", re.IGNORECASE | re.DOTALL)
_SCHEMA_OF_GLOBAL_VIEWS = "global_temp"


class Call(jvm.Copy):
    """One call of a query function."""

    def __init__(self, session: jvm.CopiedSession) -> None:
        super().__init__(session)
        self.views: set[str] = set()
        """Temporary views that it has made, in lower case."""

    def makes_view(self, name: str) -> None:
        """Note a temporary view, before it is made."""
        self.make()
        self.views.add(parts(name)[-1].lower())

    def own_view(self, name: tuple[str, ...]) -> str | None:
        """The view of the call that a name means; None if it means none of them."""
        is_plain = len(name) == 1 or (len(name) == 2 and name[0].lower() == _SCHEMA_OF_GLOBAL_VIEWS)
        return name[-1] if is_plain and name[-1].lower() in self.views else None


def current() -> Call | None:
    """The call that this thread is in."""
    copy = jvm.current_copy()
    return copy if isinstance(copy, Call) else None


@contextmanager
def calling(call: Call, conf: Mapping[str, str]) -> Iterator[None]:
    """Call a query function in a block, with conf of its own."""
    with _CHANGES.replaced(), jvm.copied_on_demand(call):
        for key, value in conf.items():
            call.session.conf.set(key, value)
        yield


@contextmanager
def outside() -> Iterator[None]:
    """Let the engine do in a block, in the middle of a call, what is not of the call."""
    with jvm.copied_on_demand(None):
        yield


def statement(text: str) -> str:
    """An SQL statement as a query function may run it: one that changes the session changes the call's copy."""
    call = current()
    if call is None:
        return text
    if view := _VIEW.match(text):
        call.makes_view(view["name"])
        # Those of Spark are the same for all copies of a session.
        return text if view["global"] is None else f"{text[: view.start('global')]}{text[view.end('global') :]}"
    if _OTHER_CHANGE.match(text):
        call.make()
    return text


def _change() -> None:
    if (call := current()) is not None:
        call.make()


class CopyingRegistration(UDFRegistration):
    """Registers functions in the call's copy of the session."""

    def register(self, *args: Any, **kwargs: Any) -> Any:
        """As Spark's."""
        _change()
        return super().register(*args, **kwargs)

    def registerJavaFunction(self, *args: Any, **kwargs: Any) -> None:
        """As Spark's."""
        _change()
        super().registerJavaFunction(*args, **kwargs)

    def registerJavaUDAF(self, *args: Any, **kwargs: Any) -> None:
        """As Spark's."""
        _change()
        super().registerJavaUDAF(*args, **kwargs)


class CopyingTableRegistration(UDTFRegistration):
    """Registers table functions likewise."""

    def register(self, *args: Any, **kwargs: Any) -> Any:
        """As Spark's."""
        _change()
        return super().register(*args, **kwargs)


_Method = tuple[type, str, Callable[..., Any]]


def _view(name: str, local: str) -> _Method:
    """A method that makes a temporary view, of the call's copy where there is a call."""
    plain, in_copy = vars(ClassicDataFrame)[name], vars(ClassicDataFrame)[local]

    def make(frame: DataFrame, view: str) -> None:
        call = current()
        if call is None:
            plain(frame, view)
        else:
            call.makes_view(view)
            in_copy(call.moved(frame), view)

    return ClassicDataFrame, name, make


def _of_catalog(name: str) -> _Method:
    """A method that changes the session's catalog."""
    plain = vars(Catalog)[name]

    def change(catalog: Catalog, *args: Any, **kwargs: Any) -> Any:
        if (call := current()) is not None:
            call.make()
            catalog = call.session.catalog
        return plain(catalog, *args, **kwargs)

    return Catalog, name, change


_CHANGES = ReplacedMethods(
    [
        _view("registerTempTable", "createOrReplaceTempView"),
        _view("createTempView", "createTempView"),
        _view("createOrReplaceTempView", "createOrReplaceTempView"),
        _view("createGlobalTempView", "createTempView"),
        _view("createOrReplaceGlobalTempView", "createOrReplaceTempView"),
        *map(_of_catalog, ("dropTempView", "setCurrentDatabase", "setCurrentCatalog")),
    ]
)
