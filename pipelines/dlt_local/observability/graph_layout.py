"""Where the boxes of a drawn graph stand: in layers, in an order that lets few lines cross."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

_SWEEPS = 8


@dataclass(frozen=True)
class Edge:
    """A line from a box to one in a later layer."""

    source: str
    target: str


@dataclass(frozen=True)
class Layout:
    """Boxes in layers. Between them stand free places, for the lines that pass a layer by."""

    layers: tuple[tuple[str, ...], ...]
    """The names of boxes and free places, from the first layer to the last, each from top to bottom."""
    lines: tuple[tuple[str, ...], ...]
    """Each edge as the names that it leads through: a box, free places if it is long, a box."""

    def place(self, name: str) -> tuple[int, int]:
        """The number of a name's layer and its place in it."""
        return next((i, layer.index(name)) for i, layer in enumerate(self.layers) if name in layer)


def layered(names: Sequence[str], edges: Sequence[Edge]) -> Layout:
    """Lay a graph out.

    Args:
        names: the boxes, each behind all that leads to it.
        edges: between them, without circles.
    """
    layer_of: dict[str, int] = {}
    for name in names:
        layer_of[name] = max((layer_of[edge.source] + 1 for edge in edges if edge.target == name), default=0)
    lines = tuple(_line(edge, layer_of) for edge in edges)
    layers: list[list[str]] = [[] for _ in range(max(layer_of.values(), default=-1) + 1)]
    for name in names:
        layers[layer_of[name]].append(name)
    for line in lines:
        for layer, free in enumerate(line[1:-1], layer_of[line[0]] + 1):
            layers[layer].append(free)
    return Layout(_untangled(layers, lines), lines)


def _line(edge: Edge, layer_of: dict[str, int]) -> tuple[str, ...]:
    passed = range(layer_of[edge.source] + 1, layer_of[edge.target])
    return (edge.source, *(f"{edge.source}>{edge.target}@{layer}" for layer in passed), edge.target)


def _untangled(layers: list[list[str]], lines: Sequence[tuple[str, ...]]) -> tuple[tuple[str, ...], ...]:
    """Order each layer by the middle of its neighbours, forth and back, and keep the best order seen."""
    before: dict[str, list[str]] = {}
    behind: dict[str, list[str]] = {}
    for line in lines:
        for one, other in pairwise(line):
            before.setdefault(other, []).append(one)
            behind.setdefault(one, []).append(other)
    best = [list(layer) for layer in layers]
    for sweep in range(_SWEEPS):
        forth = sweep % 2 == 0
        for layer in range(len(layers)) if forth else reversed(range(len(layers))):
            neighbour = layer - 1 if forth else layer + 1
            if 0 <= neighbour < len(layers):
                _order(layers[layer], layers[neighbour], before if forth else behind)
        if _crossings(layers, behind) < _crossings(best, behind):
            best = [list(layer) for layer in layers]
    return tuple(tuple(layer) for layer in best)


def _order(layer: list[str], fixed: list[str], neighbours: dict[str, list[str]]) -> None:
    place = {name: number for number, name in enumerate(fixed)}
    own = {name: number for number, name in enumerate(layer)}

    def middle(name: str) -> float:
        places = [place[other] for other in neighbours.get(name, ())]
        return sum(places) / len(places) if places else own[name]

    layer.sort(key=middle)


def _crossings(layers: list[list[str]], behind: dict[str, list[str]]) -> int:
    total = 0
    for layer, following in pairwise(layers):
        place = {name: number for number, name in enumerate(following)}
        ends = [place[other] for name in layer for other in sorted(behind.get(name, ()), key=place.__getitem__)]
        total += sum(1 for i, first in enumerate(ends) for second in ends[i + 1 :] if first > second)
    return total
