"""Live progress of an update: a table in a terminal, plain lines elsewhere, and a summary at the end."""

import sys
import threading
import time
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Protocol, TextIO

from rich.console import Console
from rich.live import Live
from rich.table import Table as RichTable

from dlt_local.flows.outcomes import FlowMetrics
from dlt_local.graph.graph import Graph
from dlt_local.observability.row_counts import RowCounts

_AROUND_ROWS = 4
"""Lines of the live table that are not datasets: title, header, what is left out, and the cursor's."""
_MANY_TO_PLAN = 100
"""Datasets from which planning takes long enough to be announced."""
_MOST_WITH_IDLE = 50
"""The summary of more datasets leaves the idle ones out."""
_STATES = {"COMPLETED": "green", "IDLE": "dim", "RUNNING": "cyan", "FAILED": "bold red", "SKIPPED": "yellow"}


class Progress(Protocol):
    """Follows an update as it runs; called from several threads."""

    def planning(self, title: str, datasets: int) -> None:
        """The source files are loaded; so many datasets are analysed before anything runs."""

    def begin(self, title: str, graph: Graph) -> None:
        """The update starts; its datasets are queued."""

    def state(self, dataset: str, state: str) -> None:
        """A dataset is RUNNING, COMPLETED, IDLE, FAILED, SKIPPED or STOPPED."""

    def batch(self, dataset: str, flow: str, metrics: FlowMetrics) -> None:
        """A flow has finished another batch; its totals so far."""

    def notice(self, text: str) -> None:
        """A message for the user: a setting without effect here, a retry."""

    def end(self, state: str) -> None:
        """The update has ended as COMPLETED or FAILED."""


class Silent:
    """Shows nothing: for tests and for use as a library."""

    def planning(self, title: str, datasets: int) -> None:
        """Nothing."""

    def begin(self, title: str, graph: Graph) -> None:
        """Nothing."""

    def state(self, dataset: str, state: str) -> None:
        """Nothing."""

    def batch(self, dataset: str, flow: str, metrics: FlowMetrics) -> None:
        """Nothing."""

    def notice(self, text: str) -> None:
        """Nothing."""

    def end(self, state: str) -> None:
        """Nothing."""


@dataclass
class _DatasetProgress:
    """One dataset's row in the table."""

    name: str
    kind: str
    state: str = "QUEUED"
    started: float | None = None
    finished_seconds: float = 0.0
    flows: Mapping[str, FlowMetrics] = field(default_factory=dict)
    """Replaced as a whole, since the live table is drawn by a thread of its own."""

    @property
    def counts(self) -> RowCounts:
        return RowCounts.of(self.flows.values())

    @property
    def seconds(self) -> float:
        if self.state == "RUNNING" and self.started is not None:
            return time.monotonic() - self.started
        return self.finished_seconds

    @property
    def rank(self) -> tuple[int, float]:
        """Which of many datasets to show: those that run, then failures, the latest to end, and the next in line."""
        kinds = ("RUNNING", "FAILED", "COMPLETED")
        place = kinds.index(self.state) if self.state in kinds else len(kinds) + (self.state == "IDLE")
        return place, -(self.started or 0.0) - self.finished_seconds

    def enter(self, state: str) -> None:
        if state == "RUNNING":
            self.started = time.monotonic()
        elif self.started is not None:
            self.finished_seconds = time.monotonic() - self.started
        self.state = state

    def summary(self) -> str:
        counted = ", ".join(f"{count:,} {what}" for what, count in asdict(self.counts).items() if count)
        return f"{counted or 'nothing new'} ({self.seconds:.1f} s)"


class Terminal:
    """A live table; where there is no terminal, one line per dataset as it ends; or one line for every step."""

    def __init__(self, stream: TextIO | None = None, steps: bool = False) -> None:
        stream = stream or sys.stdout
        self._steps = steps
        # Without a terminal this ends up in a log file, where lines must not be truncated.
        self._console = Console(file=stream, highlight=False, width=None if stream.isatty() else 120)
        self._datasets: dict[str, _DatasetProgress] = {}
        self._lock = threading.Lock()
        self._live: Live | None = None
        self._title = ""
        self._started = 0.0

    def planning(self, title: str, datasets: int) -> None:
        """Say what takes so long: up to a tenth of a second for each dataset, the first time in a process."""
        if datasets >= _MANY_TO_PLAN:
            self._console.print(f"{title}: planning {datasets:,} datasets")

    def begin(self, title: str, graph: Graph) -> None:
        """Show the queued datasets."""
        self._title, self._started = title, time.monotonic()
        self._datasets = {node.name: _DatasetProgress(node.name, node.kind) for node in graph.tables}
        if self._console.is_terminal and not self._steps:
            # Drawn at intervals, not at each step: of hundreds of tables there are thousands of steps.
            self._live = Live(get_renderable=self._live_table, console=self._console, transient=True)
            self._live.start()
        else:
            self._console.print(f"{title}: {len(self._datasets)} datasets")

    def state(self, dataset: str, state: str) -> None:
        """Show a dataset's new state."""
        with self._lock:
            progress = self._datasets[dataset]
            progress.enter(state)
            if self._live is None and (self._steps or state not in ("RUNNING", "IDLE")):
                self._console.print(f"  {state:<9} {dataset:<34} {progress.summary()}")

    def batch(self, dataset: str, flow: str, metrics: FlowMetrics) -> None:
        """Show a dataset's rows so far."""
        with self._lock:
            progress = self._datasets[dataset]
            progress.flows = {**progress.flows, flow: metrics}
            if self._live is None and self._steps:
                self._console.print(f"  {'batch':<9} {dataset:<34} {progress.summary()}")

    def notice(self, text: str) -> None:
        """Print a line above the table."""
        with self._lock:
            self._console.print(text, style="yellow", markup=False)

    def end(self, state: str) -> None:
        """Replace the live table by the summary."""
        with self._lock:
            if self._live is not None:
                self._live.stop()
                self._live = None
            datasets = list(self._datasets.values())
            if len(datasets) > _MOST_WITH_IDLE:
                datasets = [each for each in datasets if each.state != "IDLE"]
            self._console.print(self._table(datasets, with_rates=False))
            seconds = time.monotonic() - self._started
            self._console.print(f"update {state} in {seconds:.1f} s", style=_STATES.get(state, ""))

    def _live_table(self) -> RichTable:
        """As many datasets as there are lines, those that run first."""
        datasets = sorted(self._datasets.values(), key=lambda each: each.rank)
        return self._table(datasets[: max(self._console.height - _AROUND_ROWS, 1)])

    def _table(self, shown: Collection[_DatasetProgress], with_rates: bool = True) -> RichTable:
        table = RichTable(title=self._title, title_justify="left", box=None, pad_edge=False, caption_justify="left")
        for header in ("dataset", "kind", "state"):
            table.add_column(header, no_wrap=True)
        # Rates matter only while rows are moving, and the summary has to fit in 100 columns.
        for header in ("rows", "upserted", "deleted", "dropped", "seconds", *(("rows/s",) if with_rates else ())):
            table.add_column(header, justify="right")
        names = {each.name for each in shown}
        for dataset in self._datasets.values():
            if dataset.name in names:
                table.add_row(*_cells(dataset, with_rates))
        others = Counter(each.state for each in self._datasets.values() if each.name not in names)
        if others:
            table.caption = "and " + ", ".join(f"{count:,} {state}" for state, count in others.items())
        return table


def _cells(dataset: _DatasetProgress, with_rate: bool) -> Iterator[str]:
    style, seconds, counts = _STATES.get(dataset.state, ""), dataset.seconds, dataset.counts
    yield from (dataset.name, dataset.kind, f"[{style}]{dataset.state}[/]" if style else dataset.state)
    yield from (f"{count:,}" if count else "" for count in asdict(counts).values())
    yield f"{seconds:.1f}" if seconds else ""
    if with_rate:
        yield f"{counts.written / seconds:,.0f}" if seconds and counts.written else ""
