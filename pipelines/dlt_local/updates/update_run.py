"""One update on its way, from its first event to its report page."""

import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from pyspark.sql import SparkSession

from dlt_local.declarations.elements import Table, View
from dlt_local.declarations.registry import Registry
from dlt_local.delta import delta_log, maintenance
from dlt_local.errors import LocalPipelineError
from dlt_local.flows.context import UpdateContext
from dlt_local.flows.outcomes import Update, UpdateFailed
from dlt_local.flows.runner import DatasetRunner
from dlt_local.graph.graph import Graph, Node
from dlt_local.observability import event_log, report
from dlt_local.observability.event_log import EventLog
from dlt_local.observability.redaction import redact, redact_error, secret_values
from dlt_local.spark import root_cause
from dlt_local.updates import continuous, scheduler
from dlt_local.updates.selection import Selection, drifted, rewritten

if TYPE_CHECKING:
    from dlt_local.updates.pipeline import LocalPipeline

_PUBLISHED_EVERY = 30.0
"""Seconds after which a continuous update's events are put into the event log."""


class UpdateRun:
    """What one update needs and remembers while it runs; the storage is held for it."""

    def __init__(
        self, pipeline: "LocalPipeline", selection: Selection, stop: threading.Event | None, every: float
    ) -> None:
        self._pipeline = pipeline
        self._selection = selection
        self._stop = stop
        self._interval = every
        self._secrets = secret_values(pipeline.configuration)
        self._id = scheduler.new_id()
        self._began = time.monotonic()
        self._started = datetime.now(UTC).isoformat(timespec="seconds")
        self._published = self._began
        self._log = EventLog(pipeline.storage, pipeline.name, self._id, self._redact)
        self._killed = [
            report.Run(killed.update_id, "CANCELED", killed.started, 0.0) for killed in self._log.end_killed()
        ]
        self._notices: list[str] = []
        self._log.emit("create_update", f"Update {self._id[:6]} started.", {"update_id": self._id})

    def _redact(self, text: str) -> str:
        return redact(text, self._secrets)

    def go(self) -> Update:
        """Run it, tell of it, and leave its report behind.

        Raises:
            UpdateFailed: something failed; no secret is in it.
        """
        errors: list[Exception] = []
        ended: Update | None = None
        try:
            ended = self._go()
        except UpdateFailed as failed:
            ended, errors = failed.update, list(failed.errors)
            self._refused(failed)
        except LocalPipelineError as error:
            errors = [error]
            self._refused(UpdateFailed(None, errors))
        finally:
            errors += self._publish()
        if errors:
            whole = UpdateFailed(ended, errors)
            redact_error(whole, self._secrets)
            # Its text has all that its causes say; they could hold what was taken out of it.
            raise whole from None
        assert ended is not None
        return ended

    def _go(self) -> Update:
        pipeline, selection = self._pipeline, self._selection
        with pipeline.resolved(selection.full_refresh, selection.full_refresh_all) as (graph_, registry, catalog):
            self._secrets |= secret_values(*(sink.options for sink in registry.sinks.values()))
            self._log.call(registry.hooks)
            wanted, reset = selection.of(graph_, pipeline.schema)
            if faults := drifted(wanted, reset, pipeline.storage):
                raise UpdateFailed(None, faults)
            for node in reset:
                assert not isinstance(node.dataset, View)
                private = isinstance(node.dataset, Table) and node.dataset.private
                pipeline.storage.reset(node.dataset.name, private=private)
            self._define(wanted)
            self._tell(graph_, [*graph_.notices, *rewritten(wanted, reset, pipeline.storage)], registry)
            progress = continuous.Summed(pipeline.progress)
            progress.begin(f"{pipeline.name}: update {self._id[:6]}", Graph(tuple(wanted), graph_.notices))
            storage, on_batch, stopping = pipeline.storage, progress.batch, self._stopping
            runner = DatasetRunner(UpdateContext(catalog, registry, graph_, storage, on_batch, stopping))

            def once(number: int) -> Update:
                progress.next_round()
                catalog.renew_views()
                told = (runner, self._log, progress, pipeline.parallelism, stopping)
                return scheduler.run(self._id, graph_, wanted, *told, tells_idle=number == 0)

            stop, interval = self._stop, self._interval
            ended = once(0) if stop is None else continuous.repeat(once, stop, interval, self._retry, self._round)
            self._keep_in_shape(catalog.session, registry, ended)
        return self._end(ended)

    def _define(self, wanted: Sequence[Node]) -> None:
        """What the update is about to run, as Databricks' lineage queries look for it."""
        for node in wanted:
            told = {"dataset_type": node.kind.upper().replace(" ", "_"), "num_flows": len(node.flows)}
            message = f"Dataset '{node.name}' is defined as {node.kind}."
            self._log.emit("dataset_definition", message, told, dataset=node.name)
            for flow in node.flows:
                defined = {
                    "output_dataset": node.name,
                    "input_datasets": [*map(str, flow.inputs), *flow.views],
                    "flow_type": "CHANGE" if flow.changes else "APPEND" if flow.streaming else "COMPLETE",
                    "schema": flow.schema.jsonValue()["fields"],
                }
                message = f"Flow '{flow.flow.name}' is defined."
                self._log.emit("flow_definition", message, defined, dataset=node.name, flow=flow.flow.name)

    def _stopping(self) -> bool:
        return self._stop is not None and self._stop.is_set()

    def _tell(self, graph_: Graph, notices: list[str], registry: Registry) -> None:
        for notice in notices:
            self._log.emit("flow_definition", notice, level="WARN")
        named = [table for sink in registry.sinks.values() if (table := sink.options.get("tableName"))]
        for name in self._pipeline.inactive([*registry.tables, *map(registry.name, named)]):
            notice = f"Dataset {name} is no longer declared: it is inactive and keeps its data."
            told = {"dataset_name": str(name), "state": "INACTIVE"}
            self._log.emit("dataset_definition", notice, told, dataset=str(name))
            notices.append(notice)
        self._notices = notices
        for notice in notices:
            self._pipeline.progress.notice(self._redact(notice))

    def _retry(self, ended: Update, pause: float) -> None:
        for error in ended.errors:
            message = f"Trying again in {pause:.0f} s, for this failed: {error}"
            self._pipeline.progress.notice(self._redact(message))
            self._log.emit("update_progress", message, {"state": "RUNNING"}, level="WARN", error=error)

    def _round(self, total: Update) -> None:
        if time.monotonic() - self._published > _PUBLISHED_EVERY:
            self._report(total, "RUNNING")
            self._publish()

    def _end(self, ended: Update) -> Update:
        self._pipeline.progress.end(ended.state)
        level: event_log.Level = "INFO" if ended.state == "COMPLETED" else "ERROR"
        self._log.emit(
            "update_progress", f"Update {self._id[:6]} is {ended.state}.", {"state": ended.state}, level=level
        )
        self._report(ended)
        if ended.state == "FAILED":
            raise UpdateFailed(ended, ended.errors)
        return ended

    def _keep_in_shape(self, session: SparkSession, registry: Registry, ended: Update) -> None:
        """Maintenance of what this update has written; what goes wrong in it fails no update."""
        written = {each.name for each in ended.datasets if each.state == "COMPLETED" and not each.is_idle}
        storage = self._pipeline.storage
        kept = [maintenance.Table("event_log", storage.event_log, {})]
        for name, table in registry.tables.items():
            if str(name) in written:
                path = storage.table(name, private=table.private)
                kept.append(maintenance.Table(str(name), path, table.table_properties))
        for each in kept:
            if not delta_log.exists(each.path) or not maintenance.is_wanted(each, self._pipeline.configuration):
                continue
            try:
                for done in maintenance.keep_in_shape(session, each, storage.maintenance(each.name)):
                    message = f"{done.operation} of {done.table}: {done.files_before} files, now {done.files_after}."
                    self._log.emit("maintenance_progress", message, {"operation": done.operation}, dataset=done.table)
            except Exception as error:
                message = f"{each.name} could not be kept in shape: {root_cause.sentence(error)}"
                self._log.emit("maintenance_progress", message, level="WARN", error=error)

    def _refused(self, failed: UpdateFailed) -> None:
        if failed.update is not None:
            return
        self._log.emit("update_progress", "Update has FAILED.", {"state": "FAILED"}, level="ERROR", error=failed)
        seconds = time.monotonic() - self._began
        faults = tuple(self._redact(str(error)) for error in failed.errors)
        self._write_report(report.Run(self._id, "FAILED", self._started, seconds, errors=faults), None)

    def _report(self, ended: Update, state: str | None = None) -> None:
        seconds = time.monotonic() - self._began
        run = report.run_of(ended, self._started, seconds, self._notices, self._redact)
        self._write_report(replace(run, state=state or run.state), ended.graph)

    def _write_report(self, run: report.Run, graph_: Graph | None) -> None:
        try:
            report.write_report(self._pipeline.storage, self._pipeline.name, run, self._killed, graph_)
        except Exception as error:
            # The tables are what counts: a page that could not be written fails no update.
            self._log.emit("report_progress", f"The report could not be written: {error}", level="WARN", error=error)
        self._killed = []

    def _publish(self) -> list[Exception]:
        """Put what happened so far into the event log; gives what hindered it."""
        try:
            self._log.publish()
        except Exception as error:
            place = self._pipeline.storage.event_log
            if not root_cause.is_disk_full(error):
                return [LocalPipelineError(f"EVENT_LOG_NOT_WRITTEN  {place}\n  {root_cause.sentence(error)}")]
            fix = "make room; the events are kept in system/journal and come into the log with the next update"
            return [LocalPipelineError(f"DISK_FULL  {place}\n  {root_cause.sentence(error)}\n  fix: {fix}")]
        self._published = time.monotonic()
        return []
