"""Evaluates a flow's query over the stored tables and the views it reads."""

from collections.abc import Callable
from pathlib import Path
from urllib.parse import unquote, urlsplit

from pyspark.sql import DataFrame

from dlt_local.auto_loader.place import running_at
from dlt_local.declarations.elements import Flow
from dlt_local.declarations.registry import read_by
from dlt_local.errors import FlowError
from dlt_local.flows import expectations, file_log
from dlt_local.flows.context import FlowRun, UpdateContext
from dlt_local.spark import jvm, query_calls
from dlt_local.spark.catalog import PLACEHOLDER
from dlt_local.spark.temporary import is_temporary


def evaluate(run: FlowRun, query: Callable[[], DataFrame]) -> DataFrame:
    """The query's frame, with every name in it bound to the stored table or the view."""
    register_inputs(run)
    folder = run.checkpoint.folder
    reading = running_at(run.node.name, folder, lambda: file_log.files_committed(folder))
    with reading, read_by(run.flow.flow.target):
        return _called(run.update, run.flow.flow, query)


def register_inputs(run: FlowRun) -> None:
    """Bind the names that the flow reads; a view is evaluated once per round of the update."""
    update = run.update
    with update.session_lock:
        for name in run.flow.inputs:
            update.catalog.register_table(name, update.path(name))
        # Of many datasets, few are views.
        for view in update.graph.views if run.flow.views else ():
            if view.name in run.flow.views and not update.catalog.has_view(view.name):
                # Several flows may read the view, each with a checkpoint of its own.
                with running_at(view.name, None, tuple):
                    rows = _called(update, view.flow, view.query)
                update.catalog.register_view(view.name, expectations.enforce(rows, view.name, view.expectations))


def _called(update: UpdateContext, flow: Flow, query: Callable[[], DataFrame]) -> DataFrame:
    call = update.session.call()
    with update.registry.with_modules(), query_calls.calling(call, update.registry.conf_of(flow)):
        frame = query()
    return checked(call.result(frame), flow)


def checked(frame: DataFrame, flow: Flow) -> DataFrame:
    """The frame that a query function has returned.

    Raises:
        FlowError: it is of an earlier call, which planned the update: its tables have no rows.
    """
    for name, location in jvm.named_tables(frame, PLACEHOLDER):
        if is_temporary(Path(unquote(urlsplit(location).path))):
            message = (
                f"`{flow.name}` reads {name} as it was while the update was planned, without rows:\n"
                "  its query function returns a frame that an earlier call has made"
            )
            fix = "make all frames anew in each call: keep none with @lru_cache or @cache, in a global or an attribute"
            raise FlowError("FRAME_OF_AN_EARLIER_CALL", str(flow.target), message, fix, is_permanent=True)
    return frame
