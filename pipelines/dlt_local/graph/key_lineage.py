"""Which columns a view hands on so that its rows of some keys follow from its source's rows of those keys alone."""

from collections.abc import Mapping
from typing import Any

from pyspark.sql import DataFrame


def passed_through_columns(frame: DataFrame) -> Mapping[str, str]:
    """The columns by which a query of one table can be cut, its own name -> the table's; none where it cannot be.

    A query of projections and filters is a function of each row; a window sees no further than its PARTITION BY. For
    any set of values of the columns given, the query's rows with those values are the query over the table's rows with
    those values. Classic Spark only: the plan is the JVM's.
    """
    plan = frame._jdf.queryExecution().analyzed()
    if not plan.deterministic() or plan.subqueriesAll().nonEmpty():
        return {}
    columns = _columns(plan)
    named = {attribute.name(): columns.get(attribute.exprId().id()) for attribute in _each(plan.output())}
    return {name: column for name, column in named.items() if column is not None}


def _columns(plan: Any) -> dict[int, str]:
    """The columns of the plan's output that are the table's own, by the number that Spark gives each."""
    kind = plan.nodeName()
    children = _each(plan.children())
    if not children:
        return {each.exprId().id(): each.name() for each in _each(plan.output())} if _is_table(kind) else {}
    if len(children) > 1:
        return {}
    below = _columns(children[0])
    match kind:
        case "SubqueryAlias" | "View" | "Filter":
            return below
        case "Project":
            named = [(each, _attribute(each)) for each in _each(plan.projectList())]
            return {each.exprId().id(): below[of] for each, of in named if of in below}
        case "Window":
            within = {_attribute(each) for each in _each(plan.partitionSpec())}
            return {number: name for number, name in below.items() if number in within}
        case _:
            return {}


def _is_table(kind: str) -> bool:
    return kind == "LogicalRelation"


def _attribute(expression: Any) -> int | None:
    """The number of the column that the expression is, be it under another name; None where it is no plain column."""
    inner = expression.child() if expression.nodeName() == "Alias" else expression
    return int(inner.exprId().id()) if inner.nodeName() == "AttributeReference" else None


def _each(sequence: Any) -> list[Any]:
    return [sequence.apply(place) for place in range(sequence.size())]
