"""`append_flow`: a query whose rows are appended to a streaming table or sink declared elsewhere."""

from collections.abc import Callable
from typing import TypeVar

from pyspark.sql import DataFrame

from dlt_local.declarations.elements import QueryFlow
from dlt_local.declarations.registry import caller, current
from dlt_local.declarations.table_options import Properties
from dlt_local.errors import DeclarationError

F = TypeVar("F", bound=Callable[[], DataFrame])


def append_flow(
    name: str | None = None,
    target: str | None = None,
    comment: str | None = None,
    spark_conf: Properties = None,
    once: bool = False,
) -> Callable[[F], F]:
    """Declare a flow that appends its query's rows to a streaming table or sink declared elsewhere.

    Args:
        name: the flow's name, by default the function's; the checkpoint is found by it.
        target: the table or sink.
        comment: for readers of the source.
        spark_conf: Spark conf for the duration of the flow.
        once: run a batch query once in the target's life (again after a full refresh).

    Raises:
        DeclarationError: no target is given.
    """

    def declare(query: F) -> F:
        registry, location = current(), caller()
        flow_name = name or query.__name__
        if not target:
            message = f"append flow `{flow_name}` has no target"
            raise DeclarationError("MISSING_TARGET", message, location, "give `target=`, the table it appends to")
        is_sink = target.lower() in {sink.lower() for sink in registry.sinks}
        full_target = target if is_sink else registry.name(target)
        conf = dict(spark_conf or {})
        registry.add_flow(QueryFlow(flow_name, full_target, location, query, once=once, spark_conf=conf))
        return query

    return declare
