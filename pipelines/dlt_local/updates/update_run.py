"""Runs one update, from its first event to its report page."""

import threading
import time
import uuid
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace

from dlt_local.declarations.elements import Table, View
from dlt_local.declarations.registry import Registry
from dlt_local.delta import rebuild
from dlt_local.delta.rebuild import RebuildStorage
from dlt_local.delta.storage import Storage
from dlt_local.errors import LocalPipelineError
from dlt_local.flows.context import UpdateContext
from dlt_local.flows.outcomes import DatasetUpdate, RunResult, Update, UpdateFailed
from dlt_local.flows.runner import DatasetRunner
from dlt_local.graph.graph import Graph, Node
from dlt_local.names import TableName
from dlt_local.observability.event_log import EventLog
from dlt_local.observability.redaction import Redactor
from dlt_local.observability.report import ReportWriter
from dlt_local.observability.report.tallies import Tally, TooManyRejects, number_of_rejects
from dlt_local.observability.update_events import UpdateEvents
from dlt_local.spark import jvm, root_cause
from dlt_local.updates import continuous, scheduler, stored_tables, table_maintenance
from dlt_local.updates.continuous import ContinuousMode, CumulativeProgress
from dlt_local.updates.declaration_changes import changed_queries, refusals
from dlt_local.updates.definition import PipelineDefinition
from dlt_local.updates.resolution import ResolvedPipeline, Sessions, resolved
from dlt_local.updates.selection import SelectedDatasets, Selection

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
        self._notices: list[str] = []
        self._notice_lock = threading.Lock()
        self._too_many: list[TooManyRejects] = []
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
        with resolved(pipeline, self._sessions, self._selection) as current:
            self._redact.add(*(sink.options for sink in current.registry.sinks.values()))
            self._log.add_hooks(current.registry.hooks)
            selected = self._selection.of(current.graph, pipeline.schema)
            self._reset(selected.reset)
            self._events.defined(selected.run)
            self._give_notices(current, selected)
            storage = RebuildStorage(pipeline.storage.root, frozenset(node.name for node in selected.rebuilt))
            update = self._run_datasets(current, selected, storage)
            self._replace_rebuilt(selected.rebuilt, storage, current, update)
            table_maintenance.maintain(pipeline, current, update, self._events)
        update = self._accounted(update)
        pipeline.progress.end(update.state)
        self._events.ended(update)
        with self._reporting():
            self._report.write(update, update.state, self._notices)
        return update

    def _reset(self, nodes: Sequence[Node]) -> None:
        for node in nodes:
            assert not isinstance(node.dataset, View)
            private = isinstance(node.dataset, Table) and node.dataset.private
            self._pipeline.storage.reset(node.dataset.name, private=private)

    def _give_notices(self, current: ResolvedPipeline, selected: SelectedDatasets) -> None:
        storage = self._pipeline.storage
        self._notices += [*current.graph.notices, *changed_queries(selected.kept, storage)]
        for notice in self._notices:
            self._events.noticed(notice)
        for name in stored_tables.inactive(storage, _declared(current.registry)):
            notice = f"Dataset {name} is no longer declared: it is inactive and keeps its data."
            self._events.inactive(name, notice)
            self._notices.append(notice)
        for notice in self._notices:
            self._pipeline.progress.notice(self._redact(notice))

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
            self._on_notice,
        )
        refused = refusals(selected.kept, current.graph, context)
        runner = DatasetRunner(context)

        def run_dataset(node: Node) -> RunResult:
            if node.name in refused:
                raise refused[node.name]
            return runner.run(node)

        execution = scheduler.Execution(run_dataset, self._pipeline.parallelism, self._should_stop)

        def run_round(number: int, resting: frozenset[str] = frozenset()) -> Update:
            progress.next_round()
            current.catalog.renew_views()
            recorder = _RoundRecorder(progress, self._events, records_idle=number == 0)
            outcomes = scheduler.run_all(continuous.without_resting(nodes, resting), execution, recorder)
            failed = any(outcome.state == "FAILED" for outcome in outcomes)
            return Update(self._id, "FAILED" if failed else "COMPLETED", outcomes, current.graph)

        if self._mode is None:
            return run_round(0)
        return continuous.run_rounds(run_round, self._mode, self._on_retry, self._on_written)

    def _on_notice(self, notice: str) -> None:
        """Report what a flow has to say; called from the flows' threads."""
        with self._notice_lock:
            if notice in self._notices:
                return
            self._notices.append(notice)
            self._events.noticed(notice)
            self._pipeline.progress.notice(self._redact(notice))

    def _accounted(self, update: Update) -> Update:
        """The update, FAILED if it added too many rejects, after reporting what became of the rows."""
        limit = self._pipeline.max_rejects
        tallies: tuple[Tally, ...] = ()
        # Without a limit, counts that cannot be made must not fail the update.
        with nullcontext() if limit is not None else self._reporting():
            tallies = self._report.tallies(update.graph)
        for text in (*map(str, tallies), *_broken_expectations(update)):
            self._pipeline.progress.notice(self._redact(text))
        self._events.counted(tallies)
        if limit is None or number_of_rejects(tallies) <= limit:
            return update
        self._too_many = [TooManyRejects(tallies, limit)]
        return replace(update, state="FAILED")

    def _should_stop(self) -> bool:
        return self._mode is not None and self._mode.stop.is_set()

    def _on_retry(self, error: Exception, pause: float) -> None:
        message = f"Retrying in {pause:.0f} s after an error: {error}"
        self._pipeline.progress.notice(self._redact(message))
        self._events.retried(error, message)

    def _on_written(self, total: Update) -> None:
        if time.monotonic() - self._published > _PUBLISH_INTERVAL:
            with self._reporting():
                self._report.write(total, "RUNNING", self._notices)
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
            return [_not_published(error, self._pipeline)]
        self._published = time.monotonic()
        return []


class _RoundRecorder:
    """Passes what the scheduler reports on to progress and event log."""

    def __init__(self, progress: CumulativeProgress, events: UpdateEvents, records_idle: bool) -> None:
        self._progress = progress
        self._events = events
        self._records_idle = records_idle

    def started(self, dataset: str) -> None:
        self._progress.state(dataset, "RUNNING")

    def finished(self, outcome: DatasetUpdate) -> None:
        if self._records_idle or not outcome.is_idle:
            for flow, metrics in outcome.flows.items():
                self._progress.batch(outcome.name, flow, metrics)
            self._events.dataset_ended(outcome)
        self._progress.state(outcome.name, outcome.state)

    def not_run(self, outcome: DatasetUpdate) -> None:
        self._events.dataset_ended(outcome)
        self._progress.state(outcome.name, outcome.state)


def _broken_expectations(update: Update) -> Iterator[str]:
    """One line for each expectation that rows did not meet; its counts are in the events of the dataset's flows."""
    for dataset in update.datasets:
        failed: Counter[str] = Counter()
        for metrics in dataset.flows.values():
            failed.update(metrics.failed)
        for name, rows in failed.items():
            if rows:
                yield f"{dataset.name}: {rows:,} new rows do not meet `{name}`"


def _declared(registry: Registry) -> list[TableName]:
    sinks = [table for sink in registry.sinks.values() if (table := sink.options.get("tableName"))]
    return [*registry.tables, *map(registry.name, sinks)]


def _not_published(error: Exception, pipeline: PipelineDefinition) -> LocalPipelineError:
    location, cause = pipeline.storage.event_log, root_cause.sentence(error)
    if not root_cause.is_disk_full(error):
        return LocalPipelineError(f"EVENT_LOG_NOT_WRITTEN  {location}\n  {cause}")
    fix = "make room; the events are kept in system/journal, and the next update adds them to the log"
    return LocalPipelineError(f"DISK_FULL  {location}\n  {cause}\n  fix: {fix}")
