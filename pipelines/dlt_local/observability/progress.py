"""What a person sees while an update runs: a live table in a terminal, plain lines elsewhere, a summary at the end."""

import sys
import threading
import time
from dataclasses import dataclass, field
from typing import Protocol, TextIO

from rich.console import Console
from rich.live import Live
from rich.table import Table as RichTable

from dlt_local.flows.outcomes import FlowMetrics
from dlt_local.graph.graph import Graph

_STATES = {"COMPLETED": "green", "IDLE": "dim", "RUNNING": "cyan", "FAILED": "bold red", "SKIPPED": "yellow"}


@dataclass
class DatasetProgress:
    """How far one dataset is."""

    name: str
    kind: str
    state: str = "QUEUED"
    rows: int = 0
    upserted: int = 0
    deleted: int = 0
    dropped: int = 0
    started: float | None = None
    seconds: float = 0.0
    flows: dict[str, FlowMetrics] = field(default_factory=dict)

    @property
    def written(self) -> int:
        """Rows added, set and removed."""
        return self.rows + self.upserted + self.deleted

    def take(self, flow: str, metrics: FlowMetrics) -> None:
        """Take up what a flow has done so far."""
        self.flows[flow] = metrics
        every = self.flows.values()
        self.rows = sum(m.num_output_rows for m in every)
        self.dropped = sum(m.dropped_rows for m in every)
        self.upserted = sum(m.cdc.num_upserted_rows for m in every if m.cdc)
        self.deleted = sum(m.cdc.num_deleted_rows for m in every if m.cdc)


class Progress(Protocol):
    """Is told of an update as it goes; calls come from several threads."""

    def begin(self, title: str, graph: Graph) -> None:
        """An update starts; its datasets are queued."""

    def state(self, dataset: str, state: str) -> None:
        """A dataset is RUNNING, COMPLETED, IDLE, FAILED or SKIPPED."""

    def batch(self, dataset: str, flow: str, metrics: FlowMetrics) -> None:
        """A flow has done another batch; what it did so far."""

    def notice(self, text: str) -> None:
        """Something that a person should know: what has no effect here, what is tried again."""

    def end(self, state: str) -> None:
        """The update has ended as COMPLETED or FAILED."""


class Silent:
    """Says nothing: for tests and for use from other programs."""

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


class Terminal:
    """A table that is drawn anew as the update goes; where there is no terminal, a line per dataset as it ends."""

    def __init__(self, stream: TextIO | None = None) -> None:
        stream = stream or sys.stdout
        # Without a terminal somebody will read this in a log: no line is to be cut short.
        self._console = Console(file=stream, highlight=False, width=None if stream.isatty() else 120)
        self._datasets: dict[str, DatasetProgress] = {}
        self._lock = threading.Lock()
        self._live: Live | None = None
        self._title = ""
        self._began = 0.0

    def begin(self, title: str, graph: Graph) -> None:
        """Show the queued datasets."""
        self._title, self._began = title, time.monotonic()
        self._datasets = {node.name: DatasetProgress(node.name, node.kind) for node in graph.tables}
        if self._console.is_terminal:
            self._live = Live(self._table(), console=self._console, refresh_per_second=8, transient=True)
            self._live.start()
        else:
            self._console.print(f"{title}: {len(self._datasets)} datasets")

    def state(self, dataset: str, state: str) -> None:
        """Show a dataset's new state."""
        with self._lock:
            shown = self._datasets[dataset]
            shown.state = state
            if state == "RUNNING":
                shown.started = time.monotonic()
            elif shown.started is not None:
                shown.seconds = time.monotonic() - shown.started
            if self._live is not None:
                self._live.update(self._table())
            elif state not in ("RUNNING", "IDLE"):
                self._console.print(f"  {state:<9} {dataset:<34} {_told(shown)}")

    def batch(self, dataset: str, flow: str, metrics: FlowMetrics) -> None:
        """Show a dataset's rows so far."""
        with self._lock:
            self._datasets[dataset].take(flow, metrics)
            if self._live is not None:
                self._live.update(self._table())

    def notice(self, text: str) -> None:
        """A line of its own, above the table."""
        with self._lock:
            self._console.print(text, style="yellow", markup=False)

    def end(self, state: str) -> None:
        """Leave the summary standing."""
        with self._lock:
            if self._live is not None:
                self._live.stop()
                self._live = None
            self._console.print(self._table(whole=True))
            seconds = time.monotonic() - self._began
            self._console.print(f"update {state} in {seconds:.1f} s", style=_STATES.get(state, ""))

    def _table(self, whole: bool = False) -> RichTable:
        table = RichTable(title=self._title, title_justify="left", box=None, pad_edge=False)
        for header in ("dataset", "kind", "state"):
            table.add_column(header, no_wrap=True)
        # A rate is news while it moves; what stays standing is to fit 100 columns.
        for header in ("rows", "upserted", "deleted", "dropped", "seconds", *(() if whole else ("rows/s",))):
            table.add_column(header, justify="right")
        for dataset in self._datasets.values():
            style = _STATES.get(dataset.state, "")
            seconds = dataset.seconds
            if dataset.state == "RUNNING" and dataset.started is not None:
                seconds = time.monotonic() - dataset.started
            counts = (dataset.rows, dataset.upserted, dataset.deleted, dataset.dropped)
            rate = f"{dataset.written / seconds:,.0f}" if seconds and dataset.written else ""
            table.add_row(
                dataset.name,
                dataset.kind,
                f"[{style}]{dataset.state}[/]" if style else dataset.state,
                *(f"{count:,}" if count else "" for count in counts),
                f"{seconds:.1f}" if seconds else "",
                *(() if whole else (rate,)),
            )
        return table


def _told(dataset: DatasetProgress) -> str:
    counts = {
        "rows": dataset.rows,
        "upserted": dataset.upserted,
        "deleted": dataset.deleted,
        "dropped": dataset.dropped,
    }
    told = ", ".join(f"{count:,} {what}" for what, count in counts.items() if count)
    return f"{told or 'nothing new'} ({dataset.seconds:.1f} s)"
