"""The values that the report stores of each update, and their JSON form beside the page."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dlt_local.observability.report.measures import Counts
from dlt_local.observability.report.samples import Sample
from dlt_local.observability.report.source_text import SourceText
from dlt_local.observability.shapes import Shape
from dlt_local.observability.shapes import from_json as shape_from_json

KEPT = 30
"""Number of updates that are stored."""


@dataclass(frozen=True)
class ExpectationRun:
    """An expectation's result in one update; counts are rows."""

    name: str
    condition: str
    action: str
    """warn, drop or fail."""
    passed: int
    failed: int


@dataclass(frozen=True)
class DatasetRun:
    """A dataset's result in one update; counts are rows."""

    name: str
    kind: str
    state: str
    place: str
    """File and line of its declaration."""
    seconds: float = 0.0
    rows: int = 0
    upserted: int = 0
    deleted: int = 0
    dropped: int = 0
    written: Mapping[str, int] = field(default_factory=dict)
    """Flow -> rows that it wrote or deleted."""
    expectations: tuple[ExpectationRun, ...] = ()
    newest: str | None = None
    """The newest source time among its rows, ISO 8601."""
    lag: float | None = None
    """Seconds from that time to the commit that added it."""
    counted: Mapping[str, int] = field(default_factory=dict)
    """New rows by value, of a table that says which are rejects."""
    rejects: int = 0
    """The rejects among them."""
    noted: Mapping[str, int] = field(default_factory=dict)
    """New rows by note; out of order is one."""
    error: str | None = None
    excerpt: tuple[tuple[int, str], ...] = ()
    """Numbered source lines around the declaration of a failed dataset."""


@dataclass(frozen=True)
class Run:
    """One update."""

    id: str
    state: str
    started: str
    """UTC, ISO 8601."""
    seconds: float
    datasets: tuple[DatasetRun, ...] = ()
    errors: tuple[str, ...] = ()
    """Errors in declarations, which belong to no dataset."""
    notices: tuple[str, ...] = ()

    @property
    def written(self) -> int:
        """Rows that the update wrote or deleted."""
        return sum(d.rows + d.upserted + d.deleted for d in self.datasets)


@dataclass(frozen=True)
class History:
    """Everything that the next page needs from earlier updates."""

    runs: tuple[Run, ...] = ()
    """Oldest first."""
    counts: Mapping[str, Counts] = field(default_factory=dict)
    """Dataset -> its row counts by value."""
    shapes: tuple[Shape, ...] = ()
    """The datasets of the last graph, inputs first: kept while the declarations have errors."""
    texts: Mapping[str, SourceText] = field(default_factory=dict)
    """Place -> the text of what is declared there."""
    samples: Mapping[str, tuple[Sample, ...]] = field(default_factory=dict)
    """Dataset -> a few of its rejects, newest first."""


def to_json(history: History) -> dict[str, Any]:
    """The history as JSON, with the newest `KEPT` updates."""
    return {
        "runs": [dataclasses.asdict(run) for run in history.runs[-KEPT:]],
        "counts": {name: dataclasses.asdict(counts) for name, counts in history.counts.items()},
        "shapes": [dataclasses.asdict(shape) for shape in history.shapes],
        "texts": {place: dataclasses.asdict(text) for place, text in history.texts.items()},
        "samples": history.samples,
    }


def from_json(stored: Mapping[str, Any]) -> History:
    """The reverse of `to_json`; fields written by another version of the engine are ignored."""
    return History(
        runs=tuple(_run(each) for each in stored.get("runs", ())),
        counts={name: Counts(**_known(Counts, each)) for name, each in stored.get("counts", {}).items()},
        shapes=tuple(shape_from_json(each) for each in stored.get("shapes", ())),
        texts={
            place: SourceText(each["first"], tuple(each["lines"])) for place, each in stored.get("texts", {}).items()
        },
        samples={name: tuple(rows) for name, rows in stored.get("samples", {}).items()},
    )


def _run(stored: Mapping[str, Any]) -> Run:
    return Run(
        **{
            **_known(Run, stored),
            "datasets": tuple(_dataset(each) for each in stored.get("datasets", ())),
            "errors": tuple(stored.get("errors", ())),
            "notices": tuple(stored.get("notices", ())),
        }
    )


def _dataset(stored: Mapping[str, Any]) -> DatasetRun:
    expectations = tuple(ExpectationRun(**_known(ExpectationRun, each)) for each in stored.get("expectations", ()))
    excerpt = tuple((int(number), str(line)) for number, line in stored.get("excerpt", ()))
    return DatasetRun(**{**_known(DatasetRun, stored), "expectations": expectations, "excerpt": excerpt})


def _known(kind: type[Any], stored: Mapping[str, Any]) -> dict[str, Any]:
    names = {field.name for field in dataclasses.fields(kind)}
    return {name: value for name, value in stored.items() if name in names}
