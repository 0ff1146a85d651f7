"""Declared datasets, flows and expectations as frozen values, built by decorators and SQL statements."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from dlt_local.errors import SourceLocation
from dlt_local.names import TableName

Query = Callable[[], DataFrame]
Action = Literal["warn", "drop", "fail"]
TableKind = Literal["streaming table", "materialized view"]
RESET_ALLOWED = "pipelines.reset.allowed"
"""The table property of Databricks that forbids a full refresh."""
ColumnLike = str | Column
"""SQL text, or a column."""


@dataclass(frozen=True)
class BatchHandler:
    """A user's function of a microbatch and its number."""

    function: Callable[[DataFrame, int], None]


@dataclass(frozen=True)
class EventHook:
    """A user's function of an event of the update."""

    name: str
    function: Callable[[dict[str, Any]], object]
    max_failures: int | None = None
    """After so many failures, one after the other, it is not called again in the update; None: however many."""


@dataclass(frozen=True)
class Expectation:
    """A condition on each row of a dataset; a row for which it is false or null violates it."""

    name: str
    condition: ColumnLike
    action: Action
    """What happens to a violating row: counted and kept, dropped, or the flow fails."""

    @property
    def text(self) -> str:
        """The condition as text, for messages and the event log."""
        return self.condition if isinstance(self.condition, str) else str(self.condition)[len("Column<'") : -len("'>")]

    @property
    def column(self) -> Column:
        """The condition as a column; null where it cannot be decided."""
        return F.expr(self.condition) if isinstance(self.condition, str) else self.condition


@dataclass(frozen=True)
class Table:
    """A dataset stored as a Delta table."""

    name: TableName
    location: SourceLocation
    kind: TableKind | None
    """None for `dlt.table`: a streaming query makes a streaming table, a batch query a materialized view."""
    private: bool = False
    comment: str | None = None
    schema: StructType | str | None = None
    table_properties: Mapping[str, str] = field(default_factory=dict)
    partition_cols: tuple[str, ...] = ()
    cluster_by: tuple[str, ...] = ()
    spark_conf: Mapping[str, str] = field(default_factory=dict)
    expectations: tuple[Expectation, ...] = ()

    @property
    def may_reset(self) -> bool:
        """False if a full refresh or a rebuild is forbidden, because it could lose rows."""
        return self.table_properties.get(RESET_ALLOWED, "true").strip().lower() != "false"


@dataclass(frozen=True)
class View:
    """A named query inside this pipeline; never stored."""

    name: str
    location: SourceLocation
    query: Query
    comment: str | None = None
    spark_conf: Mapping[str, str] = field(default_factory=dict)
    expectations: tuple[Expectation, ...] = ()

    @property
    def flow(self) -> "QueryFlow":
        """The view's query as a flow into the view."""
        return QueryFlow(self.name, self.name, self.location, self.query, spark_conf=self.spark_conf)


@dataclass(frozen=True)
class Sink:
    """A destination outside the pipeline that append flows write to."""

    name: str
    location: SourceLocation
    format: str
    options: Mapping[str, str]
    handler: BatchHandler | None = None
    """The function of a `foreach_batch_sink`; None for any other sink."""


@dataclass(frozen=True)
class QueryFlow:
    """A flow that writes the rows of a query: a stream is appended, a batch replaces the target."""

    name: str
    target: TableName | str
    """The table, or a sink's name."""
    location: SourceLocation
    query: Query
    once: bool = False
    spark_conf: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class AutoCdcFlow:
    """A flow that applies a stream of changes to its target (`create_auto_cdc_flow`, `apply_changes`)."""

    name: str
    target: TableName
    location: SourceLocation
    source: str
    keys: tuple[str, ...]
    sequence_by: ColumnLike
    scd_type: Literal[1, 2] = 1
    where: ColumnLike | None = None
    apply_as_deletes: ColumnLike | None = None
    apply_as_truncates: ColumnLike | None = None
    column_list: tuple[str, ...] | None = None
    except_column_list: tuple[str, ...] | None = None
    track_history_column_list: tuple[str, ...] | None = None
    track_history_except_column_list: tuple[str, ...] | None = None
    ignore_null_updates: bool = False
    ignore_null_updates_column_list: tuple[str, ...] | None = None
    ignore_null_updates_except_column_list: tuple[str, ...] | None = None
    columns_to_update: str | None = None
    once: bool = False


SnapshotSource = str | Callable[[object], "tuple[DataFrame, object] | None"]
"""A dataset, read once per update and versioned by the time of reading; or a function from the latest version
applied (None at first) to the next (snapshot, version), None when there is no newer one."""


@dataclass(frozen=True)
class SnapshotCdcFlow:
    """A flow that compares full snapshots with its target (`create_auto_cdc_from_snapshot_flow`)."""

    name: str
    target: TableName
    location: SourceLocation
    source: SnapshotSource
    keys: tuple[str, ...]
    scd_type: Literal[1, 2] = 1
    track_history_column_list: tuple[str, ...] | None = None
    track_history_except_column_list: tuple[str, ...] | None = None


Flow = QueryFlow | AutoCdcFlow | SnapshotCdcFlow
Dataset = Table | View | Sink
