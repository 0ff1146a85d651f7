"""The decorators and functions that source files import as `dlt` or as `pyspark.pipelines`.

Names, order of arguments and defaults are Databricks' (its Python reference and the `databricks-dlt` stub).
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypeVar, overload

from pyspark.sql import Column, DataFrame
from pyspark.sql.types import StructType

from dlt_local.declarations import compatibility
from dlt_local.declarations.elements import (
    Action,
    BatchHandler,
    ColumnLike,
    Expectation,
    Query,
    QueryFlow,
    Sink,
    Table,
    View,
)
from dlt_local.declarations.registry import caller, current
from dlt_local.errors import DeclarationError
from dlt_local.names import TableName

__all__ = [
    "append_flow",
    "create_sink",
    "create_streaming_live_table",
    "create_streaming_table",
    "create_table",
    "create_target_table",
    "create_view",
    "expect",
    "expect_all",
    "expect_all_or_drop",
    "expect_all_or_fail",
    "expect_or_drop",
    "expect_or_fail",
    "foreach_batch_sink",
    "materialized_view",
    "on_event_hook",
    "read",
    "readStream",
    "read_stream",
    "table",
    "temporary_view",
    "view",
]

F = TypeVar("F", bound=Callable[[], DataFrame])
Schema = StructType | str | None
Properties = Mapping[str, str] | None
Columns = Sequence[str] | None

_EXPECTATIONS = "__dlt_local_expectations__"
_DATASET = "__dlt_local_dataset__"

H = TypeVar("H", bound=Callable[..., Any])


def declare_table(
    kind: Literal["streaming table", "materialized view"] | None,
    query: Query,
    name: str | None,
    **options: Any,
) -> None:
    """Declare a table by its query, and the flow that fills it: what `table` and `materialized_view` share."""
    registry, location = current(), caller()
    _check_query(query, "table" if kind is None else "materialized_view")
    full_name = registry.name(name or query.__name__)
    registry.add(_table(full_name, kind, expectations=tuple(getattr(query, _EXPECTATIONS, ())), **options))
    conf = dict(options.get("spark_conf") or {})
    registry.add_flow(QueryFlow(str(full_name), full_name, location, query, spark_conf=conf))
    setattr(query, _DATASET, full_name)


def _table(
    name: TableName,
    kind: Literal["streaming table", "materialized view"] | None,
    *,
    private: bool = False,
    comment: str | None = None,
    spark_conf: Properties = None,
    table_properties: Properties = None,
    partition_cols: Columns = None,
    cluster_by: Columns = None,
    schema: Schema = None,
    expectations: tuple[Expectation, ...] = (),
    format: str | None = None,
    **without_effect: object,
) -> Table:
    if format is not None and format.lower() != "delta":
        message = f"{name}: tables are Delta tables, `format` is {format!r}"
        raise DeclarationError("FORMAT_NOT_SUPPORTED", message, caller(), "leave `format` out")
    given = [argument for argument, value in without_effect.items() if value]
    for name_of in (*given, *(table_properties or {})):
        _notice(name_of)
    return Table(
        name=name,
        location=caller(),
        kind=kind,
        private=private,
        comment=comment,
        schema=schema,
        table_properties={k: str(v) for k, v in (table_properties or {}).items()},
        partition_cols=_names(partition_cols),
        cluster_by=_names(cluster_by),
        spark_conf=dict(spark_conf or {}),
        expectations=expectations,
    )


def _notice(name: str) -> None:
    told = compatibility.notice(name)
    if told is not None:
        current().notice(told)


def _check_query(query: object, decorator: str) -> None:
    if not callable(query):
        message = f"the first argument of `{decorator}` is to be the query function, it is {query!r}"
        raise DeclarationError("NOT_A_FUNCTION", message, caller(), f"name the argument: @{decorator}(name=...)")


def _names(columns: Columns) -> tuple[str, ...]:
    return (columns,) if isinstance(columns, str) else tuple(columns or ())


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
    partition_cols: Columns = None,
    path: str | None = None,
    schema: Schema = None,
    temporary: bool = False,
    cluster_by: Columns = None,
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
    partition_cols: Columns = None,
    path: str | None = None,
    schema: Schema = None,
    temporary: bool = False,
    cluster_by: Columns = None,
    cluster_by_auto: bool = False,
    row_filter: str | None = None,
    private: bool = False,
    refresh_policy: str | None = None,
    format: str | None = None,
) -> F | Callable[[F], F]:
    """Declare a table by the query that fills it: streaming where the query streams, else a materialized view."""

    def declare(query: F) -> F:
        declare_table(
            None,
            query,
            name,
            private=temporary or private,
            comment=comment,
            spark_conf=spark_conf,
            table_properties=table_properties,
            partition_cols=partition_cols,
            cluster_by=cluster_by,
            schema=schema,
            path=path,
            cluster_by_auto=cluster_by_auto,
            row_filter=row_filter,
            refresh_policy=refresh_policy,
            format=format,
        )
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
    partition_cols: Columns = None,
    path: str | None = None,
    schema: Schema = None,
    temporary: bool = False,
    cluster_by: Columns = None,
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
    partition_cols: Columns = None,
    path: str | None = None,
    schema: Schema = None,
    temporary: bool = False,
    cluster_by: Columns = None,
    cluster_by_auto: bool = False,
    row_filter: str | None = None,
    private: bool = False,
    refresh_policy: str | None = None,
    format: str | None = None,
) -> F | Callable[[F], F]:
    """Declare a table that always holds the result of a batch query."""

    def declare(query: F) -> F:
        declare_table(
            "materialized view",
            query,
            name,
            private=temporary or private,
            comment=comment,
            spark_conf=spark_conf,
            table_properties=table_properties,
            partition_cols=partition_cols,
            cluster_by=cluster_by,
            schema=schema,
            path=path,
            cluster_by_auto=cluster_by_auto,
            row_filter=row_filter,
            refresh_policy=refresh_policy,
            format=format,
        )
        return query

    return declare if query_function is None else declare(query_function)


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
    """Declare a view: a query with a name, seen by this pipeline only and never stored."""

    def declare(query: F) -> F:
        _check_query(query, "temporary_view")
        own = tuple(getattr(query, _EXPECTATIONS, ()))
        declared = View(name or query.__name__, caller(), query, comment, dict(spark_conf or {}), own)
        current().add(declared)
        setattr(query, _DATASET, declared.name)
        return query

    return declare if query_function is None else declare(query_function)


view = temporary_view
create_view = temporary_view
create_table = table


def create_streaming_table(
    name: str,
    comment: str | None = None,
    spark_conf: Properties = None,
    table_properties: Properties = None,
    partition_cols: Columns = None,
    path: str | None = None,
    schema: Schema = None,
    expect_all: Mapping[str, ColumnLike] | None = None,
    expect_all_or_drop: Mapping[str, ColumnLike] | None = None,
    expect_all_or_fail: Mapping[str, ColumnLike] | None = None,
    cluster_by: Columns = None,
    cluster_by_auto: bool = False,
    row_filter: str | None = None,
    format: str | None = None,
) -> None:
    """Declare the table that append flows or AUTO CDC flows write to; its expectations hold for all of them."""
    registry = current()
    expectations = (
        *_expectations(expect_all or {}, "warn"),
        *_expectations(expect_all_or_drop or {}, "drop"),
        *_expectations(expect_all_or_fail or {}, "fail"),
    )
    registry.add(
        _table(
            registry.name(name),
            "streaming table",
            comment=comment,
            spark_conf=spark_conf,
            table_properties=table_properties,
            partition_cols=partition_cols,
            cluster_by=cluster_by,
            schema=schema,
            expectations=expectations,
            path=path,
            cluster_by_auto=cluster_by_auto,
            row_filter=row_filter,
            format=format,
        )
    )


create_target_table = create_streaming_table
create_streaming_live_table = create_streaming_table


def append_flow(
    name: str | None = None,
    target: str | None = None,
    comment: str | None = None,
    spark_conf: Properties = None,
    once: bool = False,
) -> Callable[[F], F]:
    """Declare a flow that appends its query's rows to a streaming table or sink declared elsewhere.

    Args:
        name: the flow's name, by default the function's; it is what ties the flow to its checkpoint.
        target: the table or sink.
        comment: for people.
        spark_conf: Spark settings while this flow runs.
        once: run a batch query one time in the target's life (again after a full refresh).

    Raises:
        DeclarationError: no target is given.
    """

    def declare(query: F) -> F:
        registry, location = current(), caller()
        if not target:
            message = f"append flow `{name or query.__name__}` has no target"
            raise DeclarationError("MISSING_TARGET", message, location, "say `target=`, the table it appends to")
        is_sink = target.lower() in {sink.lower() for sink in registry.sinks}
        registry.add_flow(
            QueryFlow(
                name or query.__name__,
                target if is_sink else registry.name(target),
                location,
                query,
                once=once,
                spark_conf=dict(spark_conf or {}),
            )
        )
        return query

    return declare


def create_sink(name: str, format: str, options: Mapping[str, str] | None = None) -> None:
    """Declare a Kafka topic or a Delta table outside the pipeline as a target of append flows."""
    current().add(Sink(name, caller(), format, dict(options or {})))


def foreach_batch_sink(name: str | None = None) -> Callable[[H], H]:
    """Declare a function of a batch and its number as a target of append flows.

    A batch that a killed update had begun comes again with the same number. Number 0 comes first, and again after a
    full refresh.
    """

    def declare(handler: H) -> H:
        called = name or handler.__name__
        current().add(Sink(called, caller(), "foreach_batch", {}, BatchHandler(handler)))
        return handler

    if callable(name):
        bare, name = name, None
        return declare(bare)
    return declare


@overload
def on_event_hook(user_event_hook_fn: H, /) -> H: ...


@overload
def on_event_hook(
    user_event_hook_fn: None = None, /, max_allowable_consecutive_failures: int | None = None
) -> Callable[[H], H]: ...


def on_event_hook(
    user_event_hook_fn: H | None = None, /, max_allowable_consecutive_failures: int | None = None
) -> H | Callable[[H], H]:
    """Let a function be called with each event of an update, as a dict of the event log's columns."""
    if max_allowable_consecutive_failures is not None:
        _notice("max_allowable_consecutive_failures")

    def declare(hook: H) -> H:
        current().hooks.append(hook)
        return hook

    return declare if user_event_hook_fn is None else declare(user_event_hook_fn)


def _expectations(conditions: Mapping[str, ColumnLike], action: Action) -> tuple[Expectation, ...]:
    return tuple(Expectation(name, condition, action) for name, condition in conditions.items())


def _expect(conditions: Mapping[str, ColumnLike], action: Action) -> Callable[[F], F]:
    for condition in conditions.values():
        if not isinstance(condition, str | Column):
            message = f"an expectation's condition is SQL text or a column, this is {condition!r}"
            raise DeclarationError("EXPECTATION_NOT_A_CONDITION", message, caller(), "write it as SQL text")

    def attach(query: F) -> F:
        dataset = getattr(query, _DATASET, None)
        for expectation in reversed(_expectations(conditions, action)):
            if dataset is not None:
                current().add_expectation(dataset, expectation)
            else:
                setattr(query, _EXPECTATIONS, (expectation, *getattr(query, _EXPECTATIONS, ())))
        return query

    return attach


def expect(name: str, inv: ColumnLike) -> Callable[[F], F]:
    """Count the rows that do not meet ``inv``, and keep them."""
    return _expect({name: inv}, "warn")


def expect_or_drop(name: str, inv: ColumnLike) -> Callable[[F], F]:
    """Count the rows that do not meet ``inv``, and leave them out."""
    return _expect({name: inv}, "drop")


def expect_or_fail(name: str, inv: ColumnLike) -> Callable[[F], F]:
    """Fail the flow at the first row that does not meet ``inv``; nothing of that batch is written."""
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


def read(name: str) -> DataFrame:
    """A dataset of this pipeline as a whole."""
    return current().spark.read.table(_plain(name))


def read_stream(name: str) -> DataFrame:
    """A dataset of this pipeline as a stream of what is new in it."""
    return current().spark.readStream.table(_plain(name))


readStream = read_stream


def _plain(name: str) -> str:
    return name[5:] if name.lower().startswith("live.") else name
