"""YAML 1.2 by PyYAML: the words of the core schema, and the same nodes from both of its parsers."""

from typing import Any

import pytest
import yaml

from cdc.spec import yaml_core
from cdc.spec.yaml_core import compose, place, scalar

TEXTS = ("no", "on", "yes", "1:20", "2026-11-23", "1_000", "0b1", "=", "0o", "+", ".", "'7'", "!!int one", "!!bool so")
VALUES = {"7": 7, "-1": -1, "010": 10, "0o17": 15, "0x1F": 31, "1e3": 1000.0, ".5": 0.5, "-.inf": float("-inf")} | {
    "true": True,
    "FALSE": False,
    "~": None,
    "null": None,
    "!!float 1": 1.0,
}


def value(text: str) -> Any:
    node = compose(f"x: {text}\n")
    assert isinstance(node, yaml.MappingNode)
    return scalar(node.value[0][1])


@pytest.mark.parametrize("text", TEXTS)
def test_what_is_a_string_in_yaml_1_2_stays_one(text: str) -> None:
    assert value(text) == text.rpartition(" ")[2].strip("'")


@pytest.mark.parametrize("text", VALUES)
def test_numbers_booleans_and_null_are_those_of_the_core_schema(text: str) -> None:
    assert (value(text), type(value(text))) == (VALUES[text], type(VALUES[text]))


def test_an_anchor_may_be_set_again() -> None:
    node = compose("a: &x 1\nb: &x 2\nc: *x\n")
    assert node is not None
    assert node.value[2][1].value == "2"


def outline(node: yaml.Node, text: str) -> Any:
    """Tag, place and content of a node and all nodes in it."""
    content: Any = node.value
    if isinstance(node, yaml.MappingNode):
        content = [(outline(key, text), outline(each, text)) for key, each in node.value]
    elif isinstance(node, yaml.SequenceNode):
        content = [outline(each, text) for each in node.value]
    return node.tag, place(node, text), content


@pytest.mark.parametrize(
    "text",
    [
        "{a: , b:   }",
        "a:\nb:   # nothing\n\nc: !!str\nd: &x\ne: [*x, '', ~]\n",
        "a: &x 1\nb: &x [2, {c: d}]\ne: *x\n",
        "table: é.dbo.t\nkey: [id]\ncolumns:\n  a: |\n    x\n\n  b: >-\n    y\n? z\n",
        '%YAML 1.2\n---\n{"a":1, \'b\': "\\/"}\n',
    ],
    ids=["flow", "nothing there", "anchors", "blocks", "directive"],
)
def test_both_parsers_give_the_same_nodes_and_places(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    fast = compose(text)
    monkeypatch.setattr(yaml_core, "_FastLoader", None)
    slow = compose(text)
    assert fast is not None and slow is not None
    assert outline(fast, text) == outline(slow, text)
