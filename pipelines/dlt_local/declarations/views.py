"""`temporary_view`: a named query inside the pipeline, never stored."""

from collections.abc import Callable
from typing import TypeVar, overload

from pyspark.sql import DataFrame

from dlt_local.declarations.elements import View
from dlt_local.declarations.expectations import bind, expectations_of
from dlt_local.declarations.registry import caller, current
from dlt_local.declarations.table_options import Properties
from dlt_local.declarations.tables import check_is_function

F = TypeVar("F", bound=Callable[[], DataFrame])


@overload
def temporary_view(query_function: F, /) -> F: ...


@overload
def temporary_view(
    query_function: None = None,
    /,
    name: str | None = None,
    comment: str | None = None,
    spark_conf: Properties = None,
) -> Callable[[F], F]: ...


def temporary_view(
    query_function: F | None = None,
    /,
    name: str | None = None,
    comment: str | None = None,
    spark_conf: Properties = None,
) -> F | Callable[[F], F]:
    """Declare a view: a named query that only this pipeline sees and that is never stored."""

    def declare(query: F) -> F:
        check_is_function(query, "temporary_view")
        view_name = name or query.__name__
        conf = dict(spark_conf or {})
        current().add(View(view_name, caller(), query, comment, conf, expectations_of(query)))
        bind(query, view_name)
        return query

    return declare if query_function is None else declare(query_function)


view = temporary_view
create_view = temporary_view
