"""Runs a stream up to the end of its input, microbatch by microbatch."""

from collections.abc import Callable

from pyspark.sql import DataFrame
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.readwriter import DataStreamWriter

from dlt_local.declarations.registry import registration
from dlt_local.delta import delta_log
from dlt_local.delta.transaction import TransactionId
from dlt_local.flows import table_batch
from dlt_local.flows.context import FlowRun
from dlt_local.flows.outcomes import FlowMetrics, UpdateStopped
from dlt_local.flows.table_batch import TableBatch
from dlt_local.spark import jvm
from dlt_local.spark.session_lookup import found_in_this_thread
from dlt_local.spark.tuning import settings_for

WriteBatch = Callable[[DataFrame, TransactionId], FlowMetrics]
"""Writes one microbatch; the same one may come again after a kill, with the same identity."""


def stream(
    run: FlowRun, source: Callable[[], DataFrame], write: WriteBatch, *, skips_empty: bool = False
) -> FlowMetrics:
    """Write everything that is new in a stream; what was written by all microbatches.

    Args:
        run: the flow.
        source: makes the streaming frame.
        write: writes one microbatch.
        skips_empty: whether a microbatch without rows need not be written.

    Raises:
        UpdateStopped: the user asked for it between two microbatches.
    """
    handler = _Handler(run, write)
    frame = source()
    batch = table_batch.next_batch(run.checkpoint, frame, skips=skips_empty) if _may_batch(run) else None
    if batch is not None:
        if isinstance(batch, TableBatch):
            handler.handle_table(batch)
        return handler.metrics
    callback = Callback(handler.handle)
    mode = "complete" if run.flow.is_rewritten else "append"
    query = start(run, frame.writeStream.outputMode(mode).foreachBatch(callback))
    try:
        query.awaitTermination()
    except Exception:
        # Spark wraps the handler's error in one of its own; the user needs the handler's.
        if handler.error is not None:
            raise handler.error from None
        raise
    finally:
        callback.release()
    return handler.metrics


def _may_batch(run: FlowRun) -> bool:
    return not run.flow.is_rewritten and run.update.session.conf.get(table_batch.SETTING, "true") == "true"


def start(run: FlowRun, writer: DataStreamWriter) -> StreamingQuery:
    """Start a flow's stream on its checkpoint; it ends by itself when it has read its input."""
    folder = run.checkpoint.folder
    run.checkpoint.clear_half_written_batch()
    return writer.option("checkpointLocation", str(folder)).trigger(availableNow=True).start()


class Callback:
    """A `foreachBatch` function that leaves no thread and no socket behind when its stream has ended."""

    def __init__(self, function: Callable[[DataFrame, int], object]) -> None:
        self._function = function
        self._connection: object = None

    def __call__(self, batch: DataFrame, batch_id: int) -> None:
        """Handle a batch."""
        if self._connection is None:
            self._connection = jvm.callback_connection(batch.sparkSession)
        self._function(batch, batch_id)

    def release(self) -> None:
        """Close the connection that the stream has used; call it when the stream has ended."""
        if self._connection is not None:
            jvm.close_callback_connection(self._connection)


class _Handler:
    """The `foreachBatch` function of one stream: adds up what its microbatches did, and keeps their error."""

    def __init__(self, run: FlowRun, write: WriteBatch) -> None:
        self.metrics = FlowMetrics()
        self.error: Exception | None = None
        self._run = run
        self._write = write
        # Before the query starts: what was begun earlier may have been committed by an update that was killed.
        self._planned = run.checkpoint.last_planned

    def handle(self, batch: DataFrame, batch_id: int) -> None:
        try:
            self._handle(batch, batch_id)
        except Exception as error:
            self.error = error
            raise

    def handle_table(self, batch: TableBatch) -> None:
        """Handle a batch that no streaming query runs."""
        if self._run.update.should_stop():
            raise UpdateStopped(self.metrics)
        batch.begin()
        if batch.rows is None:
            self._add(FlowMetrics())
        else:
            self._handle(batch.rows, batch.number)
        batch.end()

    def _handle(self, batch: DataFrame, batch_id: int) -> None:
        update, changes = self._run.update, self._run.flow.changes
        if update.should_stop():
            raise UpdateStopped(self.metrics)
        target_bytes = 0 if changes is None else delta_log.size_in_bytes(update.path(changes.target))
        for key, value in settings_for(batch, target_bytes).items():
            # The stream has a session of its own, which ends with it. Its state has the partitions that it began with.
            batch.sparkSession.conf.set(key, value)
        with registration(update.registry), found_in_this_thread(update.session):
            is_new = batch_id > self._planned
            metrics = self._write(batch, TransactionId(self._run.checkpoint.query_id(), batch_id, is_new))
        self._add(metrics)

    def _add(self, metrics: FlowMetrics) -> None:
        self.metrics += metrics + FlowMetrics(batches=1)
        self._run.report(self.metrics)
