"""Schema hints: types that the user states for some columns of an inferred schema, nested ones by their paths.

`products ARRAY<INT>, user.dob DATE, locations.element STRING, prices.value INT`, as in
https://docs.databricks.com/ingestion/cloud-object-storage/auto-loader/schema.html
"""

import re
from collections.abc import Iterable

from pyspark.errors import PySparkException
from pyspark.sql.types import ArrayType, DataType, MapType, StructField, StructType

_HINT = re.compile(r"\s*((?:`[^`]+`|[^\s`.:]+)(?:\.(?:`[^`]+`|[^\s`.:]+))*)\s*(?::|\s)\s*(.+)", re.DOTALL)
_PART = re.compile(r"`([^`]+)`|([^.`]+)")
Hint = tuple[tuple[str, ...], DataType]


class NotAHint(ValueError):
    """The text is not a list of columns and types."""


def parse(text: str) -> list[Hint]:
    """The path and type of each hint.

    Raises:
        NotAHint: names the first part that is none.
    """
    hints = []
    for item in _items(text):
        match = _HINT.fullmatch(item)
        if match is None:
            message = f"`{item.strip()}` is not a column and its type"
            raise NotAHint(message)
        path = tuple(quoted or plain for quoted, plain in _PART.findall(match[1]))
        try:
            fields: StructType = StructType.fromDDL(f"`c` {match[2]}")  # type: ignore[assignment]
        except PySparkException as error:
            message = f"`{match[2].strip()}` is not a type"
            raise NotAHint(message) from error
        hints.append((path, fields.fields[0].dataType))
    return hints


def apply(schema: StructType, hints: Iterable[Hint]) -> StructType:
    """The schema with the types of the hints; a column that it does not have is added at its end."""
    for path, type_ in hints:
        hinted = _hinted(schema, path, type_)
        assert isinstance(hinted, StructType)
        schema = hinted
    return schema


def _hinted(type_: DataType, path: tuple[str, ...], hint: DataType) -> DataType:
    if not path:
        return hint
    first, rest = path[0], path[1:]
    if isinstance(type_, ArrayType) and first.lower() == "element":
        return ArrayType(_hinted(type_.elementType, rest, hint))
    if isinstance(type_, MapType) and first.lower() in ("key", "value"):
        key = _hinted(type_.keyType, rest, hint) if first.lower() == "key" else type_.keyType
        value = _hinted(type_.valueType, rest, hint) if first.lower() == "value" else type_.valueType
        return MapType(key, value)
    # Whatever else was inferred, such as text, a hint of a field says that it is a struct.
    fields = list(type_.fields) if isinstance(type_, StructType) else []
    for index, field in enumerate(fields):
        if field.name.lower() == first.lower():
            fields[index] = StructField(field.name, _hinted(field.dataType, rest, hint))
            return StructType(fields)
    return StructType([*fields, StructField(first, _hinted(StructType(), rest, hint))])


def _items(text: str) -> list[str]:
    """The text at the commas outside of brackets and backticks.

    >>> _items("a DECIMAL(10,2), b STRUCT<c: INT, d: INT>")
    ['a DECIMAL(10,2)', ' b STRUCT<c: INT, d: INT>']
    """
    items, depth, quoted = [""], 0, False
    for letter in text:
        quoted ^= letter == "`"
        depth += (letter in "(<") - (letter in ")>") if not quoted else 0
        if letter == "," and not depth and not quoted:
            items.append("")
        else:
            items[-1] += letter
    return [item for item in items if item.strip()]
