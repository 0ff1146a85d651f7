"""Changes of a column's type after which the stored rows are those that a build from scratch would give.

Earlier types are given as patterns (as of file names) of their text in the spec.
"""

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from glob import escape

from cdc.spec.model import ColumnSpec, ConnectorSpec, SourceType, TableSpec

_OF_ANY_LENGTH = {"char": "*char", "binary": "*binary"}
"""Ending of a type's name -> pattern of the types whose values of any length decode to the same."""
_INTEGERS = ("tinyint", "smallint", "int", "bigint")
_EVERY_COLUMN = re.compile(r"[(,.]\s*\*")
"""A star in SQL that stands for columns, unlike that of a product: `hash(*)`, `orders.*`."""


def earlier_types(column: ColumnSpec, table: TableSpec) -> list[str]:
    """Patterns of the column's earlier types that give the same rows.

    Texts and bytes of another length, and whole numbers and decimals that were narrower.
    """
    kind = column.type
    for ending, pattern in _OF_ANY_LENGTH.items():
        # Not of `max`, for which the log, and so a record, may omit the value.
        if kind.name.endswith(ending) and kind.length is not None:
            return [f"{pattern}([0-9]*)"]
    return list(_narrower(kind, table.connector)) if _is_value_alone(column, table) else []


def is_among(text: str, patterns: list[str]) -> bool:
    """True if one of the patterns matches the text word by word, so that no wildcard matches a space.

    >>> is_among("char(5)", ["char(*)"]), is_among("char(5) masked by left(name, 1)", ["char(*)"])
    (True, False)
    """
    words = text.split(" ")
    each = (pattern.split(" ") for pattern in patterns)
    return any(len(words) == len(expected) and all(map(fnmatchcase, words, expected)) for expected in each)


def with_policies(types: list[str], policies: str) -> list[str]:
    """Patterns of types as patterns of the column's part in a row definition, which goes on with its policies."""
    return [f"{type_}{escape(policies)}" for type_ in types]


def _is_value_alone(column: ColumnSpec, table: TableSpec) -> bool:
    """True if nothing but the column itself depends on its type, which SQL can see by `typeof`, `hash` and the like.

    The keys' types are those of AUTO CDC's state; the types of a shared target are those of several tables.
    """
    decides = [table.filter, *table.computed.values(), *(each.mask for each in table.columns)]
    decides += [*table.expected("drop").values(), *table.expected("quarantine").values()]
    is_named = any(sql is not None and _names(sql, column.target) for sql in decides)
    return column.target not in table.key and table.into is None and column.mask is None and not is_named


def _names(sql: str, column: str) -> bool:
    return bool(re.search(rf"(?i)(?<!\w){re.escape(column)}(?!\w)", sql) or _EVERY_COLUMN.search(sql))


def _narrower(kind: SourceType, connector: ConnectorSpec) -> Iterator[str]:
    """Types whose values, as the connector writes them, decode to the same number.

    Not `real` for `float`: the text 0.1 is another number as each of the two.

    >>> list(_narrower(SourceType("int"), ConnectorSpec("shop", "prefix")))
    ['tinyint', 'smallint']
    >>> list(_narrower(SourceType("decimal", precision=12, scale=2), ConnectorSpec("shop", "prefix")))
    ['*([1-9],2)', '*(1[0-2],2)']
    """
    if kind.name in _INTEGERS:
        yield from _INTEGERS[: _INTEGERS.index(kind.name)]
    elif kind.name == "money":
        yield "smallmoney"
    elif kind.precision is not None and kind.scale is not None:
        # A number in base64 has no point: by another scale it is another number. One in a double's digits is rounded.
        is_text = connector.decimal_handling_mode == "string" or connector.decimal_format == "numeric"
        has_point = is_text and connector.decimal_handling_mode != "double"
        for scale in range(0 if has_point else kind.scale, kind.scale + 1):
            yield from (f"*({digits},{scale})" for digits in _up_to(kind.precision - kind.scale + scale))


def _up_to(greatest: int) -> Iterator[str]:
    """Patterns of the numbers from 1."""
    if greatest > 0:
        yield f"[1-{min(greatest, 9)}]"
    for tens in range(1, greatest // 10 + 1):
        yield f"{tens}[0-{9 if tens < greatest // 10 else greatest % 10}]"
