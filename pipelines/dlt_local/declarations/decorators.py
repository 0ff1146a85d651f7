"""The names that source files import from `dlt` or `pyspark.pipelines`, with Databricks' arguments and defaults."""

from dlt_local.declarations.auto_cdc_flows import (
    apply_changes,
    apply_changes_from_snapshot,
    create_auto_cdc_flow,
    create_auto_cdc_from_snapshot_flow,
)
from dlt_local.declarations.event_hooks import on_event_hook
from dlt_local.declarations.expectations import (
    expect,
    expect_all,
    expect_all_or_drop,
    expect_all_or_fail,
    expect_or_drop,
    expect_or_fail,
)
from dlt_local.declarations.flows import append_flow
from dlt_local.declarations.reading import read, read_stream, readStream
from dlt_local.declarations.sinks import create_sink, foreach_batch_sink
from dlt_local.declarations.tables import (
    create_streaming_live_table,
    create_streaming_table,
    create_table,
    create_target_table,
    materialized_view,
    table,
)
from dlt_local.declarations.views import create_view, temporary_view, view

__all__ = [
    "append_flow",
    "apply_changes",
    "apply_changes_from_snapshot",
    "create_auto_cdc_flow",
    "create_auto_cdc_from_snapshot_flow",
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
