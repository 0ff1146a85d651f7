"""Edits of a spec's YAML in place: only the text of the value changes, so comments and layout stay as they are."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import yaml

from cdc.spec.scaffold import column_key
from cdc.spec.schema_faults import flow
from cdc.spec.yaml_core import compose


@dataclass(frozen=True)
class YamlText:
    """The text of one table's file."""

    text: str

    def with_column(self, line: str, name: str) -> "YamlText":
        """With one more column at the end of `columns:`.

        Args:
            line: as in a block: ``note: nvarchar(80)``, perhaps with a comment.
            name: the column's.
        """
        columns = self._mapping("columns")
        if not columns.value:
            return self._with_only_column(columns, line, name)
        last_key, last = columns.value[-1]
        end = self._end_of_pair(last_key, last)
        if columns.flow_style:
            value = yaml.safe_load(line)[name]
            return self._insert(end, f", {column_key(name)}: {flow(value)}")
        indent = " " * last_key.start_mark.column
        return self._insert_line(end[0], f"{indent}{line}")

    def with_type(self, name: str, written: str) -> "YamlText":
        """With another type of a column: ``decimal(20,2) not null``."""
        if self._is_alias(name):
            return self._written_out(name).with_type(name, written)
        column = self._node("columns", name)
        if isinstance(column, yaml.MappingNode) and "type" not in [key.value for key, _ in column.value]:
            return self._with_first(column, f"type: {flow(written) if column.flow_style else written}")
        stated = column if isinstance(column, yaml.ScalarNode) else self._node("columns", name, "type")
        in_flow = column.flow_style if isinstance(column, yaml.MappingNode) else self._mapping("columns").flow_style
        edited = self._replace(stated, flow(written) if in_flow else written)
        return edited._without_nullable(name)

    def with_missing_as_null(self, name: str) -> "YamlText":
        """With `on_missing: as_null` at a column."""
        if self._is_alias(name):
            return self._written_out(name).with_missing_as_null(name)
        column = self._node("columns", name)
        if isinstance(column, yaml.ScalarNode):
            return self._replace(column, flow({"type": str(column.value), "on_missing": "as_null"}))
        column = self._mapping("columns", name)
        fields = {key.value: value for key, value in column.value}
        if "on_missing" in fields:
            return self._replace(fields["on_missing"], "as_null")
        last_key, last = column.value[-1]
        end = self._end_of_pair(last_key, last)
        if column.flow_style:
            return self._insert(end, ", on_missing: as_null")
        indent = " " * last_key.start_mark.column
        return self._insert_line(end[0], f"{indent}on_missing: as_null")

    def _with_only_column(self, empty: yaml.MappingNode, line: str, name: str) -> "YamlText":
        """With a column in place of ``{}``: on a line of its own, unless the whole file is in braces."""
        root = compose(self.text)
        if isinstance(root, yaml.MappingNode) and root.flow_style:
            return self._replace(empty, f"{{{column_key(name)}: {flow(yaml.safe_load(line)[name])}}}")
        number, column = _start(empty)
        kept = len(self._lines[number][:column].rstrip())
        return self._splice((number, kept), self._end(empty), "")._insert_line(number, f"  {line}")

    def _with_first(self, mapping: yaml.MappingNode, field: str) -> "YamlText":
        """With a field before those of a mapping, which has some."""
        start = _start(mapping.value[0][0])
        separator = ", " if mapping.flow_style else "\n" + " " * start[1]
        return self._insert(start, f"{field}{separator}")

    def _without_nullable(self, name: str) -> "YamlText":
        """Without the column's `nullable`, which the type states too."""
        column = self._node("columns", name)
        if not isinstance(column, yaml.MappingNode):
            return self
        for position, (key, value) in enumerate(column.value):
            if key.value == "nullable":
                if not column.flow_style:
                    lines = self._lines
                    return self._with_lines([*lines[: key.start_mark.line], *lines[value.end_mark.line + 1 :]])
                # The comma before it goes too; without one, the comma after it.
                start = self._end(column.value[position - 1][1]) if position else _start(key)
                end = self._end(value) if position else _start(column.value[1][0])
                return self._splice(start, end, "")
        return self

    def _is_alias(self, name: str) -> bool:
        key, value = self._column(name)
        return _start(value) < _start(key)

    def _written_out(self, name: str) -> "YamlText":
        """With the content of an alias in its place: an edit at its anchor would change other columns too."""
        key, value = self._column(name)
        fields = {field.value: each.value for field, each in value.value} if isinstance(value.value, list) else {}
        line, end = self._end_of_pair(key, value)
        start = self._lines[line].rindex("*", 0, end)
        return self._splice((line, start), (line, end), flow(fields or str(value.value)))

    def _column(self, name: str) -> tuple[yaml.Node, yaml.Node]:
        """The nodes of a column's name and value."""
        return next((key, value) for key, value in self._mapping("columns").value if key.value == name)

    def _node(self, *path: str) -> yaml.Node:
        """The node at a path of mappings, which exists."""
        node: yaml.Node | None = compose(self.text)
        for step in path:
            assert isinstance(node, yaml.MappingNode)
            node = next(value for key, value in node.value if key.value == step)
        assert node is not None
        return node

    def _mapping(self, *path: str) -> yaml.MappingNode:
        node = self._node(*path)
        assert isinstance(node, yaml.MappingNode)
        return node

    def _end_of_pair(self, key: yaml.Node, value: yaml.Node) -> tuple[int, int]:
        """Where a key and its value end; the node of an alias is where its anchor is."""
        if _start(value) >= _start(key):
            return self._end(value)
        line, column = key.end_mark.line, key.end_mark.column
        alias = re.compile(r"\s*:\s*\*[^\s,\[\]{}]+").match(self._lines[line], column)
        return line, alias.end() if alias else column

    def _end(self, node: yaml.Node) -> tuple[int, int]:
        """Line and column after the last character of a node; a block's own mark is where the next token starts."""
        if isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
            last = node.value[-1]
            return self._end(last[1] if isinstance(last, tuple) else last)
        if isinstance(node, yaml.ScalarNode) and node.style in ("|", ">"):
            line = node.end_mark.line - (node.end_mark.column == 0)
            while not self._lines[line].strip():
                line -= 1
            return line, len(self._lines[line].rstrip("\r\n"))
        return node.end_mark.line, node.end_mark.column

    @property
    def _lines(self) -> list[str]:
        return self.text.splitlines(keepends=True)

    def _replace(self, node: yaml.Node, text: str) -> "YamlText":
        """With another text for a value; its anchor stays, since an alias may refer to it."""
        line, column = _start(node)
        anchor = re.compile(r"&\S+\s+").match(self._lines[line], column)
        return self._splice((line, anchor.end() if anchor else column), self._end(node), text)

    def _insert(self, at: tuple[int, int], text: str) -> "YamlText":
        return self._splice(at, at, text)

    def _insert_line(self, after: int, line: str) -> "YamlText":
        lines = self._lines
        ending = "\r\n" if lines[0].endswith("\r\n") else "\n"
        if not lines[after].endswith("\n"):
            lines[after] += ending
        return self._with_lines([*lines[: after + 1], f"{line}{ending}", *lines[after + 1 :]])

    def _splice(self, start: tuple[int, int], end: tuple[int, int], text: str) -> "YamlText":
        lines = self._lines
        before, after = lines[start[0]][: start[1]], lines[end[0]][end[1] :]
        return self._with_lines([*lines[: start[0]], f"{before}{text}{after}", *lines[end[0] + 1 :]])

    def _with_lines(self, lines: Sequence[str]) -> "YamlText":
        return replace(self, text="".join(lines))


def _start(node: yaml.Node) -> tuple[int, int]:
    return node.start_mark.line, node.start_mark.column
