"""The graph of a pipeline as text, as Mermaid, or as an SVG picture."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

from dlt_local.declarations.elements import Table
from dlt_local.errors import SourceLocation
from dlt_local.graph.graph import Graph, Node
from dlt_local.observability.graph_layout import Edge, Layout, layered

_BOX_WIDTH, _BOX_HEIGHT, _TOLD_HEIGHT = 210, 44, 62
_GAP_ACROSS, _GAP_DOWN, _MARGIN = 70, 16, 20
_COLOURS = {"streaming table": "#2f6f9f", "materialized view": "#3d7d4d", "view": "#8a7a3a", "sink": "#8a4a4a"}
_STATES = {"COMPLETED": "#7fd18c", "IDLE": "#b8bcc4", "FAILED": "#ff6b5e", "SKIPPED": "#f0b429"}
# Inside a page the styles hold for all of it: they are tied to the picture's own class.
_STYLE = """
  .graph text { font: 13px system-ui, sans-serif; fill: #fff }
  .graph .kind { font-size: 11px; opacity: .85 }
  .graph .count { font-size: 11px; fill: #8a8f98; text-anchor: end; paint-order: stroke;
    stroke: var(--paper, #fff); stroke-width: 4px }
  .graph path { fill: none; stroke: #8a8f98; stroke-width: 1.5 }
"""


@dataclass(frozen=True)
class Told:
    """What a picture tells of a dataset in one update."""

    state: str
    seconds: float
    written: Mapping[str, int]
    """Flow -> rows that it wrote or removed."""

    @property
    def rows(self) -> int:
        """Rows that all flows wrote or removed."""
        return sum(self.written.values())


def text(graph: Graph) -> str:
    """One line per dataset, inputs first: name, kind, where it is declared, what it reads."""
    reads = _reads(graph)
    rows = [(node.name, _kind(node), _place(node.dataset.location), reads[node.name]) for node in graph.nodes]
    widths = [max((len(row[column]) for row in rows), default=0) for column in range(3)]
    lines = (
        f"{name:<{widths[0]}}  {kind:<{widths[1]}}  {place:<{widths[2]}}  {'<- ' if inputs else ''}{', '.join(inputs)}"
        for name, kind, place, inputs in rows
    )
    return "".join(f"{line.rstrip()}\n" for line in lines)


def mermaid(graph: Graph) -> str:
    """A Mermaid flowchart; Markdown viewers draw it."""
    numbers = {node.name: f"d{number}" for number, node in enumerate(graph.nodes)}
    lines = ["flowchart LR"]
    lines += [
        f'  {numbers[node.name]}["{_quoted(node.name)}<br/><small>{_kind(node)}</small>"]' for node in graph.nodes
    ]
    lines += [f"  {numbers[edge.source]} --> {numbers[edge.target]}" for edge in edges(graph)]
    return "\n".join(lines) + "\n"


def svg(graph: Graph, told: Mapping[str, Told] | None = None) -> str:
    """A picture that needs no other program: layers from left to right, each dataset right of all that it reads.

    Args:
        graph: what to draw.
        told: dataset -> what an update did; by default the picture is of the declarations alone.
    """
    told = told or {}
    layout = layered([node.name for node in graph.nodes], edges(graph))
    places = _Places(layout, _TOLD_HEIGHT if told else _BOX_HEIGHT)
    parts = [f'<svg class="graph" xmlns="http://www.w3.org/2000/svg" width="{places.width}" height="{places.height}">']
    parts += [f"<style>{_STYLE}</style>"]
    parts += [f'<path d="{places.curve(line)}"/>' for line in layout.lines]
    parts += [_count(count, *places.end(edge)) for edge, count in edge_counts(graph, told).items()]
    parts += [_box(node, *places.corner(node.name), told.get(node.name)) for node in graph.nodes]
    return "\n".join([*parts, "</svg>"]) + "\n"


def edge_counts(graph: Graph, told: Mapping[str, Told]) -> dict[Edge, int]:
    """How many rows came over each edge: those that the flows behind it wrote; edges into views carry no number."""
    flows = {node.name: node.flows for node in graph.nodes if node.name in told}
    counts = {}
    for edge in edges(graph):
        reading = [f for f in flows.get(edge.target, ()) if edge.source in (*map(str, f.inputs), *f.views)]
        if reading:
            counts[edge] = sum(told[edge.target].written.get(f.flow.name, 0) for f in reading)
    return counts


FORMATS: Mapping[str, Callable[[Graph], str]] = {"text": text, "mermaid": mermaid, "svg": svg}


def edges(graph: Graph) -> list[Edge]:
    """From each dataset to those that read it; a table read through a view leads to the view."""
    return [Edge(source, name) for name, sources in _reads(graph).items() for source in sources]


def _reads(graph: Graph) -> dict[str, tuple[str, ...]]:
    """What each dataset reads itself, views among it, without what those views read for it."""
    known = {node.name for node in graph.nodes}
    return {node.name: tuple(name for name in _direct(node, graph) if name in known) for node in graph.nodes}


def _direct(node: Node, graph: Graph) -> dict[str, None]:
    views = {other.name: other for other in graph.nodes if other.kind == "view"}
    found: dict[str, None] = {}
    for flow in node.flows:
        through = [views[name] for name in flow.views if name in views and name != node.name]
        hidden = {str(name) for view in through for name in view.inputs}
        hidden |= {name for view in through for each in view.flows for name in each.views}
        read = [*map(str, flow.inputs), *(view.name for view in through)]
        found.update((name, None) for name in read if name not in hidden)
    return found


@dataclass(frozen=True)
class _Places:
    layout: Layout
    box: int = _BOX_HEIGHT

    @property
    def width(self) -> int:
        return 2 * _MARGIN + len(self.layout.layers) * (_BOX_WIDTH + _GAP_ACROSS) - _GAP_ACROSS

    @property
    def height(self) -> int:
        return 2 * _MARGIN + max(map(len, self.layout.layers), default=0) * (self.box + _GAP_DOWN) - _GAP_DOWN

    def corner(self, name: str) -> tuple[float, float]:
        """Upper left corner of a box; a layer stands in the middle of the picture's height."""
        layer, place = self.layout.place(name)
        used = len(self.layout.layers[layer]) * (self.box + _GAP_DOWN) - _GAP_DOWN
        top = (self.height - used) / 2
        return _MARGIN + layer * (_BOX_WIDTH + _GAP_ACROSS), top + place * (self.box + _GAP_DOWN)

    def end(self, edge: Edge) -> tuple[float, float]:
        """Where a number at an edge's end stands: below the line, before the box; several lines one under another."""
        x, y = self.corner(edge.target)
        before = [line[0] for line in self.layout.lines if line[-1] == edge.target]
        return x - 6, y + self.box / 2 + 14 + 12 * before.index(edge.source)

    def curve(self, line: tuple[str, ...]) -> str:
        """A line out of the first box, level through the free places between others, into the last box."""
        x, y = self.corner(line[0])
        drawn = [f"M{x + _BOX_WIDTH:g} {y + self.box / 2:g}"]
        bend = _GAP_ACROSS / 2
        for name in line[1:]:
            x, y = self.corner(name)
            middle = y + self.box / 2
            drawn.append(f"C{x - bend:g} {_y(drawn[-1])} {x - bend:g} {middle:g} {x:g} {middle:g}")
            if name != line[-1]:
                drawn.append(f"L{x + _BOX_WIDTH:g} {middle:g}")
        return " ".join(drawn)


def _y(drawn: str) -> str:
    return drawn.rpartition(" ")[2]


def _count(count: int, x: float, y: float) -> str:
    return (
        f'<text class="count" x="{x:g}" y="{y:g}"><title>rows in this update</title>{count:,}</text>' if count else ""
    )


def _box(node: Node, x: float, y: float, told: Told | None = None) -> str:
    colour = _COLOURS[node.kind]
    dashed = ' stroke="#fff" stroke-dasharray="4 3"' if _is_private(node) else ""
    return (
        f'<g transform="translate({x:g} {y:g})"><title>{escape(_place(node.dataset.location))}</title>'
        f'<rect width="{_BOX_WIDTH}" height="{_TOLD_HEIGHT if told else _BOX_HEIGHT}" rx="6" '
        f"fill={quoteattr(colour)}{dashed}/>"
        f'<text x="10" y="19">{escape(node.name)}</text>'
        f'<text class="kind" x="10" y="35">{escape(_kind(node))}</text>{_line_told(told)}</g>'
    )


def _line_told(told: Told | None) -> str:
    if told is None:
        return ""
    rows = f" · {told.rows:,} rows" if told.rows else ""
    return (
        f'<circle cx="{_BOX_WIDTH - 14}" cy="14" r="5" fill="{_STATES.get(told.state, "#fff")}"/>'
        f'<text class="kind" x="10" y="53">{escape(told.state)}{rows} · {told.seconds:.1f} s</text>'
    )


def _kind(node: Node) -> str:
    return f"private {node.kind}" if _is_private(node) else node.kind


def _is_private(node: Node) -> bool:
    return isinstance(node.dataset, Table) and node.dataset.private


def _place(location: SourceLocation) -> str:
    file = Path(location.file)
    below = file.is_absolute() and file.is_relative_to(Path.cwd())
    return f"{file.relative_to(Path.cwd()) if below else file}:{location.line}"


def _quoted(name: str) -> str:
    return name.replace('"', "#quot;")
