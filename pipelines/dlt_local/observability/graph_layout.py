"""Lays out a drawn graph: boxes in layers, ordered so that few lines cross."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

_SWEEPS = 8
_Line = tuple[str, ...]
_Neighbours = Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class Edge:
    """A line from a box to one in a later layer."""

    source: str
    target: str


@dataclass(frozen=True)
class Layout:
    """Boxes in layers, with gaps between them for lines that pass a layer."""

    layers: tuple[tuple[str, ...], ...]
    """The names of boxes and gaps, from the first layer to the last, each from top to bottom."""
    lines: tuple[_Line, ...]
    """Each edge as the names on its way: a box, one gap per layer that it passes, a box."""

    def position(self, name: str) -> tuple[int, int]:
        """The number of a name's layer, and its row in that layer."""
        return next((i, layer.index(name)) for i, layer in enumerate(self.layers) if name in layer)


def layered(names: Sequence[str], edges: Sequence[Edge]) -> Layout:
    """Lay a graph out.

    Args:
        names: the boxes in topological order.
        edges: the lines between them; without cycles.
    """
    layer_of: dict[str, int] = {}
    for name in names:
        layer_of[name] = max((layer_of[edge.source] + 1 for edge in edges if edge.target == name), default=0)
    lines = tuple(_line(edge, layer_of) for edge in edges)
    layers: list[list[str]] = [[] for _ in range(max(layer_of.values(), default=-1) + 1)]
    for name in names:
        layers[layer_of[name]].append(name)
    for line in lines:
        for layer, gap in enumerate(line[1:-1], layer_of[line[0]] + 1):
            layers[layer].append(gap)
    return Layout(_untangled(layers, lines), lines)


def _line(edge: Edge, layer_of: Mapping[str, int]) -> _Line:
    passed = range(layer_of[edge.source] + 1, layer_of[edge.target])
    return (edge.source, *(f"{edge.source}>{edge.target}@{layer}" for layer in passed), edge.target)


def _untangled(layers: list[list[str]], lines: Sequence[_Line]) -> tuple[tuple[str, ...], ...]:
    """Sort each layer by the mean position of its neighbours, sweeping forwards and backwards; the best order wins."""
    left: dict[str, list[str]] = {}
    right: dict[str, list[str]] = {}
    for line in lines:
        for source, target in pairwise(line):
            left.setdefault(target, []).append(source)
            right.setdefault(source, []).append(target)
    best = [list(layer) for layer in layers]
    for sweep in range(_SWEEPS):
        if sweep % 2 == 0:
            for fixed, layer in pairwise(layers):
                _sort(layer, fixed, left)
        else:
            for fixed, layer in pairwise(reversed(layers)):
                _sort(layer, fixed, right)
        if _crossings(layers, right) < _crossings(best, right):
            best = [list(layer) for layer in layers]
    return tuple(tuple(layer) for layer in best)


def _sort(layer: list[str], fixed: Sequence[str], neighbours: _Neighbours) -> None:
    row_in_fixed = {name: row for row, name in enumerate(fixed)}
    row_in_layer = {name: row for row, name in enumerate(layer)}

    def mean_row(name: str) -> float:
        rows = [row_in_fixed[other] for other in neighbours.get(name, ())]
        return sum(rows) / len(rows) if rows else row_in_layer[name]

    layer.sort(key=mean_row)


def _crossings(layers: Sequence[Sequence[str]], right: _Neighbours) -> int:
    total = 0
    for layer, following in pairwise(layers):
        row = {name: number for number, name in enumerate(following)}
        ends = [row[other] for name in layer for other in sorted(right.get(name, ()), key=row.__getitem__)]
        total += sum(1 for i, first in enumerate(ends) for second in ends[i + 1 :] if first > second)
    return total
