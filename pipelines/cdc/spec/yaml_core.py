"""YAML 1.2 read with PyYAML: nodes with their places, and scalars by the core schema.

PyYAML's own resolver is YAML 1.1's, for which `no` is false and `1:20` a number.
"""

import re

import yaml
from yaml.composer import Composer
from yaml.parser import Parser
from yaml.reader import Reader
from yaml.resolver import BaseResolver
from yaml.scanner import Scanner

_TAG = "tag:yaml.org,2002:"
_RULES = (
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("bool", r"true|True|TRUE|false|False|FALSE", list("tTfF")),
    ("int", r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+", list("-+0123456789")),
    ("float", r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)", None),
    ("merge", r"<<", ["<"]),
)
"""Kind of a plain scalar -> the whole text, and its first letters; what fits no rule is a string. A merge key is no
part of the core schema; it is recognized so that it can be refused by name."""


class _CoreResolver(BaseResolver):
    """Tags plain scalars by YAML 1.2's core schema."""


for _kind, _pattern, _first in _RULES:
    _CoreResolver.add_implicit_resolver(_TAG + _kind, re.compile(rf"(?:{_pattern})\Z"), _first or list("-+.0123456789"))


class _Loader(Reader, Scanner, Parser, Composer, _CoreResolver):
    """The parser written in Python: slow, with the better messages."""

    def __init__(self, text: str) -> None:
        Reader.__init__(self, text)
        Scanner.__init__(self)
        Parser.__init__(self)
        Composer.__init__(self)
        BaseResolver.__init__(self)

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        """A node; an anchor may be set again, as YAML 1.2 has it."""
        event: yaml.Event = self.peek_event()  # type: ignore[no-untyped-call]
        if isinstance(event, yaml.NodeEvent) and not isinstance(event, yaml.AliasEvent):
            self.anchors.pop(event.anchor, None)
        return super().compose_node(parent, index)


try:
    from yaml._yaml import CParser

    class _FastLoader(CParser, _CoreResolver):
        """The parser of libyaml, ten times as fast, where PyYAML was built with it."""

        def __init__(self, text: str) -> None:
            CParser.__init__(self, text)
            BaseResolver.__init__(self)

except ImportError:
    _FastLoader = None  # type: ignore[assignment,misc]


def compose(text: str) -> yaml.Node | None:
    """The root node of a text with one document; None if it is empty.

    Raises:
        yaml.YAMLError: it is not YAML.
    """
    if _FastLoader is not None and "\t" not in text:  # They disagree on where a tab may be.
        try:
            return _root(_FastLoader(text))
        except yaml.YAMLError:
            pass  # The other parser says what is wrong in the same words on every machine.
    return _root(_Loader(text))


def _root(loader: "_Loader | _FastLoader") -> yaml.Node | None:
    node: yaml.Node | None = loader.get_single_node()
    return node


def scalar(node: yaml.ScalarNode) -> str | int | float | bool | None:
    """Numbers, booleans and null as such; everything else, dates included, as the string in the file.

    A text that its explicit tag does not fit (`!!int one`) stays a string.
    """
    text = str(node.value)
    try:
        match str(node.tag).removeprefix(_TAG):
            case "null":
                return None
            case "bool" if text.lower() in ("true", "false"):
                return text.lower() == "true"
            case "int":
                return int(text, 0) if text[:2] in ("0o", "0x") else int(text)
            case "float":
                return float(text.replace(".inf", "inf").replace(".nan", "nan"))
    except ValueError:
        pass
    return text


def place(node: yaml.Node, text: str) -> tuple[int, int]:
    """Line and column at which a node starts, from 1; a value that is not there starts after its colon."""
    line, column = node.start_mark.line, node.start_mark.column
    if isinstance(node, yaml.ScalarNode) and node.value == "" and not node.style:
        # The two parsers differ in whether the spaces before it belong to it.
        before, rest = _line(text, line)[:column], _line(text, line)[column:]
        column = column if rest[:1] in ("!", "&") else len(before.rstrip(" "))
    return line + 1, column + 1


def anchor(node: yaml.Node, text: str) -> str:
    """The name that an alias of a node in ``text`` has: `all` for a value written as `&all {...}`."""
    found = re.search(r"&([^\s,\[\]{}]+)", _line(text, node.start_mark.line)[node.start_mark.column :])
    return found[1] if found else "?"


def _line(text: str, number: int) -> str:
    lines = text.splitlines()
    return lines[number] if number < len(lines) else ""
