"""`expect` and its variants: conditions on a dataset's rows, as decorators above or below `@table`."""

from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from pyspark.sql import Column, DataFrame

from dlt_local.declarations.elements import Action, ColumnLike, Expectation, Query
from dlt_local.declarations.registry import caller, current
from dlt_local.errors import DeclarationError
from dlt_local.names import TableName

F = TypeVar("F", bound=Callable[[], DataFrame])

# Attributes of the query function: expectations below `@table`, and the dataset that `@table` declared with it.
_EXPECTATIONS = "__dlt_local_expectations__"
_DATASET = "__dlt_local_dataset__"


def expect(name: str, inv: ColumnLike) -> Callable[[F], F]:
    """Count the rows that violate ``inv``, and keep them."""
    return _expect({name: inv}, "warn")


def expect_or_drop(name: str, inv: ColumnLike) -> Callable[[F], F]:
    """Count the rows that violate ``inv``, and drop them."""
    return _expect({name: inv}, "drop")


def expect_or_fail(name: str, inv: ColumnLike) -> Callable[[F], F]:
    """Fail the flow if a row violates ``inv``; nothing of that batch is written."""
    return _expect({name: inv}, "fail")


def expect_all(expectations: Mapping[str, ColumnLike]) -> Callable[[F], F]:
    """`expect` for each name and condition."""
    return _expect(expectations, "warn")


def expect_all_or_drop(expectations: Mapping[str, ColumnLike]) -> Callable[[F], F]:
    """`expect_or_drop` for each name and condition."""
    return _expect(expectations, "drop")


def expect_all_or_fail(expectations: Mapping[str, ColumnLike]) -> Callable[[F], F]:
    """`expect_or_fail` for each name and condition."""
    return _expect(expectations, "fail")


def expectations(conditions: Mapping[str, ColumnLike] | None, action: Action) -> tuple[Expectation, ...]:
    """An expectation per name and condition, all with the same action."""
    return tuple(Expectation(name, condition, action) for name, condition in (conditions or {}).items())


def expectations_of(query: Query) -> tuple[Expectation, ...]:
    """The expectations attached to a query that has not declared a dataset yet, top to bottom."""
    return tuple(getattr(query, _EXPECTATIONS, ()))


def bind(query: Query, dataset: TableName | str) -> None:
    """Note which dataset a query has declared; expectations attached later are added to that dataset."""
    setattr(query, _DATASET, dataset)


def attach(query: F, added: Iterable[Expectation]) -> F:
    """Put expectations above those that the query, or the dataset it has declared, already has."""
    dataset = getattr(query, _DATASET, None)
    for expectation in reversed(tuple(added)):
        if dataset is not None:
            current().add_expectation(dataset, expectation)
        else:
            setattr(query, _EXPECTATIONS, (expectation, *expectations_of(query)))
    return query


def _expect(conditions: Mapping[str, ColumnLike], action: Action) -> Callable[[F], F]:
    for condition in conditions.values():
        if not isinstance(condition, str | Column):
            message = f"the condition of an expectation must be SQL text or a column, got {condition!r}"
            raise DeclarationError("EXPECTATION_NOT_A_CONDITION", message, caller(), "write it as SQL text")
    return lambda query: attach(query, expectations(conditions, action))
