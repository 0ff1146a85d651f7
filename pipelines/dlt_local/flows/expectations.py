"""Expectations as columns and filters. A row where a condition is null does not meet it, as on Databricks."""

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from dlt_local.declarations.elements import Expectation

ROWS = "rows"
"""Name of the metric that counts the rows before any is dropped."""
DROPPED = "dropped"
"""Name of the metric that counts the rows left out by `expect_or_drop`."""


def met(expectation: Expectation) -> Column:
    """Boolean, never null."""
    return F.coalesce(expectation.column, F.lit(False))


def metrics(expectations: Sequence[Expectation]) -> list[Column]:
    """Aggregates for `DataFrame.observe`: ``rows``, ``dropped``, then ``failed_0``, ``failed_1`` ..."""
    dropped = ~_all_met(expectations, "drop")
    return [
        F.count(F.lit(1)).alias(ROWS),
        F.count_if(dropped).alias(DROPPED),
        *(F.count_if(~met(e)).alias(f"failed_{i}") for i, e in enumerate(expectations)),
    ]


def enforce(frame: DataFrame, dataset: str, expectations: Sequence[Expectation]) -> DataFrame:
    """The same columns; rows that break an `expect_or_drop` are out, one that breaks an `expect_or_fail` raises.

    Dropping comes first: a row that is left out cannot fail the flow.
    """
    kept = frame.where(_all_met(expectations, "drop")) if _any(expectations, "drop") else frame
    for expectation in expectations:
        if expectation.action == "fail":
            row = F.to_json(F.struct(*[F.col(f"`{name}`") for name in frame.columns]))
            broken = F.raise_error(F.concat(F.lit(failure_text(dataset, expectation)), row)).cast("boolean")
            kept = kept.where(F.when(met(expectation), F.lit(True)).otherwise(broken))
    return kept


FAILURE = "EXPECTATION_FAILED"


def failure_text(dataset: str, expectation: Expectation) -> str:
    """How a broken `expect_or_fail` is told; the row follows as JSON."""
    return f"{FAILURE} {dataset}: expectation `{expectation.name}` ({expectation.text}) is not met by the row "


def _any(expectations: Sequence[Expectation], action: str) -> bool:
    return any(e.action == action for e in expectations)


def _all_met(expectations: Sequence[Expectation], action: str) -> Column:
    condition = F.lit(True)
    for expectation in expectations:
        if expectation.action == action:
            condition = condition & met(expectation)
    return condition
