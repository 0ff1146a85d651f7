"""One YAML (or JSON) file of a bundle as values that know where they stand."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from dlt_local.errors import DeclarationError, SourceLocation

Scalar = str | int | float | bool | None
Content = Scalar | Mapping[str, "Value"] | tuple["Value", ...]

_NUMBERS_AND_WORDS = ("int", "float", "bool", "null")


@dataclass(frozen=True)
class Value:
    """A value of a bundle's configuration and the place where it is written."""

    content: Content
    file: Path
    """Absolute: relative paths in the value are relative to this file's folder."""
    line: int

    @property
    def location(self) -> SourceLocation:
        """The place for messages; short where the file lies below the working directory."""
        below = self.file.is_relative_to(Path.cwd())
        return SourceLocation(str(self.file.relative_to(Path.cwd()) if below else self.file), self.line)

    @property
    def fields(self) -> Mapping[str, "Value"]:
        """A mapping's values by key; of anything else, none."""
        return self.content if isinstance(self.content, Mapping) else {}

    @property
    def items(self) -> tuple["Value", ...]:
        """A sequence's values; of anything else, none."""
        return self.content if isinstance(self.content, tuple) else ()

    @property
    def text(self) -> str:
        """A scalar as Databricks writes it into a text: true, 17, and nothing for null."""
        match self.content:
            case None:
                return ""
            case bool():
                return "true" if self.content else "false"
            case _:
                return str(self.content)

    def with_content(self, content: Content) -> "Value":
        """Another value at the same place."""
        return Value(content, self.file, self.line)

    def find(self, *keys: str) -> "Value | None":
        """The value at the end of a way of keys, None where the way breaks off."""
        value: Value | None = self
        for key in keys:
            value = value.fields.get(key) if value is not None else None
        return value

    def walk(self) -> Iterator["Value"]:
        """This value and all in it."""
        yield self
        for value in (*self.fields.values(), *self.items):
            yield from value.walk()


def read_document(file: Path, faults: list[DeclarationError]) -> Value:
    """Read a file; what is wrong with it as YAML is added to ``faults``, and it counts as empty then."""
    empty = Value({}, file, 1)
    try:
        node = YAML(typ="safe", pure=True).compose(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        faults.append(DeclarationError("UNREADABLE_FILE", f"the file cannot be read: {error}", empty.location))
        return empty
    except YAMLError as error:
        faults.append(_broken(empty, error))
        return empty
    if node is None:
        return empty
    value = _Composition(file, faults).value(node)
    if not isinstance(value.content, Mapping):
        message, fix = "the file holds no mapping", "write top-level keys, such as `resources:`"
        faults.append(DeclarationError("WRONG_SHAPE", message, value.location, fix))
        return empty
    return value


def _broken(file: Value, error: YAMLError) -> DeclarationError:
    mark = error.problem_mark if isinstance(error, MarkedYAMLError) else None
    told = error.problem if isinstance(error, MarkedYAMLError) else str(error)
    place = Value(None, file.file, mark.line + 1 if mark else 1)
    fix = "correct the line, or the one above it: indentation, a missing quote, bracket or colon"
    return DeclarationError("BROKEN_YAML", f"not YAML: {told}", place.location, fix)


class _Composition:
    """Turns nodes into values; keys are texts as written."""

    def __init__(self, file: Path, faults: list[DeclarationError]) -> None:
        self._file = file
        self._faults = faults
        self._open: list[Node] = []
        self._constructor = YAML(typ="safe", pure=True).constructor

    def value(self, node: Node) -> Value:
        if any(node is outer for outer in self._open):
            self._fault(node, f"the alias `*{node.anchor}` stands inside what it names", "write the value out")
            return self._at(node, None)
        self._open.append(node)
        try:
            return self._at(node, self._content(node))
        finally:
            self._open.pop()

    def _content(self, node: Node) -> Content:
        if isinstance(node, MappingNode):
            return self._mapping(node)
        if isinstance(node, SequenceNode):
            return tuple(self.value(item) for item in node.value)
        # Dates too stay the texts that they are written as.
        if str(node.tag).rpartition(":")[2] not in _NUMBERS_AND_WORDS:
            return str(node.value)
        constructed: Scalar = self._constructor.construct_object(node)
        return constructed

    def _mapping(self, node: MappingNode) -> dict[str, Value]:
        own: dict[str, Value] = {}
        merged: dict[str, Value] = {}
        for key, value in node.value:
            if not isinstance(key, ScalarNode):
                self._fault(key, "a key is a list or a mapping", "write a text as the key")
            elif str(key.tag).endswith(":merge"):
                for source in value.value if isinstance(value, SequenceNode) else [value]:
                    merged = {**self.value(source).fields, **merged}
            elif key.value in own:
                line = own[key.value].line
                message = f"`{key.value}` stands here again; its first value is in line {line}"
                self._fault(key, message, "keep one of the two")
            else:
                own[str(key.value)] = self.value(value)
        return {**merged, **own}

    def _fault(self, node: Node, message: str, fix: str) -> None:
        self._faults.append(DeclarationError("BROKEN_YAML", message, self._at(node, None).location, fix))

    def _at(self, node: Node, content: Content) -> Value:
        return Value(content, self._file, node.start_mark.line + 1)
