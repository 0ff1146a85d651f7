"""One YAML (or JSON) file of a bundle as values with their file and line."""

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
    """A value of a bundle's configuration and where it is written."""

    content: Content
    file: Path
    """Absolute; a relative path in the value is relative to this file's folder."""
    line: int

    @property
    def location(self) -> SourceLocation:
        """File and line for messages; the file is relative if it is below the working directory."""
        is_below = self.file.is_relative_to(Path.cwd())
        return SourceLocation(str(self.file.relative_to(Path.cwd()) if is_below else self.file), self.line)

    @property
    def fields(self) -> Mapping[str, "Value"]:
        """The values of a mapping by key; empty for any other value."""
        return self.content if isinstance(self.content, Mapping) else {}

    @property
    def items(self) -> tuple["Value", ...]:
        """The values of a sequence; empty for any other value."""
        return self.content if isinstance(self.content, tuple) else ()

    @property
    def text(self) -> str:
        """A scalar as Databricks inserts it into a string: `true`, `17`, and nothing for null."""
        match self.content:
            case None:
                return ""
            case bool():
                return "true" if self.content else "false"
            case _:
                return str(self.content)

    def with_content(self, content: Content) -> "Value":
        """Another value with the same file and line."""
        return Value(content, self.file, self.line)

    def find(self, *keys: str) -> "Value | None":
        """The value under nested keys, None if a key is missing on the way."""
        value: Value | None = self
        for key in keys:
            value = value.fields.get(key) if value is not None else None
        return value

    def walk(self) -> Iterator["Value"]:
        """This value and every value inside it."""
        yield self
        for value in (*self.fields.values(), *self.items):
            yield from value.walk()


def read_document(file: Path, faults: list[DeclarationError]) -> Value:
    """Read a file; if it is not a valid mapping, add the fault to ``faults`` and return an empty one."""
    empty = Value({}, file, 1)
    try:
        node = YAML(typ="safe", pure=True).compose(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        message, fix = f"the file cannot be read: {error}", "correct its permissions, or save it as UTF-8"
        faults.append(DeclarationError("UNREADABLE_FILE", message, empty.location, fix))
        return empty
    except YAMLError as error:
        faults.append(_not_yaml(file, error))
        return empty
    if node is None:
        return empty
    value = _Composer(file, faults).value(node)
    if not isinstance(value.content, Mapping):
        message, fix = "the file is not a mapping", "write top-level keys, such as `resources:`"
        faults.append(DeclarationError("WRONG_SHAPE", message, value.location, fix))
        return empty
    return value


def _not_yaml(file: Path, error: YAMLError) -> DeclarationError:
    mark = error.problem_mark if isinstance(error, MarkedYAMLError) else None
    problem = error.problem if isinstance(error, MarkedYAMLError) else str(error)
    location = Value(None, file, mark.line + 1 if mark else 1).location
    fix = "correct this line or the one above it: indentation, or a missing quote, bracket or colon"
    return DeclarationError("BROKEN_YAML", f"not YAML: {problem}", location, fix)


class _Composer:
    """Turns YAML nodes into values; keys are strings, as written."""

    def __init__(self, file: Path, faults: list[DeclarationError]) -> None:
        self._file = file
        self._faults = faults
        self._enclosing: list[Node] = []
        self._constructor = YAML(typ="safe", pure=True).constructor

    def value(self, node: Node) -> Value:
        if any(node is outer for outer in self._enclosing):
            self._fault(node, f"the alias `*{node.anchor}` is inside the value it refers to", "write the value out")
            return self._at(node, None)
        self._enclosing.append(node)
        try:
            return self._at(node, self._content(node))
        finally:
            self._enclosing.pop()

    def _content(self, node: Node) -> Content:
        if isinstance(node, MappingNode):
            return self._mapping(node)
        if isinstance(node, SequenceNode):
            return tuple(self.value(item) for item in node.value)
        # Dates, too, stay strings as written.
        if str(node.tag).rpartition(":")[2] not in _NUMBERS_AND_WORDS:
            return str(node.value)
        constructed: Scalar = self._constructor.construct_object(node)
        return constructed

    def _mapping(self, node: MappingNode) -> dict[str, Value]:
        fields: dict[str, Value] = {}
        merged: dict[str, Value] = {}
        for key, value in node.value:
            if not isinstance(key, ScalarNode):
                self._fault(key, "a key is a list or a mapping", "use a string as the key")
            elif str(key.tag).endswith(":merge"):
                for source in value.value if isinstance(value, SequenceNode) else [value]:
                    merged = {**self.value(source).fields, **merged}
            elif key.value in fields:
                message = f"duplicate key `{key.value}`; it is first set in line {fields[key.value].line}"
                self._fault(key, message, "keep one of the two")
            else:
                fields[str(key.value)] = self.value(value)
        return {**merged, **fields}

    def _fault(self, node: Node, message: str, fix: str) -> None:
        self._faults.append(DeclarationError("BROKEN_YAML", message, self._at(node, None).location, fix))

    def _at(self, node: Node, content: Content) -> Value:
        return Value(content, self._file, node.start_mark.line + 1)
