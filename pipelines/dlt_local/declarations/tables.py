"""`table`, `materialized_view` and `create_streaming_table`: datasets stored as Delta tables."""

from collections.abc import Callable, Mapping
from typing import TypeVar, overload

from pyspark.sql import DataFrame

from dlt_local.declarations.elements import ColumnLike, Expectation, Query, QueryFlow, TableKind
from dlt_local.declarations.expectations import bind, expectations, expectations_of
from dlt_local.declarations.registry import caller, current
from dlt_local.declarations.table_options import ColumnNames, Properties, Schema, TableOptions
from dlt_local.errors import DeclarationError

F = TypeVar("F", bound=Callable[[], DataFrame])


@overload
def table(query_function: F, /) -> F: ...


@overload
def table(
    query_function: None = None,
    /,
    name: str | None = None,
    comment: str | None = None,
    spark_conf: Properties = None,
    table_properties: Properties = None,
    partition_cols: ColumnNames = None,
    path: str | None = None,
    schema: Schema = None,
    temporary: bool = False,
    cluster_by: ColumnNames = None,
    cluster_by_auto: bool = False,
    row_filter: str | None = None,
    private: bool = False,
    refresh_policy: str | None = None,
    format: str | None = None,
) -> Callable[[F], F]: ...


def table(
    query_function: F | None = None,
    /,
    name: str | None = None,
    comment: str | None = None,
    spark_conf: Properties = None,
    table_properties: Properties = None,
    partition_cols: ColumnNames = None,
    path: str | None = None,
    schema: Schema = None,
    temporary: bool = False,
    cluster_by: ColumnNames = None,
    cluster_by_auto: bool = False,
    row_filter: str | None = None,
    private: bool = False,
    refresh_policy: str | None = None,
    format: str | None = None,
) -> F | Callable[[F], F]:
    """Declare a table by its query: streaming if the query streams, otherwise a materialized view."""
    options = TableOptions(
        private=temporary or private,
        comment=comment,
        spark_conf=spark_conf,
        table_properties=table_properties,
        partition_cols=partition_cols,
        cluster_by=cluster_by,
        schema=schema,
        format=format,
        path=path,
        cluster_by_auto=cluster_by_auto,
        row_filter=row_filter,
        refresh_policy=refresh_policy,
    )

    def declare(query: F) -> F:
        declare_table(None, query, name, options)
        return query

    return declare if query_function is None else declare(query_function)


@overload
def materialized_view(query_function: F, /) -> F: ...


@overload
def materialized_view(
    query_function: None = None,
    /,
    name: str | None = None,
    comment: str | None = None,
    spark_conf: Properties = None,
    table_properties: Properties = None,
    partition_cols: ColumnNames = None,
    path: str | None = None,
    schema: Schema = None,
    temporary: bool = False,
    cluster_by: ColumnNames = None,
    cluster_by_auto: bool = False,
    row_filter: str | None = None,
    private: bool = False,
    refresh_policy: str | None = None,
    format: str | None = None,
) -> Callable[[F], F]: ...


def materialized_view(
    query_function: F | None = None,
    /,
    name: str | None = None,
    comment: str | None = None,
    spark_conf: Properties = None,
    table_properties: Properties = None,
    partition_cols: ColumnNames = None,
    path: str | None = None,
    schema: Schema = None,
    temporary: bool = False,
    cluster_by: ColumnNames = None,
    cluster_by_auto: bool = False,
    row_filter: str | None = None,
    private: bool = False,
    refresh_policy: str | None = None,
    format: str | None = None,
) -> F | Callable[[F], F]:
    """Declare a table that always holds the result of a batch query."""
    options = TableOptions(
        private=temporary or private,
        comment=comment,
        spark_conf=spark_conf,
        table_properties=table_properties,
        partition_cols=partition_cols,
        cluster_by=cluster_by,
        schema=schema,
        format=format,
        path=path,
        cluster_by_auto=cluster_by_auto,
        row_filter=row_filter,
        refresh_policy=refresh_policy,
    )

    def declare(query: F) -> F:
        declare_table("materialized view", query, name, options)
        return query

    return declare if query_function is None else declare(query_function)


create_table = table


def create_streaming_table(
    name: str,
    comment: str | None = None,
    spark_conf: Properties = None,
    table_properties: Properties = None,
    partition_cols: ColumnNames = None,
    path: str | None = None,
    schema: Schema = None,
    expect_all: Mapping[str, ColumnLike] | None = None,
    expect_all_or_drop: Mapping[str, ColumnLike] | None = None,
    expect_all_or_fail: Mapping[str, ColumnLike] | None = None,
    cluster_by: ColumnNames = None,
    cluster_by_auto: bool = False,
    row_filter: str | None = None,
    format: str | None = None,
) -> None:
    """Declare a table that append flows or AUTO CDC flows write to; its expectations apply to every flow."""
    options = TableOptions(
        comment=comment,
        spark_conf=spark_conf,
        table_properties=table_properties,
        partition_cols=partition_cols,
        cluster_by=cluster_by,
        schema=schema,
        format=format,
        path=path,
        cluster_by_auto=cluster_by_auto,
        row_filter=row_filter,
    )
    every = (
        *expectations(expect_all, "warn"),
        *expectations(expect_all_or_drop, "drop"),
        *expectations(expect_all_or_fail, "fail"),
    )
    declare_target(name, options, every)


create_target_table = create_streaming_table
create_streaming_live_table = create_streaming_table


def declare_table(kind: TableKind | None, query: Query, name: str | None, options: TableOptions) -> None:
    """Declare a table together with the flow of its query, which has the table's name.

    Raises:
        DeclarationError: the query is not a function, the format is not Delta, or the name is already in use.
    """
    registry, location = current(), caller()
    check_is_function(query, "table" if kind is None else "materialized_view")
    full_name = registry.name(name or query.__name__)
    registry.add(options.table(full_name, kind, expectations_of(query)))
    conf = dict(options.spark_conf or {})
    registry.add_flow(QueryFlow(str(full_name), full_name, location, query, spark_conf=conf))
    bind(query, full_name)


def declare_target(name: str, options: TableOptions, every: tuple[Expectation, ...]) -> None:
    """Declare a streaming table without a query of its own; other declarations add its flows.

    Raises:
        DeclarationError: the format is not Delta, or the name is already in use.
    """
    registry = current()
    registry.add(options.table(registry.name(name), "streaming table", every))


def check_is_function(query: object, decorator: str) -> None:
    """Refuse what a decorator was given in place of the query function, most often a name without `name=`."""
    if not callable(query):
        message = f"the first argument of `{decorator}` must be the query function, got {query!r}"
        raise DeclarationError("NOT_A_FUNCTION", message, caller(), f"name the argument: @{decorator}(name=...)")
