"""Writes the report: adds the update to the history, measures its tables, renders the page."""

import dataclasses
import os
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from dlt_local.declarations.elements import Table
from dlt_local.delta.storage import Storage, read_json, write_json
from dlt_local.flows.outcomes import Update
from dlt_local.graph.graph import Graph, Node
from dlt_local.observability import graph_drawing
from dlt_local.observability.event_log import KilledUpdate
from dlt_local.observability.report import arrival, measures, notes, page
from dlt_local.observability.report.collect import dataset_runs
from dlt_local.observability.report.measures import Counts
from dlt_local.observability.report.runs import DatasetRun, History, Run, from_json, to_json
from dlt_local.observability.report.tallies import REJECTS, Tally, tally


class ReportWriter:
    """Writes the report of one update, as often as a continuous update asks for it."""

    def __init__(
        self,
        storage: Storage,
        pipeline: str,
        update_id: str,
        killed: Sequence[KilledUpdate],
        redact: Callable[[str], str],
    ) -> None:
        self._storage = storage
        self._pipeline = pipeline
        self._id = update_id
        self._killed = [Run(each.update_id, "CANCELED", each.started, 0.0) for each in killed]
        self._redact = redact
        self._start = time.monotonic()
        self._started = datetime.now(UTC).isoformat(timespec="seconds")
        self._before: Mapping[str, Counts] | None = None

    def tallies(self, graph: Graph) -> tuple[Tally, ...]:
        """The rows that the update has added so far, for each table that asks for counts and has new rows."""
        # Stored at once, so that the report does not read the new files again.
        file = _history_file(self._storage)
        history, tables = _history(file), _measured_tables(graph, self._storage)
        if self._before is None:
            self._before = history.counts
        counts = _counts(tables, history.counts)
        if counts != history.counts:
            write_json(file, to_json(dataclasses.replace(history, counts=counts)))
        found = (
            tally(table.name, self._before.get(name), counts[name], table.rejected)
            for table in tables
            for name in table.asked
            if name in counts
        )
        return tuple(each for each in found if each.new)

    def write(self, update: Update, state: str, notices: Sequence[str]) -> None:
        """Report an update that has ended, or that is still RUNNING."""
        datasets, shown = dataset_runs(update, self._redact), tuple(map(self._redact, notices))
        self._write(dataclasses.replace(self._run(state), datasets=datasets, notices=shown), update.graph)

    def write_errors(self, errors: Sequence[Exception]) -> None:
        """Report an update that failed before any dataset ran."""
        shown = tuple(self._redact(str(error)) for error in errors)
        self._write(dataclasses.replace(self._run("FAILED"), errors=shown), None)

    def _run(self, state: str) -> Run:
        return Run(self._id, state, self._started, time.monotonic() - self._start)

    def _write(self, run: Run, graph: Graph | None) -> None:
        killed, self._killed = self._killed, []
        write_report(self._storage, self._pipeline, run, killed, graph)


def write_report(storage: Storage, pipeline: str, run: Run, killed: Sequence[Run], graph: Graph | None) -> Path:
    """Add an update to the report.

    Args:
        storage: the pipeline's storage.
        pipeline: the pipeline's name.
        run: the current update.
        killed: updates that were killed since the last report.
        graph: all datasets; None if the declarations have errors.

    Returns:
        The page.
    """
    file = _history_file(storage)
    previous = _history(file)
    if graph is None:
        history = dataclasses.replace(previous, runs=_merge(previous.runs, killed, run))
    else:
        tables = _measured_tables(graph, storage)
        measured = _with_newest(run, {table.name: table for table in tables})
        history = History(
            runs=_merge(previous.runs, killed, measured),
            counts=_counts(tables, previous.counts),
            picture=_picture(graph, measured),
        )
    write_json(file, to_json(history))
    breakdowns = [_breakdown(name, counts) for name, counts in history.counts.items() if counts.rows]
    return _write(file.with_name("index.html"), page.render(pipeline, history.runs, breakdowns, history.picture))


def _breakdown(name: str, counts: Counts) -> page.Breakdown:
    if not counts.examples:
        return page.Breakdown(name, counts.column, counts.rows)
    rows = {f"{value}, first {counts.examples.get(value)}": number for value, number in counts.rows.items()}
    return page.Breakdown(name, "note", rows)


def _history_file(storage: Storage) -> Path:
    return storage.system / "report" / "history.json"


def _history(file: Path) -> History:
    return from_json(read_json(file) or {})


def _merge(stored: Sequence[Run], killed: Sequence[Run], current: Run) -> tuple[Run, ...]:
    """All updates, each once: a continuous update is reported repeatedly, and may have been killed since."""
    states = {each.id: each.state for each in killed}
    earlier = [dataclasses.replace(run, state=states.get(run.id, run.state)) for run in stored if run.id != current.id]
    known = {run.id for run in earlier}
    return (*earlier, *(run for run in killed if run.id not in known), current)


def _write(file: Path, text: str) -> Path:
    scratch = file.with_suffix(".tmp")
    scratch.write_text(text, encoding="utf-8")
    os.replace(scratch, file)
    return file


@dataclasses.dataclass(frozen=True)
class _Asked:
    """What a table property asks to be counted, and how."""

    what: str
    count: measures.CountFiles | None
    find_examples: measures.FindExamples | None


class _MeasuredTable:
    """A table and the measures that its properties request."""

    def __init__(self, node: Node, storage: Storage) -> None:
        assert isinstance(node.dataset, Table)
        self.name = node.name
        self._path = storage.table(node.dataset.name, node.dataset.private)
        self._properties = node.dataset.table_properties

    def newest(self) -> measures.Newest | None:
        column = self._properties.get(measures.NEWEST)
        return measures.newest(self._path, column) if column else None

    @property
    def rejected(self) -> str | None:
        return self._properties.get(REJECTS)

    @property
    def asked(self) -> Mapping[str, _Asked]:
        """What is counted and how, under the names of the results."""
        asked = (
            (self.name, measures.COUNT_BY, None, None),
            (f"{self.name} (arrival)", arrival.ARRIVAL, arrival.out_of_order, None),
            (f"{self.name} (notes)", notes.NOTES, notes.noted, notes.examples),
        )
        return {
            name: _Asked(self._properties[asked_by], count, find_examples)
            for name, asked_by, count, find_examples in asked
            if asked_by in self._properties
        }

    def counts(self, previous: Mapping[str, Counts]) -> dict[str, Counts]:
        found = {
            name: measures.counts(self._path, asked.what, previous.get(name), asked.count, asked.find_examples)
            for name, asked in self.asked.items()
        }
        return {name: counts for name, counts in found.items() if counts is not None}


def _measured_tables(graph: Graph, storage: Storage) -> list[_MeasuredTable]:
    return [_MeasuredTable(node, storage) for node in graph.nodes if isinstance(node.dataset, Table)]


def _with_newest(run: Run, tables: Mapping[str, _MeasuredTable]) -> Run:
    return dataclasses.replace(run, datasets=tuple(_measured(each, tables.get(each.name)) for each in run.datasets))


def _measured(dataset: DatasetRun, table: _MeasuredTable | None) -> DatasetRun:
    found = table.newest() if table else None
    if found is None:
        return dataset
    return dataclasses.replace(dataset, newest=found.time.isoformat(), lag=found.lag_seconds)


def _counts(tables: Sequence[_MeasuredTable], previous: Mapping[str, Counts]) -> dict[str, Counts]:
    return {name: counts for table in tables for name, counts in table.counts(previous).items()}


def _picture(graph: Graph, run: Run) -> str:
    results = {each.name: graph_drawing.DatasetResult(each.state, each.seconds, each.written) for each in run.datasets}
    return graph_drawing.svg(graph, results)
