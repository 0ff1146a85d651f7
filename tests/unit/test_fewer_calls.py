"""Column expressions take fewer calls of Java, and mean what they meant."""

from collections.abc import Iterator

import pytest
from py4j.clientserver import JavaClient  # type: ignore[import-untyped]
from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as F

from dlt_local.spark import jvm


@pytest.fixture(autouse=True)
def fewer(spark: SparkSession) -> None:
    jvm.call_java_less(spark)


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Calls of Java, but for those that free objects."""
    made: list[str] = []
    send = JavaClient.send_command

    def counted(self: JavaClient, command: str, *rest: object, **named: object) -> object:
        if not command.startswith("m\n"):
            made.append(command)
        return send(self, command, *rest, **named)

    monkeypatch.setattr(JavaClient, "send_command", counted)
    yield made


def value(spark: SparkSession, column: Column) -> object:
    """The expression's value."""
    (row,) = spark.range(1).select(column).collect()
    return row[0]


@pytest.mark.parametrize("count", [1, 2, 10, 11, 20, 21, 35])
def test_every_column_of_a_list_arrives_in_its_place(spark: SparkSession, count: int) -> None:
    words = [f"w{number}" for number in range(count)]
    assert value(spark, F.concat_ws(" ", *map(F.lit, words))) == " ".join(words)
    assert value(spark, F.lit(words[-1]).isin(words)) is True
    assert value(spark, F.lit("none").isin(words)) is False


def test_functions_and_operators_mean_what_they_meant(spark: SparkSession) -> None:
    assert value(spark, ~F.lit(True)) is False
    assert value(spark, -(F.lit(3) ** 2)) == -9
    assert value(spark, F.transform(F.array(F.lit(1), F.lit(2)), lambda each: each + 1)) == [2, 3]
    assert value(spark, F.lit("a").isin([])) is False
    assert value(spark, F.lit("a").isin("b", None)) is None


def test_a_function_that_spark_lacks_is_refused_as_before(spark: SparkSession) -> None:
    assert spark._jvm is not None
    with pytest.raises(Py4JError, match="no_such_function does not exist"):
        _ = spark._jvm.functions.no_such_function


def test_a_function_is_one_call(spark: SparkSession, calls: list[str]) -> None:
    columns = [F.lit("a"), F.lit("b"), F.lit("c")]
    F.coalesce(*columns)
    calls.clear()
    F.coalesce(*columns)
    # The list, as Java's, as Scala's, and the function.
    assert len(calls) == 3
    F.length(columns[0])
    calls.clear()
    F.length(columns[0])
    assert len(calls) == 1
