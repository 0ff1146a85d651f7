"""Java's classes, static methods and collections by way of py4j."""

from typing import Any

from py4j import protocol  # type: ignore[import-untyped]
from py4j.java_gateway import JavaClass, JavaMember  # type: ignore[import-untyped]
from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

PYTHON_UTILS = "org.apache.spark.api.python.PythonUtils"
"""Spark's conversions of collections, by name."""


def java_class(session: SparkSession, name: str) -> Any:
    """A class by its full name, to make objects of it.

    `session._jvm.java.util.HashMap` asks Java at each dot.
    """
    return JavaClass(name, _client(session))


def static(session: SparkSession, name: str) -> Any:
    """A static method by the full name of its class and its own: `java.lang.Math.abs`."""
    of_class, _, method = name.rpartition(".")
    return JavaMember(method, None, f"{protocol.STATIC_PREFIX}{of_class}", _client(session))


def _client(session: SparkSession) -> Any:
    assert session._jvm is not None
    return session._jvm._gateway_client


def some(session: SparkSession, value: object) -> Any:
    """A Scala Some of a value; None, in Scala, of None."""
    return static(session, "scala.Option.apply")(value)


def scala_seq(session: SparkSession, values: Any) -> Any:
    """A Scala Seq of the values of a Python or Java list."""
    return static(session, f"{PYTHON_UTILS}.toSeq")(values)


def scala_map(session: SparkSession, values: dict[str, str]) -> Any:
    """A Scala Map of these values."""
    return static(session, f"{PYTHON_UTILS}.toScalaMap")(values)


def java_schema(session: SparkSession, schema: StructType) -> Any:
    """A schema as Java has it."""
    return static(session, "org.apache.spark.sql.types.DataType.fromJson")(schema.json())


def elements(sequence: Any) -> list[Any]:
    """The elements of a Scala Seq."""
    return [sequence.apply(index) for index in range(sequence.size())]


def entries(options: Any) -> dict[str, str]:
    """The entries of a Scala Map of strings."""
    keys = options.keysIterator()
    found: dict[str, str] = {}
    while keys.hasNext():
        key = keys.next()
        found[key] = options.apply(key)
    return found
