"""Spark's logical plans: a plan is a JVM object of type `Any`; walk it with `elements` and its own methods."""

from collections.abc import Iterator
from typing import Any

from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]
from pyspark.sql import DataFrame, SparkSession

from dlt_local.spark.jvm.gateway import elements, static


def analyzed_plan(frame: DataFrame) -> Any:
    """The analyzed logical plan of a frame."""
    return frame._jdf.queryExecution().analyzed()


def parsed_plan(session: SparkSession, statement: str) -> Any:
    """The logical plan of a SQL statement as parsed, not analyzed.

    Raises:
        ParseException: the statement is not valid SQL.
    """
    return session._jsparkSession.sessionState().sqlParser().parsePlan(statement)


def leaves(plan: Any) -> list[Any]:
    """The leaves of a plan, and those of all its subqueries."""
    plans = [plan, *elements(plan.subqueriesAll())]
    return [leaf for each in plans for leaf in elements(each.collectLeaves())]


def plan_text(plan: Any) -> str:
    """A plan as a tree for people. The active session's conf decides what it leaves out."""
    return str(plan.treeString())


def plan_json(plan: Any) -> str | None:
    """A plan as JSON, if it has one."""
    try:
        return str(plan.toJSON())
    except Py4JJavaError:
        return None


def check_streamable(frame: DataFrame, output_mode: str) -> None:
    """Refuse a stream that Spark cannot run in an output mode, `Append` or `Complete`.

    Raises:
        AnalysisException: it cannot, and why.
    """
    session = frame.sparkSession
    mode = static(session, f"org.apache.spark.sql.streaming.OutputMode.{output_mode}")()
    check = static(session, "org.apache.spark.sql.catalyst.analysis.UnsupportedOperationChecker.checkForStreaming")
    check(analyzed_plan(frame), mode)


def calls_python(session: SparkSession, plan: Any) -> bool:
    """True if a plan calls a Python function."""
    return has_any(session, plan, "PYTHON_UDF")


def is_of_the_moment(session: SparkSession, plan: Any) -> bool:
    """True if a plan asks for the current time or user, for a session's variable, or for what only Java knows."""
    return has_any(session, plan, "CURRENT_LIKE", "VARIABLE_REFERENCE", "SCALA_UDF")


def has_any(session: SparkSession, plan: Any, *patterns: str) -> bool:
    """True if a plan or one of its subqueries has something of these kinds, of Spark's `TreePattern`."""
    plans = [plan, *elements(plan.subqueriesAll())]
    wanted = [static(session, f"org.apache.spark.sql.catalyst.trees.TreePattern.{each}")() for each in patterns]
    return any(each.containsPattern(pattern) for each in plans for pattern in wanted)


def expressions(plan: Any) -> Iterator[Any]:
    """All expressions of a plan and of its subqueries, parents first. Slow: several calls of the JVM for each."""
    for each in [plan, *elements(plan.subqueriesAll())]:
        for operator in with_children(each):
            for top in elements(operator.expressions()):
                yield from with_children(top)


def with_children(node: Any) -> Iterator[Any]:
    """A node of a plan or of an expression and all below it, parents first."""
    yield node
    for child in elements(node.children()):
        yield from with_children(child)


def python_function(expression: Any) -> bytes | None:
    """The pickled function of a call of a Python UDF; None for any other expression."""
    if not str(expression.getClass().getSimpleName()).startswith("Python"):
        return None
    numbers = str(expression.func().command().mkString(","))
    return bytes(int(number) % 256 for number in numbers.split(","))
