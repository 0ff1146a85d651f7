"""Converts an update's in-memory result into the values that the report stores."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from dlt_local.declarations.elements import Table, View
from dlt_local.errors import SourceLocation
from dlt_local.flows.outcomes import DatasetUpdate, Update
from dlt_local.observability.report.runs import DatasetRun, ExpectationRun
from dlt_local.observability.report.tallies import Tally
from dlt_local.observability.row_counts import RowCounts

_CONTEXT_LINES = 3


def dataset_runs(update: Update, redact: Callable[[str], str]) -> tuple[DatasetRun, ...]:
    """The result of each dataset; errors and source lines are redacted."""
    return tuple(_dataset_run(outcome, update, redact) for outcome in update.datasets)


def counted(datasets: Sequence[DatasetRun], tallies: Sequence[Tally]) -> tuple[DatasetRun, ...]:
    """The results of datasets, with what became of their new rows."""
    by_dataset: dict[str, list[Tally]] = {}
    for tally in tallies:
        by_dataset.setdefault(tally.dataset, []).append(tally)
    return tuple(_counted(each, by_dataset.get(each.name, ())) for each in datasets)


def _counted(dataset: DatasetRun, tallies: Sequence[Tally]) -> DatasetRun:
    by_value = [each for each in tallies if not each.is_of_notes and each.rejected]
    return replace(
        dataset,
        counted={value: rows for each in by_value for value, rows in each.new.items()},
        rejects=sum(sum(each.rejects.values()) for each in by_value),
        noted={note: rows for each in tallies if each.is_of_notes for note, rows in each.new.items()},
    )


def _dataset_run(outcome: DatasetUpdate, update: Update, redact: Callable[[str], str]) -> DatasetRun:
    dataset = update.graph[outcome.name].dataset
    counts = RowCounts.of(outcome.flows.values())
    return DatasetRun(
        name=outcome.name,
        kind=outcome.kind,
        state=outcome.state,
        place=str(dataset.location),
        seconds=outcome.seconds,
        rows=counts.rows,
        upserted=counts.upserted,
        deleted=counts.deleted,
        dropped=counts.dropped,
        written={flow: RowCounts.of([metrics]).written for flow, metrics in outcome.flows.items()},
        expectations=_expectations(dataset, outcome),
        error=redact(str(outcome.error)) if outcome.error else None,
        excerpt=tuple((n, redact(line)) for n, line in excerpt(dataset.location)) if outcome.error else (),
    )


def _expectations(dataset: object, outcome: DatasetUpdate) -> tuple[ExpectationRun, ...]:
    if not isinstance(dataset, Table | View):
        return ()
    checked = [metrics for metrics in outcome.flows.values() if metrics.checked_rows]
    rows = sum(metrics.checked_rows for metrics in checked)
    if not rows:
        return ()
    failed = {e.name: sum(metrics.failed.get(e.name, 0) for metrics in checked) for e in dataset.expectations}
    return tuple(
        ExpectationRun(e.name, e.text, e.action, rows - failed[e.name], failed[e.name]) for e in dataset.expectations
    )


def excerpt(location: SourceLocation) -> tuple[tuple[int, str], ...]:
    """The numbered lines around a location in a source file; empty if the file cannot be read."""
    try:
        lines = Path(location.file).read_text(encoding="utf-8").splitlines()
    except OSError:
        return ()
    first = max(location.line - _CONTEXT_LINES, 1)
    return tuple(enumerate(lines[first - 1 : location.line + _CONTEXT_LINES], first))
