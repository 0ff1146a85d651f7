"""Shapes: a resolved graph as plain values, for drawings, for JSON and for the report's store."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from dlt_local.declarations.elements import Sink, Table
from dlt_local.errors import SourceLocation
from dlt_local.graph.graph import Graph, Node
from dlt_local.observability.graph_layout import Edge

DEFINED_IN = "report.definedIn"
"""Table property: the file that the dataset is generated from, such as a table's specification."""


@dataclass(frozen=True)
class ColumnShape:
    """A column of a dataset."""

    name: str
    type: str
    comment: str | None = None


@dataclass(frozen=True)
class Shape:
    """What one dataset is: everything but its rows."""

    name: str
    kind: str
    """`streaming table`, `materialized view`, `view` or `sink`."""
    place: str
    """File and line of its declaration."""
    private: bool = False
    comment: str | None = None
    columns: tuple[ColumnShape, ...] = ()
    defined_in: str | None = None
    """The file that it is generated from, if it says so."""
    inputs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Each table or view that it reads directly -> the flows that read it."""

    @property
    def described_kind(self) -> str:
        """The kind, with `private` before it where that is so."""
        return f"private {self.kind}" if self.private else self.kind

    @property
    def short_place(self) -> str:
        """The place, relative to the working directory if it lies below."""
        file, _, line = self.place.rpartition(":")
        path = Path(file)
        shorten = path.is_absolute() and path.is_relative_to(Path.cwd())
        return f"{path.relative_to(Path.cwd()) if shorten else path}:{line}"


def shapes(graph: Graph, redact: Callable[[str], str]) -> tuple[Shape, ...]:
    """The datasets of a graph, inputs first; ``redact`` removes secrets from comments: settings may be in them."""
    known = {node.name for node in graph.nodes}
    views = {node.name: node for node in graph.nodes if node.kind == "view"}
    return tuple(_redacted(_shape(node, known, views), redact) for node in graph.nodes)


def edges(datasets: Sequence[Shape]) -> list[Edge]:
    """From each dataset to its readers; a table that is read through a view has an edge to the view."""
    return [Edge(source, each.name) for each in datasets for source in each.inputs]


def from_json(stored: Mapping[str, Any]) -> Shape:
    """A shape from the JSON form of `dataclasses.asdict`; fields of another version of the engine are ignored."""
    known = {each.name for each in dataclasses.fields(Shape)}
    return Shape(
        **{
            **{name: value for name, value in stored.items() if name in known},
            "columns": tuple(ColumnShape(**column) for column in stored.get("columns", ())),
            "inputs": {source: tuple(flows) for source, flows in stored.get("inputs", {}).items()},
        }
    )


def _redacted(shape: Shape, redact: Callable[[str], str]) -> Shape:
    def shown(comment: str | None) -> str | None:
        return None if comment is None else redact(comment)

    columns = tuple(replace(each, comment=shown(each.comment)) for each in shape.columns)
    return replace(shape, comment=shown(shape.comment), columns=columns)


def _shape(node: Node, known: set[str], views: Mapping[str, Node]) -> Shape:
    dataset = node.dataset
    return Shape(
        name=node.name,
        kind=node.kind,
        place=_absolute(dataset.location),
        private=isinstance(dataset, Table) and dataset.private,
        comment=None if isinstance(dataset, Sink) else dataset.comment,
        defined_in=(dataset.table_properties.get(DEFINED_IN) or None) if isinstance(dataset, Table) else None,
        columns=tuple(
            ColumnShape(each.name, each.dataType.simpleString(), each.metadata.get("comment")) for each in node.schema
        ),
        inputs={source: flows for source, flows in _inputs(node, views).items() if source in known},
    )


def _inputs(node: Node, views: Mapping[str, Node]) -> dict[str, tuple[str, ...]]:
    """What a dataset reads directly: tables and views, but not what those views read."""
    direct: dict[str, None] = {}
    for flow in node.flows:
        used = [views[name] for name in flow.views if name in views and name != node.name]
        read_by_views = {str(name) for view in used for name in view.inputs}
        read_by_views |= {name for view in used for each in view.flows for name in each.views}
        read = [*map(str, flow.inputs), *(view.name for view in used)]
        direct.update((name, None) for name in read if name not in read_by_views)
    return {name: _readers(name, node) for name in direct}


def _readers(source: str, node: Node) -> tuple[str, ...]:
    return tuple(flow.flow.name for flow in node.flows if source in (*map(str, flow.inputs), *flow.views))


def _absolute(location: SourceLocation) -> str:
    return f"{Path(location.file).absolute()}:{location.line}"
