"""From an update, as the engine has it in memory, to what the report keeps of it."""

from collections.abc import Callable, Sequence
from pathlib import Path

from dlt_local.declarations.elements import Table, View
from dlt_local.errors import SourceLocation
from dlt_local.flows.outcomes import DatasetUpdate, Update
from dlt_local.observability.report.runs import DatasetRun, ExpectationRun, Run

_AROUND = 3


def run_of(update: Update, started: str, seconds: float, notices: Sequence[str], redact: Callable[[str], str]) -> Run:
    """What the report keeps of an update; ``redact`` takes secrets out of texts."""
    datasets = tuple(_dataset(each, update, redact) for each in update.datasets)
    return Run(update.id, update.state, started, seconds, datasets, notices=tuple(map(redact, notices)))


def _dataset(told: DatasetUpdate, update: Update, redact: Callable[[str], str]) -> DatasetRun:
    dataset = update.graph[told.name].dataset
    flows = told.flows.values()
    upserted = sum(m.cdc.num_upserted_rows for m in flows if m.cdc)
    deleted = sum(m.cdc.num_deleted_rows for m in flows if m.cdc)
    return DatasetRun(
        name=told.name,
        kind=told.kind,
        state=told.state,
        place=str(dataset.location),
        seconds=told.seconds,
        rows=sum(m.num_output_rows for m in flows),
        upserted=upserted,
        deleted=deleted,
        dropped=sum(m.dropped_rows for m in flows),
        written={
            name: m.num_output_rows + (m.cdc.num_upserted_rows + m.cdc.num_deleted_rows if m.cdc else 0)
            for name, m in told.flows.items()
        },
        expectations=_expectations(dataset, told),
        error=redact(str(told.error)) if told.error else None,
        excerpt=tuple((n, redact(line)) for n, line in excerpt(dataset.location)) if told.error else (),
    )


def _expectations(dataset: object, told: DatasetUpdate) -> tuple[ExpectationRun, ...]:
    if not isinstance(dataset, Table | View):
        return ()
    checked = [m for m in told.flows.values() if m.checked_rows]
    rows = sum(m.checked_rows for m in checked)
    if not rows:
        return ()
    failed = {e.name: sum(m.failed.get(e.name, 0) for m in checked) for e in dataset.expectations}
    return tuple(
        ExpectationRun(e.name, e.text, e.action, rows - failed[e.name], failed[e.name]) for e in dataset.expectations
    )


def excerpt(location: SourceLocation) -> tuple[tuple[int, str], ...]:
    """The lines around a place in a source file, numbered; none where the file cannot be read."""
    try:
        lines = Path(location.file).read_text(encoding="utf-8").splitlines()
    except OSError:
        return ()
    first = max(location.line - _AROUND, 1)
    return tuple(enumerate(lines[first - 1 : location.line + _AROUND], first))
