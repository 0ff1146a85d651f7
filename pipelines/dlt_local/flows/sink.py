"""Streams to a sink: a topic, a Delta table outside the pipeline, or a user's function."""

from collections.abc import Callable, Mapping

from pyspark.sql import DataFrame

from dlt_local.declarations.elements import BatchHandler, QueryFlow, Sink
from dlt_local.flows import microbatches
from dlt_local.flows.context import FlowRun, UpdateContext
from dlt_local.flows.microbatches import Callback
from dlt_local.flows.outcomes import FlowMetrics
from dlt_local.flows.queries import evaluate
from dlt_local.spark.pipeline_session import own_class
from dlt_local.spark.session_lookup import found_in_this_thread


def stream(run: FlowRun, sink: Sink, declared: QueryFlow) -> FlowMetrics:
    """Send what is new in the flow's stream; rows are counted as the stream reads them."""
    callback = None if sink.handler is None else Callback(_in_pipeline(sink.handler, run.update))
    writer = evaluate(run, declared.query).writeStream
    if callback is None:
        writer = writer.format(sink.format).options(**_options(sink, run.update))
    else:
        writer = writer.foreachBatch(callback)
    query = microbatches.start(run, writer)
    try:
        query.awaitTermination()
    finally:
        if callback is not None:
            callback.release()
    read = [progress.numInputRows for progress in query.recentProgress]
    return FlowMetrics(num_output_rows=sum(max(rows, 0) for rows in read), batches=sum(rows > 0 for rows in read))


def _in_pipeline(handler: BatchHandler, update: UpdateContext) -> Callable[[DataFrame, int], None]:
    """The user's function of a microbatch, for which the pipeline's session is the active one."""

    def handle(batch: DataFrame, number: int) -> None:
        with found_in_this_thread(update.session), update.registry.with_modules():
            handler.function(batch, number)

    return handle


def _options(sink: Sink, update: UpdateContext) -> Mapping[str, str]:
    """The sink's options; a table named in them is stored beside the pipeline's own: there is no other catalog."""
    options = {key: str(own_class(value)) for key, value in sink.options.items()}
    name = next((options.pop(key) for key in list(options) if key.lower() == "tablename"), None)
    if name is not None:
        options["path"] = str(update.storage.table(update.registry.name(name)))
    return options
