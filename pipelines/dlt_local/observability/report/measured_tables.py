"""The tables of a graph, and what their properties ask the report to measure."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from urllib.parse import unquote

from dlt_local.declarations.elements import Table
from dlt_local.delta import delta_log
from dlt_local.delta.storage import Storage
from dlt_local.graph.graph import Graph, Node
from dlt_local.observability.report import arrival, backwards, measures, notes, samples
from dlt_local.observability.report.measures import Counts
from dlt_local.observability.report.samples import Sample
from dlt_local.observability.report.tallies import REJECTS


@dataclass(frozen=True)
class Asked:
    """What a table property asks to be counted, and how."""

    what: str
    count: Callable[[Path, str, Counts | None], Counts | None]
    """Of a table's folder, what is to be counted and the earlier counts."""


class MeasuredTable:
    """A table and the measures that its properties request."""

    def __init__(self, node: Node, storage: Storage) -> None:
        assert isinstance(node.dataset, Table)
        self.name = node.name
        self._path = storage.table(node.dataset.name, node.dataset.private)
        self._properties = node.dataset.table_properties

    def newest(self) -> measures.Newest | None:
        """The newest source time, if the table has a column of it."""
        column = self._properties.get(measures.NEWEST)
        return measures.newest(self._path, column) if column else None

    @property
    def rejected(self) -> str | None:
        """The value that marks a reject."""
        return self._properties.get(REJECTS)

    @property
    def asked(self) -> Mapping[str, Asked]:
        """What is counted and how, under the names of the results."""
        asked: tuple[tuple[str, str, Callable[..., Counts | None]], ...] = (
            (self.name, measures.COUNT_BY, measures.counts),
            (f"{self.name} (arrival)", arrival.ARRIVAL, partial(measures.counts, count=arrival.out_of_order)),
            (f"{self.name} (backwards)", backwards.BACKWARDS, backwards.counts),
            (
                f"{self.name} (notes)",
                notes.NOTES,
                partial(measures.counts, count=notes.noted, find_examples=notes.examples),
            ),
        )
        return {
            name: Asked(self._properties[asked_by], count)
            for name, asked_by, count in asked
            if asked_by in self._properties
        }

    def counts(self, previous: Mapping[str, Counts]) -> dict[str, Counts]:
        """What was asked to be counted, continued from earlier counts."""
        found = {name: asked.count(self._path, asked.what, previous.get(name)) for name, asked in self.asked.items()}
        return {name: counts for name, counts in found.items() if counts is not None}

    def sample(self, before: Counts | None, redact: Callable[[str], str]) -> tuple[Sample, ...]:
        """A few of the rejects that came after ``before``, newest first; none if the table names no columns of them."""
        shown, counted = self._properties.get(samples.SAMPLE), self._properties.get(measures.COUNT_BY)
        if not shown or not counted or self.rejected is None:
            return ()
        added = delta_log.files_added(self._path, before.version + 1) if before else None
        files = [self._path / unquote(file) for file in (added or delta_log.live_files(self._path) or ())]
        rejected = (counted.split(",")[0].strip(), self.rejected)
        return samples.sample(files[::-1], rejected, [name.strip() for name in shown.split(",")], redact)


def measured_tables(graph: Graph, storage: Storage) -> list[MeasuredTable]:
    """Every table of a graph."""
    return [MeasuredTable(node, storage) for node in graph.nodes if isinstance(node.dataset, Table)]
