"""Draws a pipeline's graph as text, as Mermaid, as an SVG picture, or lists it for JSON."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape, quoteattr

from dlt_local.observability.graph_layout import Layout, layered
from dlt_local.observability.shapes import Shape, edges

_BOX_WIDTH, _BOX_HEIGHT = 210, 44
_GAP_ACROSS, _GAP_DOWN, _MARGIN = 70, 16, 20
_COLOURS = {"streaming table": "#2f6f9f", "materialized view": "#3d7d4d", "view": "#8a7a3a", "sink": "#8a4a4a"}
# Styles of an inline SVG apply to the whole page, so every rule is scoped to the picture's class.
_STYLE = """
  .graph text { font: 13px system-ui, sans-serif; fill: #fff }
  .graph .kind { font-size: 11px; opacity: .85 }
  .graph path { fill: none; stroke: #8a8f98; stroke-width: 1.5 }
"""


def text(datasets: Sequence[Shape]) -> str:
    """One line per dataset, inputs first: name, kind, location of its declaration, what it reads."""
    rows = [(each.name, each.described_kind, each.short_place, list(each.inputs)) for each in datasets]
    widths = [max((len(row[column]) for row in rows), default=0) for column in range(3)]
    lines = (
        f"{name:<{widths[0]}}  {kind:<{widths[1]}}  {at:<{widths[2]}}  {'<- ' if inputs else ''}{', '.join(inputs)}"
        for name, kind, at, inputs in rows
    )
    return "".join(f"{line.rstrip()}\n" for line in lines)


def mermaid(datasets: Sequence[Shape]) -> str:
    """A Mermaid flowchart, which Markdown viewers render."""
    numbers = {each.name: f"d{number}" for number, each in enumerate(datasets)}
    lines = ["flowchart LR"]
    lines += [
        f'  {numbers[each.name]}["{_quoted(each.name)}<br/><small>{each.described_kind}</small>"]' for each in datasets
    ]
    lines += [f"  {numbers[edge.source]} --> {numbers[edge.target]}" for edge in edges(datasets)]
    return "\n".join(lines) + "\n"


def svg(datasets: Sequence[Shape]) -> str:
    """An SVG picture: layers from left to right, each dataset to the right of everything that it reads."""
    layout = layered([each.name for each in datasets], edges(datasets))
    positions = _Positions(layout)
    size = f'width="{positions.width}" height="{positions.height}"'
    parts = [f'<svg class="graph" xmlns="http://www.w3.org/2000/svg" {size}>', f"<style>{_STYLE}</style>"]
    parts += [f'<path d="{positions.curve(line)}"/>' for line in layout.lines]
    parts += [_box(each, positions.corner(each.name)) for each in datasets]
    return "\n".join([*parts, "</svg>"]) + "\n"


def listed(datasets: Sequence[Shape]) -> list[dict[str, object]]:
    """The datasets as JSON objects, each with its columns, its place, and the names of its inputs."""
    return [{**dataclasses.asdict(each), "inputs": list(each.inputs)} for each in datasets]


FORMATS: Mapping[str, Callable[[Sequence[Shape]], str]] = {"text": text, "mermaid": mermaid, "svg": svg}


@dataclass(frozen=True)
class _Positions:
    layout: Layout

    @property
    def width(self) -> int:
        return 2 * _MARGIN + len(self.layout.layers) * (_BOX_WIDTH + _GAP_ACROSS) - _GAP_ACROSS

    @property
    def height(self) -> int:
        return 2 * _MARGIN + max(map(len, self.layout.layers), default=0) * (_BOX_HEIGHT + _GAP_DOWN) - _GAP_DOWN

    def corner(self, name: str) -> tuple[float, float]:
        """Upper left corner of a box; each layer is centred vertically."""
        layer, row = self.layout.position(name)
        used = len(self.layout.layers[layer]) * (_BOX_HEIGHT + _GAP_DOWN) - _GAP_DOWN
        top = (self.height - used) / 2
        return _MARGIN + layer * (_BOX_WIDTH + _GAP_ACROSS), top + row * (_BOX_HEIGHT + _GAP_DOWN)

    def curve(self, line: tuple[str, ...]) -> str:
        """SVG path from the first box to the last, horizontal where it passes a layer through a gap."""
        x, y = self.corner(line[0])
        drawn = [f"M{x + _BOX_WIDTH:g} {y + _BOX_HEIGHT / 2:g}"]
        bend = _GAP_ACROSS / 2
        for name in line[1:]:
            x, y = self.corner(name)
            middle = y + _BOX_HEIGHT / 2
            drawn.append(f"C{x - bend:g} {_y(drawn[-1])} {x - bend:g} {middle:g} {x:g} {middle:g}")
            if name != line[-1]:
                drawn.append(f"L{x + _BOX_WIDTH:g} {middle:g}")
        return " ".join(drawn)


def _y(drawn: str) -> str:
    return drawn.rpartition(" ")[2]


def _box(dataset: Shape, corner: tuple[float, float]) -> str:
    x, y = corner
    colour = _COLOURS[dataset.kind]
    dashed = ' stroke="#fff" stroke-dasharray="4 3"' if dataset.private else ""
    return (
        f'<g transform="translate({x:g} {y:g})"><title>{escape(dataset.short_place)}</title>'
        f'<rect width="{_BOX_WIDTH}" height="{_BOX_HEIGHT}" rx="6" fill={quoteattr(colour)}{dashed}/>'
        f'<text x="10" y="19">{escape(dataset.name)}</text>'
        f'<text class="kind" x="10" y="35">{escape(dataset.described_kind)}</text></g>'
    )


def _quoted(name: str) -> str:
    return name.replace('"', "#quot;")
