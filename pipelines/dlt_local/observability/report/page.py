"""Renders the report page: values in, the text of one HTML file out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from dlt_local.observability.report.runs import DatasetRun, Run

_SHOWN = 12
"""Number of updates that are shown side by side."""
_ON_VIOLATION = {"warn": "keep", "drop": "drop", "fail": "fail the update"}


@dataclass(frozen=True)
class Breakdown:
    """A table's row counts by the values of one column."""

    dataset: str
    column: str
    rows: Mapping[str, int]


@dataclass(frozen=True)
class Trend:
    """One expectation's results in the last updates."""

    dataset: str
    name: str
    condition: str
    action: str
    """warn, drop or fail."""
    results: tuple[tuple[str, int, int], ...]
    """For each update that checked it: start time, rows that passed, rows that failed."""

    @property
    def on_violation(self) -> str:
        """What happens to a row that fails."""
        return _ON_VIOLATION[self.action]

    @property
    def passed(self) -> int:
        """Rows that passed."""
        return sum(passed for _, passed, _ in self.results)

    @property
    def failed(self) -> int:
        """Rows that failed."""
        return sum(failed for _, _, failed in self.results)


def render(pipeline: str, runs: Sequence[Run], breakdowns: Sequence[Breakdown], picture: str) -> str:
    """The page.

    Args:
        pipeline: its name.
        runs: the updates, oldest first; the page is about the last one.
        breakdowns: row counts by value, one per table that requests them.
        picture: the graph as trusted SVG.
    """
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {"moment": _moment, "duration": _duration, "number": _number}
    template = environment.from_string(Path(__file__).with_name("page.html.j2").read_text(encoding="utf-8"))
    recent = runs[-_SHOWN:]
    return template.render(
        pipeline=pipeline,
        run=runs[-1],
        runs=list(reversed(recent)),
        trends=trends(recent),
        breakdowns=breakdowns,
        delays=delays(runs),
        picture=Markup(picture),
        place=_place,
    )


def trends(runs: Sequence[Run]) -> list[Trend]:
    """Every expectation that any of these updates checked, in order of first appearance."""
    found: dict[tuple[str, str], Trend] = {}
    for run in runs:
        for dataset in run.datasets:
            for each in dataset.expectations:
                previous = found.get((dataset.name, each.name))
                results = (*(previous.results if previous else ()), (run.started, each.passed, each.failed))
                found[dataset.name, each.name] = Trend(dataset.name, each.name, each.condition, each.action, results)
    return list(found.values())


def delays(runs: Sequence[Run]) -> list[DatasetRun]:
    """For each dataset with a measured newest source time, its result in the last update that measured it."""
    found = {each.name: each for run in runs for each in run.datasets if each.newest is not None}
    return list(found.values())


def _moment(text: str) -> str:
    return f"{datetime.fromisoformat(text):%Y-%m-%d %H:%M:%S} UTC"


def _duration(seconds: float) -> str:
    """
    >>> _duration(0.34), _duration(75), _duration(200_000)
    ('0.3 s', '1 min 15 s', '2 d 7 h')
    """
    if seconds < 60:
        return f"{seconds:.1f} s"
    left = timedelta(seconds=round(seconds))
    hours, rest = divmod(left.seconds, 3600)
    if left.days:
        return f"{left.days} d {hours} h"
    return f"{hours} h {rest // 60} min" if hours else f"{rest // 60} min {rest % 60} s"


def _number(count: int) -> str:
    return f"{count:,}"


def _place(dataset: DatasetRun) -> str:
    file, _, line = dataset.place.rpartition(":")
    return f"{Path(file).name}:{line}"
