"""Fewer calls of Java for each column expression: the decoding of one table makes a thousand of them.

pyspark asks Java for a class and for its method before each call of a function, and hands a list over element by
element. Here Java's classes of column expressions stay known, and a list goes ten elements at a time.
"""

from typing import Any

from py4j.java_gateway import JavaClass, JavaMember  # type: ignore[import-untyped]
from pyspark.sql import SparkSession

from dlt_local.spark.jvm.gateway import PYTHON_UTILS, java_class, scala_seq, static

_FUNCTIONS = "org.apache.spark.sql.functions"
_PYTHON_SQL_UTILS = "org.apache.spark.sql.api.python.PythonSQLUtils"
# As pyspark asks for them.
_NAMES = {
    _FUNCTIONS: _FUNCTIONS,
    "functions": _FUNCTIONS,
    "PythonUtils": PYTHON_UTILS,
    PYTHON_UTILS: PYTHON_UTILS,
    "PythonSQLUtils": _PYTHON_SQL_UTILS,
    _PYTHON_SQL_UTILS: _PYTHON_SQL_UTILS,
}
_MOST_ELEMENTS = 10
"""Of Java's `List.of`."""


def call_java_less(session: SparkSession) -> None:
    """Let column expressions of this process, whatever their session, take fewer calls of Java."""
    view = session._jvm
    assert view is not None
    if "functions" in vars(view):
        return
    classes = {name: _KnownClass(name, view._gateway_client) for name in {*_NAMES.values()}}

    def to_seq(values: Any) -> Any:
        return scala_seq(session, _java_list(session, values))

    classes[PYTHON_UTILS].__dict__["toSeq"] = to_seq
    view.__dict__.update({name: classes[of_class] for name, of_class in _NAMES.items()})


class _KnownClass(JavaClass):  # type: ignore[misc]
    """A Java class whose static methods are looked up once."""

    def __getattr__(self, name: str) -> Any:
        found = super().__getattr__(name)
        if isinstance(found, JavaMember):
            self.__dict__[name] = found
        return found


def _java_list(session: SparkSession, values: Any) -> Any:
    """A Java list of the elements of a Python list; anything else as it is."""
    if not isinstance(values, list | tuple) or any(each is None for each in values):
        return values
    list_of = static(session, "java.util.List.of")
    parts = [list_of(*values[start : start + _MOST_ELEMENTS]) for start in range(0, len(values), _MOST_ELEMENTS)]
    if len(parts) == 1:
        return parts[0]
    whole = java_class(session, "java.util.ArrayList")()
    for part in parts:
        whole.addAll(part)
    return whole
