"""The report as HTML: values in, one file's text out."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Protocol

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from dlt_local.observability.report.runs import DatasetRun, Run

_LOOKED_AT = 12
"""So many updates stand side by side."""


class ByValue(Protocol):
    """A table's rows by the values of one column."""

    @property
    def dataset(self) -> str:
        """The table."""

    @property
    def column(self) -> str:
        """The column."""

    @property
    def rows(self) -> object:
        """Value -> rows."""


@dataclass(frozen=True)
class Trend:
    """One expectation over the last updates."""

    dataset: str
    name: str
    condition: str
    action: str
    results: tuple[tuple[str, int, int], ...]
    """Of each update that checked it: when it started, rows that met it, rows that did not."""

    @property
    def passed(self) -> int:
        """Rows that met it."""
        return sum(passed for _, passed, _ in self.results)

    @property
    def failed(self) -> int:
        """Rows that did not."""
        return sum(failed for _, _, failed in self.results)


def render(pipeline: str, runs: Sequence[Run], breakdowns: Sequence[ByValue], picture: str) -> str:
    """The page.

    Args:
        pipeline: its name.
        runs: the updates, oldest first; the last one is what the page is about.
        breakdowns: tables whose rows are counted by a column.
        picture: the graph as SVG, made by this program.
    """
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {"moment": _moment, "duration": _duration, "number": _number}
    template = environment.from_string(Path(__file__).with_name("page.html.j2").read_text(encoding="utf-8"))
    recent = runs[-_LOOKED_AT:]
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
    """Every expectation that some update checked, in the order of the last update that did."""
    found: dict[tuple[str, str], Trend] = {}
    for run in runs:
        for dataset in run.datasets:
            for each in dataset.expectations:
                before = found.get((dataset.name, each.name))
                results = (*(before.results if before else ()), (run.started, each.passed, each.failed))
                found[dataset.name, each.name] = Trend(dataset.name, each.name, each.condition, each.action, results)
    return list(found.values())


def delays(runs: Sequence[Run]) -> list[DatasetRun]:
    """Of each dataset that is asked for its newest source time, the last update that told it."""
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
