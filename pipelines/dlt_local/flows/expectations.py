"""Expectations as columns, filters and metrics; a row for which a condition is null does not meet it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame, Observation
from pyspark.sql import functions as F

from dlt_local.declarations.elements import Expectation, Table
from dlt_local.flows.outcomes import FlowMetrics
from dlt_local.spark.observations import observed_metrics

FAILURE = "EXPECTATION_FAILED"
_ROWS, _DROPPED = "rows", "dropped"


@dataclass(frozen=True)
class CheckedRows:
    """Rows with a table's expectations enforced; they are counted while they are written."""

    frame: DataFrame
    _rules: tuple[Expectation, ...]
    _observation: Observation | None

    def metrics(self) -> FlowMetrics:
        """Rows checked, dropped and failed; waits for the frame to be written."""
        return (
            FlowMetrics() if self._observation is None else _metrics(self._rules, observed_metrics(self._observation))
        )


def checked(frame: DataFrame, table: Table) -> CheckedRows:
    """Enforce a table's expectations on rows that will be written exactly once.

    Grain and columns: those of the frame.
    """
    rules = table.expectations
    if not rules:
        return CheckedRows(frame, rules, None)
    observation = Observation()
    observed = frame.observe(observation, *_aggregates(rules))
    return CheckedRows(enforce(observed, str(table.name), rules), rules, observation)


def check_now(frame: DataFrame, table: Table) -> tuple[DataFrame, FlowMetrics]:
    """Enforce a table's expectations on rows that will be read more than once, and count them in a query of its own.

    Grain and columns: those of the frame.
    """
    rules = table.expectations
    if not rules:
        return frame, FlowMetrics()
    counts = frame.agg(*_aggregates(rules)).head()
    assert counts is not None
    return enforce(frame, str(table.name), rules), _metrics(rules, counts.asDict())


def enforce(frame: DataFrame, dataset: str, expectations: Sequence[Expectation]) -> DataFrame:
    """The same columns without the rows that break an `expect_or_drop`; one that breaks an `expect_or_fail` raises.

    Dropping comes first: a row that is left out cannot fail the flow.
    """
    valid = frame.where(_all_met(expectations, "drop")) if any(e.action == "drop" for e in expectations) else frame
    for expectation in expectations:
        if expectation.action == "fail":
            row = F.to_json(F.struct(*[F.col(f"`{name}`") for name in frame.columns]))
            broken = F.raise_error(F.concat(F.lit(_failure_text(dataset, expectation)), row)).cast("boolean")
            valid = valid.where(F.when(_met(expectation), F.lit(True)).otherwise(broken))
    return valid


def _failure_text(dataset: str, expectation: Expectation) -> str:
    """Message of a broken `expect_or_fail`; the row follows it as JSON."""
    return f"{FAILURE} {dataset}: expectation `{expectation.name}` ({expectation.text}) is not met by the row "


def _met(expectation: Expectation) -> Column:
    """Boolean, never null."""
    return F.coalesce(expectation.column, F.lit(False))


def _all_met(expectations: Sequence[Expectation], action: str) -> Column:
    condition = F.lit(True)
    for expectation in expectations:
        if expectation.action == action:
            condition = condition & _met(expectation)
    return condition


def _aggregates(expectations: Sequence[Expectation]) -> list[Column]:
    """All rows, those that `expect_or_drop` leaves out, and per expectation those that do not meet it."""
    return [
        F.count(F.lit(1)).alias(_ROWS),
        F.count_if(~_all_met(expectations, "drop")).alias(_DROPPED),
        *(F.count_if(~_met(e)).alias(_failed(number)) for number, e in enumerate(expectations)),
    ]


def _metrics(expectations: Sequence[Expectation], counts: Mapping[str, object]) -> FlowMetrics:
    def count(name: str) -> int:
        return int(str(counts[name]))

    failed: dict[str, int] = {}
    for number, expectation in enumerate(expectations):
        failed[expectation.name] = failed.get(expectation.name, 0) + count(_failed(number))
    return FlowMetrics(dropped_rows=count(_DROPPED), failed=failed, checked_rows=count(_ROWS))


def _failed(number: int) -> str:
    return f"failed_{number}"
