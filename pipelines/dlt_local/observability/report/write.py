"""Writes the report: adds the update to the history, measures its tables, renders the page."""

import dataclasses
import os
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from dlt_local.delta.storage import Storage, read_json, write_json
from dlt_local.flows.outcomes import Update
from dlt_local.graph.graph import Graph
from dlt_local.observability.event_log import KilledUpdate
from dlt_local.observability.report import page
from dlt_local.observability.report.collect import counted, dataset_runs
from dlt_local.observability.report.measured_tables import MeasuredTable, measured_tables
from dlt_local.observability.report.measures import Counts
from dlt_local.observability.report.runs import DatasetRun, History, Run, from_json, to_json
from dlt_local.observability.report.samples import Sample, newest
from dlt_local.observability.report.source_text import source_texts
from dlt_local.observability.report.tallies import Tally, tally
from dlt_local.observability.shapes import Shape, shapes


@dataclasses.dataclass(frozen=True)
class Found:
    """What an update found out before its report is written."""

    graph: Graph
    redact: Callable[[str], str] = str
    samples: Mapping[str, tuple[Sample, ...]] = dataclasses.field(default_factory=dict)
    """Dataset -> a few of its new rejects."""


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
        self._tallies: tuple[Tally, ...] = ()
        self._samples: Mapping[str, tuple[Sample, ...]] = {}

    def tallies(self, graph: Graph) -> tuple[Tally, ...]:
        """The rows that the update has added so far, for each table that asks for counts and has new rows."""
        # Stored at once, so that the report does not read the new files again.
        file = _history_file(self._storage)
        history, tables = _history(file), measured_tables(graph, self._storage)
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
        self._tallies = tuple(each for each in found if each.new)
        with_rejects = {each.dataset for each in self._tallies if each.rejects}
        self._samples = {
            table.name: table.sample(self._before.get(table.name), self._redact)
            for table in tables
            if table.name in with_rejects
        }
        return self._tallies

    def write(self, update: Update, state: str, notices: Sequence[str]) -> None:
        """Report an update that has ended, or that is still RUNNING."""
        datasets = counted(dataset_runs(update, self._redact), self._tallies)
        shown = tuple(map(self._redact, notices))
        found = Found(update.graph, self._redact, self._samples)
        self._write(dataclasses.replace(self._run(state), datasets=datasets, notices=shown), found)

    def write_errors(self, errors: Sequence[Exception]) -> None:
        """Report an update that failed before any dataset ran."""
        shown = tuple(self._redact(str(error)) for error in errors)
        self._write(dataclasses.replace(self._run("FAILED"), errors=shown), None)

    def _run(self, state: str) -> Run:
        return Run(self._id, state, self._started, time.monotonic() - self._start)

    def _write(self, run: Run, found: Found | None) -> None:
        killed, self._killed = self._killed, []
        write_report(self._storage, self._pipeline, run, killed, found)


def write_report(storage: Storage, pipeline: str, run: Run, killed: Sequence[Run], found: Found | None) -> Path:
    """Add an update to the report.

    Args:
        storage: the pipeline's storage.
        pipeline: the pipeline's name.
        run: the current update.
        killed: updates that were killed since the last report.
        found: all datasets; None if the declarations have errors.

    Returns:
        The page.
    """
    file = _history_file(storage)
    previous = _history(file)
    if found is None:
        history = dataclasses.replace(previous, runs=_merge(previous.runs, killed, run))
    else:
        tables, datasets = measured_tables(found.graph, storage), shapes(found.graph, found.redact)
        measured = _with_newest(run, {table.name: table for table in tables})
        history = History(
            runs=_merge(previous.runs, killed, measured),
            counts=_counts(tables, previous.counts),
            shapes=datasets,
            texts=source_texts((each.place for each in datasets), found.redact),
            samples=_samples(found.samples, previous.samples, datasets),
        )
    write_json(file, to_json(history))
    return _write(file.with_name("index.html"), page.render(pipeline, history))


def last_shapes(storage: Storage) -> tuple[Shape, ...]:
    """The datasets as the last update found them; empty if there was none.

    Raises:
        StorageFileDamaged: the report's store cannot be read.
    """
    return _history(_history_file(storage)).shapes


def _samples(
    found: Mapping[str, tuple[Sample, ...]], earlier: Mapping[str, tuple[Sample, ...]], datasets: Sequence[Shape]
) -> dict[str, tuple[Sample, ...]]:
    names = [each.name for each in datasets if each.name in found or each.name in earlier]
    return {name: newest(found.get(name, ()), earlier.get(name, ())) for name in names}


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


def _with_newest(run: Run, tables: Mapping[str, MeasuredTable]) -> Run:
    return dataclasses.replace(run, datasets=tuple(_measured(each, tables.get(each.name)) for each in run.datasets))


def _measured(dataset: DatasetRun, table: MeasuredTable | None) -> DatasetRun:
    found = table.newest() if table else None
    if found is None:
        return dataset
    return dataclasses.replace(dataset, newest=found.time.isoformat(), lag=found.lag_seconds)


def _counts(tables: Sequence[MeasuredTable], previous: Mapping[str, Counts]) -> dict[str, Counts]:
    return {name: counts for table in tables for name, counts in table.counts(previous).items()}
