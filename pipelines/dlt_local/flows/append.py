"""Writes a streaming table: appends microbatch by microbatch, or once; rewrites it from a stream of whole results."""

from pathlib import Path

from pyspark.sql import DataFrame

from dlt_local import failpoints
from dlt_local.declarations.elements import QueryFlow, Table
from dlt_local.delta import appending, delta_log
from dlt_local.delta.commits import latest_commit_rows
from dlt_local.delta.transaction import TransactionId
from dlt_local.delta.wider_types import with_types_of
from dlt_local.flows import expectations, microbatches
from dlt_local.flows.context import FlowRun
from dlt_local.flows.expectations import CheckedRows
from dlt_local.flows.outcomes import FlowMetrics
from dlt_local.flows.queries import evaluate
from dlt_local.spark.tuning import tuned


def stream(run: FlowRun, table: Table, declared: QueryFlow) -> FlowMetrics:
    """Append what is new in the flow's stream, or rewrite the table where the flow has its whole result each time."""
    path = run.update.path(table.name)
    write = _rewrite if run.flow.is_rewritten else _write
    return microbatches.stream(
        run,
        lambda: _rows(run, declared),
        lambda batch, transaction: write(batch, table, path, transaction),
        # Expectations count rows, and are checked even on none.
        skips_empty=not table.expectations,
    )


def once(run: FlowRun, table: Table, declared: QueryFlow) -> FlowMetrics:
    """Append the rows of a batch query, unless an earlier update has."""

    def write() -> FlowMetrics:
        rows = tuned(_rows(run, declared))
        return _write(rows, table, run.update.path(table.name), TransactionId(run.checkpoint.app_id(), 0))

    return run.checkpoint.once(write)


def _rows(run: FlowRun, declared: QueryFlow) -> DataFrame:
    # A source that was not updated yet has the narrower types that the table had, too.
    return with_types_of(evaluate(run, declared.query), run.node.schema)


def _write(batch: DataFrame, table: Table, path: Path, transaction: TransactionId) -> FlowMetrics:
    rows = expectations.checked(batch, table)
    failpoints.reach("append.before")
    written = appending.append(rows.frame, path, transaction)
    failpoints.reach("append.after")
    return _counted(batch, rows, written)


def _rewrite(batch: DataFrame, table: Table, path: Path, transaction: TransactionId) -> FlowMetrics:
    before = delta_log.version(path)
    rows = expectations.checked(batch, table)
    failpoints.reach("append.before")
    writer = rows.frame.write.format("delta").mode("overwrite").option("mergeSchema", "true")
    writer.options(**transaction.options).save(str(path))
    failpoints.reach("append.after")
    return _counted(batch, rows, None if delta_log.version(path) == before else latest_commit_rows(path))


def _counted(batch: DataFrame, rows: CheckedRows, written: int | None) -> FlowMetrics:
    # Delta skips a batch that a killed update had committed; its rows are not observed, and waiting would never end.
    if written is None:
        # It has to run all the same: the state of an aggregation or a join comes from running it.
        batch.write.format("noop").mode("overwrite").save()
        return FlowMetrics()
    return FlowMetrics(num_output_rows=written) + rows.metrics()
