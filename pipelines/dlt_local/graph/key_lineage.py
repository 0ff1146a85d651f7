"""Key lineage: the columns that a view passes through, so that its rows for some keys need only those keys."""

from collections.abc import Mapping
from typing import Any

from pyspark.sql import DataFrame

from dlt_local.spark import jvm


def passed_through_columns(frame: DataFrame) -> Mapping[str, str]:
    """The columns by which a query over one table can be refreshed in part, query's column -> table's column.

    For any set of values of these columns, the query's rows with those values are the query over the table's rows with
    those values. That holds for projections and filters, which look at one row at a time, and for a window by the
    columns of its PARTITION BY. Empty for every other query.
    """
    plan = jvm.analyzed_plan(frame)
    if not plan.deterministic() or plan.subqueriesAll().nonEmpty():
        return {}
    columns = _columns(plan)
    by_name = {attribute.name(): columns.get(_id(attribute)) for attribute in jvm.elements(plan.output())}
    return {name: column for name, column in by_name.items() if column is not None}


def _columns(plan: Any) -> dict[int, str]:
    """The plan's output columns that are passed through, Spark's expression id -> the table's column."""
    kind = plan.nodeName()
    children = jvm.elements(plan.children())
    if not children:
        output = jvm.elements(plan.output()) if kind == "LogicalRelation" else []
        return {_id(attribute): attribute.name() for attribute in output}
    if len(children) > 1:
        return {}
    below = _columns(children[0])
    match kind:
        case "SubqueryAlias" | "View" | "Filter":
            return below
        case "Project":
            projected = [(each, _attribute_id(each)) for each in jvm.elements(plan.projectList())]
            return {_id(each): below[source] for each, source in projected if source in below}
        case "Window":
            partition = {_attribute_id(each) for each in jvm.elements(plan.partitionSpec())}
            return {number: name for number, name in below.items() if number in partition}
        case _:
            return {}


def _attribute_id(expression: Any) -> int | None:
    """The id of the column that an expression is, renamed or not; None if it is more than a column."""
    inner = expression.child() if expression.nodeName() == "Alias" else expression
    return _id(inner) if inner.nodeName() == "AttributeReference" else None


def _id(named_expression: Any) -> int:
    return int(named_expression.exprId().id())
