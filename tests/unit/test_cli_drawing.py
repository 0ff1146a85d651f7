"""The graph as text, as Mermaid and as an SVG picture."""

import json
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from pyspark.sql import DataFrame
from pyspark.sql.types import StructType

from dlt_local.declarations.elements import QueryFlow, Table, View
from dlt_local.errors import SourceLocation
from dlt_local.graph.graph import Graph, Node, ResolvedFlow
from dlt_local.names import TableName
from dlt_local.observability.graph_drawing import FORMATS, listed, mermaid, svg, text
from dlt_local.observability.graph_layout import Edge, layered
from dlt_local.observability.shapes import Shape, edges, shapes


def node(
    name: str, kind: str, tables: tuple[str, ...] = (), views: tuple[str, ...] = (), private: bool = False
) -> Node:
    """A resolved dataset; as in the resolver, ``tables`` includes those read through views."""
    where = SourceLocation(str(Path.cwd() / "src" / "all.py"), 7)
    read = tuple(TableName(*each.split(".")) for each in tables)
    dataset = View(name, where, query) if kind == "view" else Table(TableName(*name.split(".")), where, None, private)
    flow = ResolvedFlow(QueryFlow(name, name, where, query), read, views, True, StructType())
    return Node(dataset, kind, (flow,), StructType())


def query() -> DataFrame:
    raise AssertionError


NODES = Graph(
    (
        node("bronze.a", "streaming table"),
        node("bronze.b", "streaming table"),
        node("silver.a", "streaming table", ("bronze.a",), private=True),
        node("clean", "view", ("silver.a",)),
        node("both", "view", ("silver.a", "bronze.b"), ("clean",)),
        node('gold.<"all">', "materialized view", ("silver.a", "bronze.b"), ("clean", "both")),
    ),
    (),
)
GRAPH = shapes(NODES, str)


def test_edges_lead_from_what_a_dataset_reads_directly() -> None:
    assert [(edge.source, edge.target) for edge in edges(GRAPH)] == [
        ("bronze.a", "silver.a"),
        ("silver.a", "clean"),
        ("bronze.b", "both"),
        ("clean", "both"),
        ("both", 'gold.<"all">'),
    ]


def test_text_has_a_line_for_each_dataset() -> None:
    assert text(GRAPH).splitlines() == [
        "bronze.a      streaming table          src/all.py:7",
        "bronze.b      streaming table          src/all.py:7",
        "silver.a      private streaming table  src/all.py:7  <- bronze.a",
        "clean         view                     src/all.py:7  <- silver.a",
        "both          view                     src/all.py:7  <- bronze.b, clean",
        'gold.<"all">  materialized view        src/all.py:7  <- both',
    ]


def test_mermaid_names_nodes_by_number_and_escapes_quotes() -> None:
    lines = mermaid(GRAPH).splitlines()
    assert lines[0] == "flowchart LR"
    assert lines[6] == '  d5["gold.<#quot;all#quot;><br/><small>materialized view</small>"]'
    assert lines[7:] == ["  d0 --> d2", "  d2 --> d3", "  d1 --> d4", "  d3 --> d4", "  d4 --> d5"]


def test_the_picture_has_every_dataset_and_edge() -> None:
    space = "{http://www.w3.org/2000/svg}"
    picture = ElementTree.fromstring(svg(GRAPH))
    names = [box.findtext(f"{space}text") for box in picture.iter(f"{space}g")]
    assert names == [each.name for each in GRAPH]
    assert len(list(picture.iter(f"{space}path"))) == len(edges(GRAPH))
    assert len({box.get("transform") for box in picture.iter(f"{space}g")}) == len(GRAPH)


@pytest.mark.parametrize("draw", FORMATS.values(), ids=FORMATS)
def test_an_empty_graph_can_be_drawn(draw: Callable[[Sequence[Shape]], str]) -> None:
    assert isinstance(draw(()), str)


def test_json_has_each_dataset_with_its_columns_and_inputs() -> None:
    found = json.loads(json.dumps(listed(GRAPH)))
    assert [each["name"] for each in found] == [each.name for each in GRAPH]
    assert found[4] == {
        "name": "both",
        "kind": "view",
        "place": f"{Path.cwd()}/src/all.py:7",
        "private": False,
        "comment": None,
        "columns": [],
        "defined_in": None,
        "inputs": ["bronze.b", "clean"],
    }


def test_layers_follow_the_longest_path_and_long_lines_pass_through_gaps() -> None:
    layout = layered(["a", "b", "c"], [Edge("a", "b"), Edge("b", "c"), Edge("a", "c")])
    assert [layer[0] for layer in layout.layers] == ["a", "b", "c"]
    assert layout.lines == (("a", "b"), ("b", "c"), ("a", "a>c@1", "c"))
    assert layout.layers[1] == ("b", "a>c@1")


def test_the_order_in_a_layer_avoids_crossings() -> None:
    crossed = [Edge("a", "z"), Edge("b", "y"), Edge("c", "x")]
    layout = layered(["a", "b", "c", "x", "y", "z"], crossed)
    first = {name: row for row, name in enumerate(layout.layers[0])}
    second = {name: row for row, name in enumerate(layout.layers[1])}
    assert all(first[edge.source] == second[edge.target] for edge in crossed)
