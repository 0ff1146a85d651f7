"""Draws a pipeline's graph as text, as Mermaid, or as an SVG picture."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

from dlt_local.declarations.elements import Table
from dlt_local.errors import SourceLocation
from dlt_local.graph.graph import Graph, Node
from dlt_local.observability.graph_layout import Edge, Layout, layered

_BOX_WIDTH, _BOX_HEIGHT, _RESULT_HEIGHT = 210, 44, 62
_GAP_ACROSS, _GAP_DOWN, _MARGIN = 70, 16, 20
_COLOURS = {"streaming table": "#2f6f9f", "materialized view": "#3d7d4d", "view": "#8a7a3a", "sink": "#8a4a4a"}
_STATES = {"COMPLETED": "#7fd18c", "IDLE": "#b8bcc4", "FAILED": "#ff6b5e", "SKIPPED": "#f0b429"}
# Styles of an inline SVG apply to the whole page, so every rule is scoped to the picture's class.
_STYLE = """
  .graph text { font: 13px system-ui, sans-serif; fill: #fff }
  .graph .kind { font-size: 11px; opacity: .85 }
  .graph .count { font-size: 11px; fill: #8a8f98; text-anchor: end; paint-order: stroke;
    stroke: var(--paper, #fff); stroke-width: 4px }
  .graph path { fill: none; stroke: #8a8f98; stroke-width: 1.5 }
"""


@dataclass(frozen=True)
class DatasetResult:
    """A dataset's result in one update, shown in its box."""

    state: str
    seconds: float
    written: Mapping[str, int]
    """Flow -> rows that it wrote or deleted."""

    @property
    def rows(self) -> int:
        """Rows that all flows wrote or deleted."""
        return sum(self.written.values())


def text(graph: Graph) -> str:
    """One line per dataset, inputs first: name, kind, location of its declaration, what it reads."""
    reads = _reads(graph)
    rows = [(node.name, _kind(node), _relative(node.dataset.location), reads[node.name]) for node in graph.nodes]
    widths = [max((len(row[column]) for row in rows), default=0) for column in range(3)]
    lines = (
        f"{name:<{widths[0]}}  {kind:<{widths[1]}}  {at:<{widths[2]}}  {'<- ' if inputs else ''}{', '.join(inputs)}"
        for name, kind, at, inputs in rows
    )
    return "".join(f"{line.rstrip()}\n" for line in lines)


def mermaid(graph: Graph) -> str:
    """A Mermaid flowchart, which Markdown viewers render."""
    numbers = {node.name: f"d{number}" for number, node in enumerate(graph.nodes)}
    lines = ["flowchart LR"]
    lines += [
        f'  {numbers[node.name]}["{_quoted(node.name)}<br/><small>{_kind(node)}</small>"]' for node in graph.nodes
    ]
    lines += [f"  {numbers[edge.source]} --> {numbers[edge.target]}" for edge in edges(graph)]
    return "\n".join(lines) + "\n"


def svg(graph: Graph, results: Mapping[str, DatasetResult] | None = None) -> str:
    """An SVG picture: layers from left to right, each dataset to the right of everything that it reads.

    Args:
        graph: what to draw.
        results: dataset -> its result in an update; by default only the declarations are drawn.
    """
    results = results or {}
    layout = layered([node.name for node in graph.nodes], edges(graph))
    positions = _Positions(layout, _RESULT_HEIGHT if results else _BOX_HEIGHT)
    size = f'width="{positions.width}" height="{positions.height}"'
    parts = [f'<svg class="graph" xmlns="http://www.w3.org/2000/svg" {size}>', f"<style>{_STYLE}</style>"]
    parts += [f'<path d="{positions.curve(line)}"/>' for line in layout.lines]
    parts += [_count(count, *positions.end(edge)) for edge, count in edge_counts(graph, results).items()]
    parts += [_box(node, positions.corner(node.name), results.get(node.name)) for node in graph.nodes]
    return "\n".join([*parts, "</svg>"]) + "\n"


def edge_counts(graph: Graph, results: Mapping[str, DatasetResult]) -> dict[Edge, int]:
    """Rows that flows wrote from each edge's source into its target; edges into views have no count."""
    flows = {node.name: node.flows for node in graph.nodes if node.name in results}
    counts = {}
    for edge in edges(graph):
        reading = [f for f in flows.get(edge.target, ()) if edge.source in (*map(str, f.inputs), *f.views)]
        if reading:
            counts[edge] = sum(results[edge.target].written.get(f.flow.name, 0) for f in reading)
    return counts


FORMATS: Mapping[str, Callable[[Graph], str]] = {"text": text, "mermaid": mermaid, "svg": svg}


def edges(graph: Graph) -> list[Edge]:
    """From each dataset to its readers; a table that is read through a view has an edge to the view."""
    return [Edge(source, name) for name, sources in _reads(graph).items() for source in sources]


def _reads(graph: Graph) -> dict[str, tuple[str, ...]]:
    """What each dataset reads directly: tables and views, but not what those views read."""
    known = {node.name for node in graph.nodes}
    return {node.name: tuple(name for name in _direct(node, graph) if name in known) for node in graph.nodes}


def _direct(node: Node, graph: Graph) -> list[str]:
    views = {other.name: other for other in graph.nodes if other.kind == "view" and other is not node}
    direct: dict[str, None] = {}
    for flow in node.flows:
        used = [views[name] for name in flow.views if name in views]
        read_by_views = {str(name) for view in used for name in view.inputs}
        read_by_views |= {name for view in used for each in view.flows for name in each.views}
        read = [*map(str, flow.inputs), *(view.name for view in used)]
        direct.update((name, None) for name in read if name not in read_by_views)
    return list(direct)


@dataclass(frozen=True)
class _Positions:
    layout: Layout
    box: int = _BOX_HEIGHT

    @property
    def width(self) -> int:
        return 2 * _MARGIN + len(self.layout.layers) * (_BOX_WIDTH + _GAP_ACROSS) - _GAP_ACROSS

    @property
    def height(self) -> int:
        return 2 * _MARGIN + max(map(len, self.layout.layers), default=0) * (self.box + _GAP_DOWN) - _GAP_DOWN

    def corner(self, name: str) -> tuple[float, float]:
        """Upper left corner of a box; each layer is centred vertically."""
        layer, row = self.layout.position(name)
        used = len(self.layout.layers[layer]) * (self.box + _GAP_DOWN) - _GAP_DOWN
        top = (self.height - used) / 2
        return _MARGIN + layer * (_BOX_WIDTH + _GAP_ACROSS), top + row * (self.box + _GAP_DOWN)

    def end(self, edge: Edge) -> tuple[float, float]:
        """Position of the count at an edge's end: below the line, left of the box, stacked if there are several."""
        x, y = self.corner(edge.target)
        sources = [line[0] for line in self.layout.lines if line[-1] == edge.target]
        return x - 6, y + self.box / 2 + 14 + 12 * sources.index(edge.source)

    def curve(self, line: tuple[str, ...]) -> str:
        """SVG path from the first box to the last, horizontal where it passes a layer through a gap."""
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


def _box(node: Node, corner: tuple[float, float], result: DatasetResult | None) -> str:
    x, y = corner
    colour = _COLOURS[node.kind]
    dashed = ' stroke="#fff" stroke-dasharray="4 3"' if _is_private(node) else ""
    return (
        f'<g transform="translate({x:g} {y:g})"><title>{escape(_relative(node.dataset.location))}</title>'
        f'<rect width="{_BOX_WIDTH}" height="{_RESULT_HEIGHT if result else _BOX_HEIGHT}" rx="6" '
        f"fill={quoteattr(colour)}{dashed}/>"
        f'<text x="10" y="19">{escape(node.name)}</text>'
        f'<text class="kind" x="10" y="35">{escape(_kind(node))}</text>{_result_line(result)}</g>'
    )


def _result_line(result: DatasetResult | None) -> str:
    if result is None:
        return ""
    rows = f" · {result.rows:,} rows" if result.rows else ""
    return (
        f'<circle cx="{_BOX_WIDTH - 14}" cy="14" r="5" fill="{_STATES.get(result.state, "#fff")}"/>'
        f'<text class="kind" x="10" y="53">{escape(result.state)}{rows} · {result.seconds:.1f} s</text>'
    )


def _kind(node: Node) -> str:
    return f"private {node.kind}" if _is_private(node) else node.kind


def _is_private(node: Node) -> bool:
    return isinstance(node.dataset, Table) and node.dataset.private


def _relative(location: SourceLocation) -> str:
    file = Path(location.file)
    shorten = file.is_absolute() and file.is_relative_to(Path.cwd())
    return f"{file.relative_to(Path.cwd()) if shorten else file}:{location.line}"


def _quoted(name: str) -> str:
    return name.replace('"', "#quot;")
