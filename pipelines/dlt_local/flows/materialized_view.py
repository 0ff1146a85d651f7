"""Refreshes a materialized view, incrementally where possible and cheaper, else by full recompute."""

from pyspark.sql import DataFrame

from dlt_local import failpoints
from dlt_local.declarations.elements import QueryFlow, Table
from dlt_local.delta import plain_files, tables
from dlt_local.delta.commits import latest_commit_rows
from dlt_local.flows import expectations, incremental_refresh
from dlt_local.flows.context import FlowRun
from dlt_local.flows.outcomes import FlowMetrics
from dlt_local.flows.queries import evaluate
from dlt_local.spark.tuning import tuned


def refresh(run: FlowRun, table: Table, declared: QueryFlow) -> FlowMetrics:
    """Let the table's rows be those of the query."""
    update = run.update
    frame = tuned(plain_files.over_files(evaluate(run, declared.query)))
    source = incremental_refresh.keyed_source(run, frame)
    failpoints.reach("view.before")
    metrics = None if source is None else incremental_refresh.refresh(run, table, frame, source)
    if metrics is None:
        metrics = _recompute(run, table, frame)
    failpoints.reach("view.after")
    if source is not None:
        # Independent views of one source are refreshed in parallel, and Delta refuses the second of two such commits.
        with update.session_lock:
            incremental_refresh.turn_on_change_feed(update.session, source.path)
    # A write that replaces the schema loses the clustering with it.
    tables.describe(update.session, table, update.path(table.name))
    run.report(metrics)
    return metrics


def _recompute(run: FlowRun, table: Table, frame: DataFrame) -> FlowMetrics:
    path = run.update.path(table.name)
    rows = expectations.checked(frame, table)
    stored = tables.stored_schema(run.update.session, path)
    if stored is not None and tables.takes(table, stored, rows.frame.schema, path):
        if not plain_files.replace(rows.frame, path):
            tables.replacing(rows.frame, table).save(str(path))
    else:
        if stored is not None:
            tables.support_new_types(run.update.session, stored, rows.frame.schema, path)
        tables.reshaping(rows.frame, table, run.node.schema).save(str(path))
    return FlowMetrics(num_output_rows=latest_commit_rows(path), batches=1) + rows.metrics()
