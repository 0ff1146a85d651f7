"""One YAML file as plain values and their places in the file."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from yaml import MappingNode, Node, ScalarNode, SequenceNode, YAMLError
from yaml.error import MarkedYAMLError

from cdc.errors import Condition, Diagnostic, Location
from cdc.spec.secrets import looks_secret
from cdc.spec.yaml_core import anchor, compose, place, scalar

ValuePath = tuple[str | int, ...]
"""Path of a value inside a file: ``("columns", "id", "type")``."""


@dataclass(frozen=True)
class Document:
    """A file's values with their places; empty if the file could not be read."""

    file: str
    """Path as shown in messages."""
    data: dict[str, Any] = field(default_factory=dict)
    places: Mapping[ValuePath, Location] = field(default_factory=dict)
    """Where each value starts."""
    key_places: Mapping[ValuePath, Location] = field(default_factory=dict)
    """Where the key of each value starts."""
    readable: bool = False
    """True if the file is a YAML mapping, or a list where one is wanted; if False, ``data`` is empty and a fault is
    reported."""
    text: str = field(default="", repr=False)
    """The file's content."""

    def line(self, number: int) -> str:
        """A line of the file, counted from 1; empty if there is no such line."""
        lines = self.text.splitlines()
        return lines[number - 1] if 0 < number <= len(lines) else ""

    def place(self, path: ValuePath, *, of_key: bool = False) -> Location:
        """Where the value (or its key) is; if it does not exist, the place of the nearest enclosing value."""
        while path:
            found = (self.key_places if of_key else self.places).get(path) or self.places.get(path)
            if found:
                return found
            path = path[:-1]
        return self.places.get((), Location(self.file))


def read_document(path: Path, shown_as: str, faults: list[Diagnostic], list_as: str | None = None) -> Document:
    """Read one YAML 1.2 file; YAML errors are added to ``faults``.

    Args:
        path: the file.
        shown_as: its path in messages.
        faults: those found so far.
        list_as: for a file that is a list: the field of the document's data that has it.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        faults.append(_unreadable(shown_as, str(error)))
        return Document(shown_as)
    try:
        node = compose(text)
    except YAMLError as error:
        faults.append(_broken(shown_as, text, error))
        return Document(shown_as)
    if not isinstance(node, SequenceNode if list_as else MappingNode):
        faults.append(_not_a_list(shown_as, node) if list_as else _not_a_mapping(shown_as, node))
        return Document(shown_as)
    composition = _Composition(shown_as, text, faults)
    values = {list_as: composition.value(node, (list_as,))} if list_as else composition.value(node, ())
    return Document(shown_as, values, composition.places, composition.key_places, readable=True, text=text)


class _Composition:
    """Turns nodes into values. Keys stay strings as written, so a column can be called `no`, `on` or `1`."""

    def __init__(self, file: str, text: str, faults: list[Diagnostic]) -> None:
        self.file = file
        self.text = text
        self.faults = faults
        self.places: dict[ValuePath, Location] = {}
        self.key_places: dict[ValuePath, Location] = {}
        self._open: list[Node] = []

    def value(self, node: Node, path: ValuePath) -> Any:
        """The value of a node; records its place and those of all nested values."""
        self.places[path] = self._location(node)
        if any(node is outer for outer in self._open):
            detail = f"the alias `*{anchor(node, self.text)}` is inside the value that it refers to"
            self._fault(node, detail, "write out the value")
            return None
        self._open.append(node)
        try:
            return self._value(node, path)
        finally:
            self._open.pop()

    def _value(self, node: Node, path: ValuePath) -> Any:
        if not str(node.tag).startswith("tag:yaml.org,2002:"):
            self._fault(node, f"the tag `{node.tag}` is not supported", "remove the tag")
        if isinstance(node, MappingNode):
            return self._mapping(node, path)
        if isinstance(node, SequenceNode):
            return [self.value(item, (*path, index)) for index, item in enumerate(node.value)]
        return scalar(node) if isinstance(node, ScalarNode) else None

    def _mapping(self, node: MappingNode, path: ValuePath) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for key_node, value_node in node.value:
            if not isinstance(key_node, ScalarNode):
                self._fault(key_node, "a key is a list or a mapping", "use a string as the key")
            elif str(key_node.tag).endswith(":merge"):
                self._fault(key_node, "the merge key `<<` is not supported", "write out the fields")
            elif key_node.value in values:
                self._duplicate(key_node, self.key_places[(*path, key_node.value)].line)
            else:
                self.key_places[(*path, key_node.value)] = self._location(key_node)
                values[key_node.value] = self.value(value_node, (*path, key_node.value))
        return values

    def _duplicate(self, key_node: ScalarNode, first_line: int) -> None:
        detail = f"`{key_node.value}` is a duplicate of the key in line {first_line}"
        fix = "keep one of the two."
        self.faults.append(
            Diagnostic(Condition.DUPLICATE_YAML_KEY, self._location(key_node), detail, fix, value=key_node.value)
        )

    def _fault(self, node: Node, detail: str, fix: str) -> None:
        self.faults.append(Diagnostic(Condition.BROKEN_YAML, self._location(node), detail, f"{fix}."))

    def _location(self, node: Node) -> Location:
        return Location(self.file, *place(node, self.text))


def _unreadable(file: str, reason: str) -> Diagnostic:
    return Diagnostic(
        Condition.BROKEN_YAML, Location(file), f"the file cannot be read: {reason}", "save it as UTF-8 text."
    )


def _broken(file: str, text: str, error: YAMLError) -> Diagnostic:
    """The parser's message, without its copy of the line, which may contain a secret."""
    mark = error.problem_mark if isinstance(error, MarkedYAMLError) else None
    if mark is None or not isinstance(error, MarkedYAMLError):
        detail, location = "the file contains a character that YAML does not allow", Location(file)
    else:
        detail, location = _problem(error), Location(file, mark.line + 1, mark.column + 1)
        lines = text.splitlines()
        if mark.line < len(lines) and looks_secret(lines[mark.line]):
            detail = "the line is not valid YAML"
    fix = "correct this line or the one above it: indentation, a missing quote, bracket or colon."
    return Diagnostic(Condition.BROKEN_YAML, location, detail, fix)


def _problem(error: MarkedYAMLError) -> str:
    """The parser's message in one line, with the start of the element that it was parsing."""
    problem, context = str(getattr(error, "problem", "")), str(getattr(error, "context", None) or "")
    start = getattr(error, "context_mark", None)
    if context.startswith("while"):
        return f"{problem} ({context} that starts in line {start.line + 1})" if start else problem
    return f"{context}, {problem}" if context else problem


def _not_a_mapping(file: str, node: Node | None) -> Diagnostic:
    if node is None:
        fix = "write the spec or remove the file (`python -m cdc scaffold` generates specs from a capture)."
        return Diagnostic(Condition.EMPTY_FILE, Location(file), "the file is empty", fix)
    kind = "a list" if isinstance(node, SequenceNode) else "a single value"
    location = Location(file, node.start_mark.line + 1, node.start_mark.column + 1)
    fix = "write one `field: value` per line, without dashes; a file describes one table or one connector."
    return Diagnostic(Condition.WRONG_KIND, location, f"the file contains {kind} instead of a mapping", fix)


def _not_a_list(file: str, node: Node | None) -> Diagnostic:
    if node is None:
        return Diagnostic(Condition.EMPTY_FILE, Location(file), "the file is empty", "write a list of mappings.")
    kind = "a mapping" if isinstance(node, MappingNode) else "a single value"
    location = Location(file, node.start_mark.line + 1, node.start_mark.column + 1)
    return Diagnostic(
        Condition.WRONG_KIND, location, f"the file contains {kind} instead of a list", "put it in brackets: `[...]`."
    )
