"""What a pipeline's source files declare: datasets, flows and expectations, as frozen values.

Declaring and running never meet: decorators build these, the graph orders them, the update runs them.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from dlt_local.errors import SourceLocation
from dlt_local.names import TableName

Query = Callable[[], DataFrame]
Action = Literal["warn", "drop", "fail"]
ColumnLike = str | Column


@dataclass(frozen=True)
class BatchHandler:
    """A user's function of a batch and its number."""

    function: Callable[[DataFrame, int], None]


@dataclass(frozen=True)
class Expectation:
    """A condition that each row of a dataset is to meet; a row where it is null does not meet it."""

    name: str
    condition: ColumnLike
    action: Action

    @property
    def text(self) -> str:
        """The condition for people."""
        return self.condition if isinstance(self.condition, str) else str(self.condition)[len("Column<'") : -len("'>")]

    @property
    def column(self) -> Column:
        """The condition as a column; null where it cannot be told."""
        return F.expr(self.condition) if isinstance(self.condition, str) else self.condition


@dataclass(frozen=True)
class Table:
    """A dataset kept as a Delta table.

    ``kind`` None is `dlt.table`, where the query itself says which it is: a streaming query makes a streaming
    table, a batch query a materialized view.
    """

    name: TableName
    location: SourceLocation
    kind: Literal["streaming table", "materialized view"] | None
    private: bool = False
    comment: str | None = None
    schema: StructType | str | None = None
    table_properties: Mapping[str, str] = field(default_factory=dict)
    partition_cols: tuple[str, ...] = ()
    cluster_by: tuple[str, ...] = ()
    spark_conf: Mapping[str, str] = field(default_factory=dict)
    expectations: tuple[Expectation, ...] = ()


@dataclass(frozen=True)
class View:
    """A dataset that is never stored: a name for a query inside this pipeline."""

    name: str
    location: SourceLocation
    query: Query
    comment: str | None = None
    spark_conf: Mapping[str, str] = field(default_factory=dict)
    expectations: tuple[Expectation, ...] = ()


@dataclass(frozen=True)
class Sink:
    """Somewhere outside the pipeline to which append flows write."""

    name: str
    location: SourceLocation
    format: str
    options: Mapping[str, str]
    handler: "BatchHandler | None" = None
    """What takes the batches of a `foreach_batch_sink`."""


@dataclass(frozen=True)
class QueryFlow:
    """A flow whose rows are those of a query: appended if it streams, replacing everything if it does not."""

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


@dataclass(frozen=True)
class SnapshotCdcFlow:
    """A flow that compares whole snapshots with its target (`create_auto_cdc_from_snapshot_flow`)."""

    name: str
    target: TableName
    location: SourceLocation
    source: SnapshotSource
    """A dataset, read once an update and versioned by the time of reading; or a function from the latest version
    applied (None at first) to the next (snapshot, version), None when there is no newer one."""
    keys: tuple[str, ...]
    scd_type: Literal[1, 2] = 1
    track_history_column_list: tuple[str, ...] | None = None
    track_history_except_column_list: tuple[str, ...] | None = None


Flow = QueryFlow | AutoCdcFlow | SnapshotCdcFlow
Dataset = Table | View | Sink
