"""The columns of a table as paths in a document: ``address.city`` is field `city` of the object `address`.

A path that the document lacks, or that ends at a null, has no value. A path that leads through anything else than an
object, such as a list, has a value that no type can have: a note of what is in the way.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from pyspark.sql import Column
from pyspark.sql import functions as F

from cdc.debezium.documents.extended_json import bound, either, inner_fields, key_of, name_of, plain

WHOLE = "$"
"""The path of the whole document."""
_ENTRIES = "array<struct<name: string, text: string>>"
NO_OBJECT = "!no object: "
"""Start of the note in place of a value: the path leads through something else than an object."""


@dataclass
class Node:
    """A field that is on the path of a column."""

    path: str = ""
    is_column: bool = False
    children: dict[str, "Node"] = field(default_factory=dict)

    def columns(self) -> list[str]:
        """The columns below."""
        below = (child for child in self.children.values())
        return [name for child in below for name in ([child.path] if child.is_column else []) + child.columns()]


def tree(paths: Iterable[str]) -> Node:
    """The paths as a tree.

    >>> tree(["name", "address.city", "address.zip"]).children["address"].columns()
    ['address.city', 'address.zip']
    """
    root = Node()
    for path in paths:
        node = root
        for name in path.split("."):
            node = node.children.setdefault(name, Node(f"{node.path}.{name}" if node.path else name))
        node.is_column = True
    return root


def entries(document: Column, node: Node) -> Column:
    """The values of all columns below a node that the document has, as an array of name and text.

    >>> from cdc.debezium.documents.extended_json import fields, marked
    >>> document = fields(marked(F.lit('{"name": "Ada", "address": {"city": "Turin"}, "tags": [1]}')))
    >>> paths = tree(["name", "age", "address.city", "address.zip", "tags.first"])
    >>> for name, text in evaluate(entries(document, paths)):
    ...     print(name, text)
    name "Ada"
    address.city "Turin"
    tags.first !no object: tags

    Args:
        document: its fields, as `extended_json.fields` returns them.
        node: of the tree of paths.
    """
    parts = [part for name, child in node.children.items() for part in _of_field(document, name, child)]
    return F.concat(*parts) if parts else none()


def values(path_to: str, text: Column, node: Node) -> Column:
    """The values of all columns below a node, from the marked text of its value.

    >>> from cdc.debezium.documents.extended_json import marked
    >>> evaluate(values("a", marked(F.lit('{"b": 1}')), tree(["b"])))
    [Row(name='b', text='1')]
    """
    is_object = F.startswith(text, F.lit("{"))
    inside = bound(inner_fields(text), lambda inner: entries(inner, node))
    blocked = F.array(*(entry(name, F.lit(f"{NO_OBJECT}{path_to}")) for name in node.columns()))
    return either(is_object, inside, either(text.isNotNull(), blocked, none()))


def entry(name: str, text: Column) -> Column:
    """One value."""
    return F.struct(F.lit(name).alias("name"), text.cast("string").alias("text"))


def none() -> Column:
    """No value."""
    return F.array().cast(_ENTRIES)


def others(document: Column, known: Iterable[str], columns: Iterable[str]) -> Column:
    """The fields of a document that no column is, as an array of name and text.

    >>> from cdc.debezium.documents.extended_json import fields, marked
    >>> evaluate(others(fields(marked(F.lit('{"name": "Ada", "age": 36}'))), ["name"], ["name"]))
    [Row(name='age', text='36')]

    Args:
        document: its fields.
        known: the names of the fields that are, or lead to, columns.
        columns: all columns; a field may have the name of a path.
    """
    taken = F.array(*map(F.lit, dict.fromkeys(map(key_of, (*known, *columns))))).cast("array<string>")
    keys = F.array_except(F.map_keys(document), taken)
    return F.transform(
        keys, lambda key: F.struct(name_of(key).alias("name"), plain(F.element_at(document, key)).alias("text"))
    )


def as_map(parts: Iterable[Column]) -> Column:
    """Name -> text of all entries."""
    return F.map_from_entries(F.concat(*parts))


def _of_field(document: Column, name: str, node: Node) -> Iterable[Column]:
    key = key_of(name)
    text = F.element_at(document, key)
    if node.is_column:
        yield either(F.map_contains_key(document, key), F.array(entry(node.path, plain(text))), none())
    if node.children:
        yield values(node.path, text, node)
