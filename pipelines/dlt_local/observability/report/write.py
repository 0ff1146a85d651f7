"""Writes the report: remembers the update beside those before it, measures its tables, makes the page."""

import dataclasses
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dlt_local.declarations.elements import Table
from dlt_local.delta.storage import Storage, read_json, write_json
from dlt_local.graph.graph import Graph, Node
from dlt_local.observability import graph_drawing
from dlt_local.observability.report import measures, page
from dlt_local.observability.report.runs import DatasetRun, Run, from_json, to_json


@dataclass(frozen=True)
class Breakdown:
    """A table's rows by the values of one column."""

    dataset: str
    column: str
    rows: Mapping[str, int]


def write_report(storage: Storage, pipeline: str, run: Run, killed: Sequence[Run], graph: Graph | None) -> Path:
    """Add an update to the report.

    Args:
        storage: of the pipeline.
        pipeline: its name.
        run: the update that has just ended.
        killed: updates that were killed since the last report.
        graph: all datasets; None where the declarations have faults.

    Returns:
        The page.
    """
    folder = storage.system / "report"
    kept: dict[str, Any] = read_json(folder / "history.json") or {}
    nodes = [node for node in graph.nodes if isinstance(node.dataset, Table)] if graph else []
    measured = _with_newest(run, nodes, storage)
    runs = _history(from_json(kept.get("runs", ())), killed, measured)
    breakdowns = _breakdowns(nodes, storage, kept.get("counts", {})) if graph else kept.get("counts", {})
    picture = _picture(graph, measured) if graph else kept.get("picture", "")
    write_json(folder / "history.json", {"runs": to_json(runs), "counts": breakdowns, "picture": picture})
    shown = [Breakdown(name, told["column"], told["rows"]) for name, told in breakdowns.items()]
    return _write(folder / "index.html", page.render(pipeline, runs, shown, picture))


def _history(before: Sequence[Run], killed: Sequence[Run], last: Run) -> list[Run]:
    """All updates, each once: a continuous one is told several times, and may have been killed since."""
    ended = {each.id: each.state for each in killed}
    known = [dataclasses.replace(each, state=ended.get(each.id, each.state)) for each in before if each.id != last.id]
    told = {each.id for each in known}
    return [*known, *(each for each in killed if each.id not in told), last]


def _write(file: Path, text: str) -> Path:
    scratch = file.with_suffix(".tmp")
    scratch.write_text(text, encoding="utf-8")
    os.replace(scratch, file)
    return file


def _path(node: Node, storage: Storage) -> Path:
    assert isinstance(node.dataset, Table)
    return storage.table(node.dataset.name, node.dataset.private)


def _property(node: Node, name: str) -> str | None:
    return node.dataset.table_properties.get(name) if isinstance(node.dataset, Table) else None


def _with_newest(run: Run, nodes: Sequence[Node], storage: Storage) -> Run:
    columns = {node.name: (node, column) for node in nodes if (column := _property(node, measures.NEWEST))}
    return dataclasses.replace(run, datasets=tuple(_measured(each, columns, storage) for each in run.datasets))


def _measured(dataset: DatasetRun, columns: Mapping[str, tuple[Node, str]], storage: Storage) -> DatasetRun:
    if dataset.name not in columns:
        return dataset
    node, column = columns[dataset.name]
    found = measures.newest(_path(node, storage), column)
    if found is None:
        return dataset
    return dataclasses.replace(dataset, newest=found.time.isoformat(), lag=found.lag_seconds)


def _breakdowns(nodes: Sequence[Node], storage: Storage, before: Mapping[str, Any]) -> dict[str, Any]:
    found = {}
    for node in nodes:
        column = _property(node, measures.COUNT_BY)
        if column is not None:
            known = measures.Counts(**before[node.name]) if node.name in before else None
            counted = measures.counts(_path(node, storage), column, known)
            if counted is not None:
                found[node.name] = dataclasses.asdict(counted)
    return found


def _picture(graph: Graph, run: Run) -> str:
    return graph_drawing.svg(
        graph, {each.name: graph_drawing.Told(each.state, each.seconds, each.written) for each in run.datasets}
    )
