"""Runs one update, from its first event to its report page."""

import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path

from dlt_local.declarations.elements import Table, View
from dlt_local.declarations.registry import Registry
from dlt_local.delta import rebuild
from dlt_local.delta.rebuild import RebuildStorage
from dlt_local.delta.storage import Storage
from dlt_local.errors import LocalPipelineError
from dlt_local.flows.context import UpdateContext
from dlt_local.flows.outcomes import RunResult, Update, UpdateFailed
from dlt_local.flows.runner import DatasetRunner
from dlt_local.graph.graph import Graph, Node
from dlt_local.names import TableName
from dlt_local.observability.event_log import EventLog, not_published
from dlt_local.observability.redaction import Redactor
from dlt_local.observability.report import ReportWriter
from dlt_local.observability.report.tallies import Tally, TooManyRejects
from dlt_local.observability.update_events import UpdateEvents
from dlt_local.spark import jvm
from dlt_local.updates import accounts, continuous, expiry, scheduler, stored_tables, table_maintenance
from dlt_local.updates.continuous import ContinuousMode, CumulativeProgress, LeftOut
from dlt_local.updates.declaration_changes import changed_queries, refusals
from dlt_local.updates.definition import PipelineDefinition
from dlt_local.updates.notices import Notices
from dlt_local.updates.resolution import ResolvedPipeline, Sessions, resolved
from dlt_local.updates.round_recorder import RoundRecorder
from dlt_local.updates.selection import SelectedDatasets, Selection
from dlt_local.updates.trigger_intervals import Pace, intervals

_PUBLISH_INTERVAL = 30.0
"""Seconds after which a continuous update publishes its events and its report again."""


class UpdateRun:
    """One update; the caller holds the lock on the storage."""

    def __init__(
        self, pipeline: PipelineDefinition, sessions: Sessions, selection: Selection, mode: ContinuousMode | None
    ) -> None:
        self._pipeline = pipeline
        self._sessions = sessions
        self._selection = selection
        self._mode = mode
        self._id = str(uuid.uuid4())
        self._redact = Redactor(pipeline.configuration)
        self._log = EventLog(pipeline.storage, pipeline.name, self._id, self._redact)
        self._events = UpdateEvents(self._log, self._id)
        killed = self._log.close_killed_updates()
        self._report = ReportWriter(pipeline.storage, pipeline.name, self._id, killed, self._redact)
        self._notices = Notices(pipeline.progress, self._events, self._redact)
        self._too_many: tuple[TooManyRejects, ...] = ()
        self._published = time.monotonic()

    def run(self) -> Update:
        """Run the update, record its events, and write its report.

        Raises:
            UpdateFailed: something failed; the error is redacted.
        """
        update: Update | None = None
        errors: list[Exception] = []
        self._events.created()
        try:
            update = self._run()
            errors += (*update.errors, *self._too_many) if update.state == "FAILED" else ()
        except LocalPipelineError as error:
            rejection = error if isinstance(error, UpdateFailed) else UpdateFailed(None, [error])
            errors += rejection.errors
            self._events.failed_to_start(rejection)
            with self._reporting():
                self._report.write_errors(rejection.errors)
        finally:
            errors += self._publish()
        if errors:
            failed = UpdateFailed(update, errors)
            self._redact.error(failed)
            # Without `from None` a traceback would show the unredacted causes.
            raise failed from None
        assert update is not None
        return update

    def _run(self) -> Update:
        pipeline = self._pipeline
        with resolved(pipeline, self._sessions, self._selection, self._redact.add_value) as current:
            self._redact.add(*(sink.options for sink in current.registry.sinks.values()))
            self._log.add_hooks(current.registry.hooks, self._notices.show)
            selected = self._selection.of(current.graph, pipeline.schema)
            self._check_anew(current, (*selected.reset, *selected.rebuilt))
            self._reset(selected.reset)
            self._events.defined(selected.run)
            self._give_notices(current, selected)
            storage = RebuildStorage(pipeline.storage.root, frozenset(node.name for node in selected.rebuilt))
            update = self._run_datasets(current, selected, storage)
            self._replace_rebuilt(selected.rebuilt, storage, current, update)
            table_maintenance.maintain(pipeline, current, update, self._events)
            update = self._accounted(update)
            # After the rows of the update have been counted.
            self._expire(current, update)
        pipeline.progress.end(update.state)
        self._events.ended(update)
        with self._reporting():
            self._report.write(update, update.state, self._notices.given)
        return update

    def _check_anew(self, current: ResolvedPipeline, nodes: Sequence[Node]) -> None:
        accepted = str(current.catalog.session.conf.get(expiry.SETTING, ""))
        expiry.Sources(lambda name: self._path(current, name), accepted).check_anew(nodes)

    def _path(self, current: ResolvedPipeline, name: TableName) -> Path:
        table = current.registry.tables.get(name)
        return self._pipeline.storage.table(name, private=table is not None and table.private)

    def _expire(self, current: ResolvedPipeline, update: Update) -> None:
        # A continuous update may have been stopped before its datasets had read everything.
        if self._mode is not None:
            return
        storage = self._pipeline.storage
        for table in expiry.due(update, storage):
            try:
                rows = expiry.delete_expired(current.catalog.session, table, storage)
            except Exception as error:
                self._events.maintenance_failed(str(table.name), error)
            else:
                if rows:
                    self._notices.show(f"{table.name}: {rows:,} rows have expired")
                    self._events.expired(str(table.name), rows)

    def _reset(self, nodes: Sequence[Node]) -> None:
        # Readers first: after a kill on the way, none of them has a place in a table that has been deleted since.
        for node in reversed(nodes):
            assert not isinstance(node.dataset, View)
            private = isinstance(node.dataset, Table) and node.dataset.private
            self._pipeline.storage.reset(node.dataset.name, private=private)

    def _give_notices(self, current: ResolvedPipeline, selected: SelectedDatasets) -> None:
        storage = self._pipeline.storage
        for notice in (*current.graph.notices, *changed_queries(selected.kept, storage)):
            self._notices.give(notice)
        for name in stored_tables.inactive(storage, _declared(current.registry)):
            self._notices.inactive(name)

    def _replace_rebuilt(
        self, nodes: Sequence[Node], storage: RebuildStorage, current: ResolvedPipeline, update: Update
    ) -> None:
        """Put what was rebuilt in place, if all of it is complete."""
        if not nodes or any(update[node.name].state not in ("COMPLETED", "IDLE") for node in nodes):
            return
        tables = [node.dataset for node in nodes if isinstance(node.dataset, Table)]
        rebuild.replace(storage, [(table.name, table.private) for table in tables])
        for table in tables:
            jvm.forget_delta_log(current.catalog.session, self._pipeline.storage.table(table.name, table.private))

    def _run_datasets(self, current: ResolvedPipeline, selected: SelectedDatasets, storage: Storage) -> Update:
        nodes = selected.run
        progress = CumulativeProgress(self._pipeline.progress)
        progress.begin(f"{self._pipeline.name}: update {self._id[:6]}", Graph(tuple(nodes), current.graph.notices))
        context = UpdateContext(
            current.catalog,
            current.registry,
            current.graph,
            storage,
            progress.batch,
            self._should_stop,
            self._notices.give,
        )
        refused = refusals(selected.kept, current.graph, context)
        runner = DatasetRunner(context)

        def run_dataset(node: Node) -> RunResult:
            if node.name in refused:
                raise refused[node.name]
            return runner.run(node)

        execution = scheduler.Execution(run_dataset, self._pipeline.parallelism, self._should_stop)

        pace = Pace({} if self._mode is None else intervals(nodes, self._pipeline.configuration))

        def run_round(number: int, left_out: LeftOut) -> Update:
            in_round = continuous.nodes_of_round(nodes, left_out)
            pace.started([node.name for node in in_round])
            progress.next_round()
            current.catalog.renew()
            recorder = RoundRecorder(progress, self._events, records_idle=number == 0)
            outcomes = scheduler.run_all(in_round, execution, recorder)
            failed = any(outcome.state == "FAILED" for outcome in outcomes)
            return Update(self._id, "FAILED" if failed else "COMPLETED", outcomes, current.graph)

        if self._mode is None:
            return run_round(0, LeftOut())
        return continuous.run_rounds(run_round, self._mode, pace, self._on_retry, self._on_written)

    def _accounted(self, update: Update) -> Update:
        """The update, FAILED if it added too many rejects, after reporting what became of the rows."""
        limit = self._pipeline.max_rejects
        tallies: tuple[Tally, ...] = ()
        # Without a limit, counts that cannot be made must not fail the update.
        with nullcontext() if limit is not None else self._reporting():
            tallies = self._report.tallies(update.graph)
        for line in accounts.lines(update, tallies):
            self._notices.show(line)
        self._events.counted(tallies)
        self._too_many = accounts.too_many(tallies, limit)
        return replace(update, state="FAILED") if self._too_many else update

    def _should_stop(self) -> bool:
        return self._mode is not None and self._mode.stop.is_set()

    def _on_retry(self, error: Exception, pause: float) -> None:
        message = f"Retrying in {pause:.0f} s after an error: {error}"
        self._notices.show(message)
        self._events.retried(error, message)

    def _on_written(self, total: Update) -> None:
        if time.monotonic() - self._published > _PUBLISH_INTERVAL:
            with self._reporting():
                self._report.write(total, "RUNNING", self._notices.given)
            self._publish()

    @contextmanager
    def _reporting(self) -> Iterator[None]:
        """Record an error instead of raising it: a page that cannot be written must not fail the update."""
        try:
            yield
        except Exception as error:
            self._events.report_failed(error)

    def _publish(self) -> list[Exception]:
        """Publish the events so far to the event log; returns the errors that prevented it."""
        try:
            self._log.publish()
        except Exception as error:
            return [not_published(error, self._pipeline.storage.event_log)]
        self._published = time.monotonic()
        return []


def _declared(registry: Registry) -> list[TableName]:
    sinks = [table for sink in registry.sinks.values() if (table := sink.options.get("tableName"))]
    return [*registry.tables, *map(registry.name, sinks)]
