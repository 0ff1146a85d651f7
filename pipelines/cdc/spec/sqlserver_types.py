"""SQL Server's column types: parsing, defaults and ranges."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from cdc.errors import CdcError, Condition, near_match
from cdc.spec.model import SourceType

_TYPE = re.compile(
    r"\s*(?P<name>[a-z_][a-z0-9_ ]*?)\s*(\(\s*(?P<arguments>[^()]*?)\s*\))?"
    r"(\s+identity(\s*\([^()]*\))?)?(?P<nullability>\s+(not\s+)?null)?\s*",
    re.IGNORECASE,
)


class TypeFault(CdcError, ValueError):
    """A column type that cannot be used: condition, detail and fix."""

    def __init__(self, condition: Condition, detail: str, fix: str, near: str | None = None) -> None:
        super().__init__(detail)
        self.condition = condition
        self.detail = detail
        self.fix = fix
        self.near_match = near


def parse_type(text: str) -> tuple[SourceType, bool | None]:
    """A column type as in DDL, and whether it is nullable (None if the text does not state it).

    >>> parse_type("decimal(18, 2) not null")
    (SourceType(name='decimal', length=None, precision=18, scale=2, is_max=False), False)
    >>> [str(parse_type(text)[0]) for text in ("TIMESTAMP", "nvarchar(max)", "datetime2", "int identity")]
    ['rowversion', 'nvarchar(max)', 'datetime2(7)', 'int']

    Raises:
        TypeFault: the type is unknown or not supported by the connector, or its arguments are invalid.
    """
    found = _TYPE.fullmatch(text)
    if not found:
        raise _unknown(text)
    name = " ".join(found["name"].lower().split())
    name = _SYNONYMS.get(name, name)
    if name in OMITTED:
        detail = f"Debezium omits {name} columns from its records, so this column would always be null"
        fix = "remove the column, or set `{exclude: true}` as its value."
        raise TypeFault(Condition.UNSUPPORTED_TYPE, detail, fix)
    if name not in _FAMILIES:
        raise _unknown(text, near_match(name, [*_FAMILIES, *_SYNONYMS]))
    arguments = re.split(r"\s*,\s*", found["arguments"]) if found["arguments"] is not None else []
    nullability = found["nullability"]
    return _FAMILIES[name](name, [each.lower() for each in arguments]), (
        None if nullability is None else "not" not in nullability.lower()
    )


def known_types() -> tuple[str, ...]:
    """Every type name that a spec may use, synonyms aside."""
    return tuple(_FAMILIES)


def _unknown(text: str, near: str | None = None) -> TypeFault:
    if "(" in text and ")" not in text:
        detail = f"`{text}` has an unclosed bracket: inside braces YAML ends an unquoted value at a comma"
        return TypeFault(Condition.BAD_TYPE, detail, 'quote the type: "decimal(18,2)".')
    fix = (
        "use a type as in SQL Server's DDL, such as int, nvarchar(80) or decimal(18,2); "
        "for a user-defined type, its base type."
    )
    return TypeFault(Condition.BAD_TYPE, f"`{text}` is not a type of SQL Server", fix, near)


@dataclass(frozen=True)
class _Range:
    """The valid range of one argument of a type."""

    what: str
    lowest: int
    highest: int
    default: int

    def read(self, type_name: str, text: str | None) -> int:
        if text is None:
            return self.default
        if not text.isdecimal() or not self.lowest <= int(text) <= self.highest:
            detail = f"the {self.what} of {type_name} is `{text}`; the range is {self.lowest} to {self.highest}"
            raise TypeFault(Condition.BAD_TYPE, detail, f"use the column's {self.what} as declared in the source.")
        return int(text)


def _at_most(count: int, name: str, arguments: list[str]) -> list[str | None]:
    """The arguments, padded with None to ``count``."""
    if len(arguments) > count:
        has = f"{len(arguments)} argument{'s' if len(arguments) > 1 else ''}"
        takes = f"at most {count}" if count else "none"
        detail = f"`{name}({','.join(arguments)})` has {has}; {name} takes {takes}"
        example = {0: name, 1: f"{name}(n)", 2: f"{name}(p,s)"}[count]
        raise TypeFault(Condition.BAD_TYPE, detail, f"write `{example}`.")
    return [*arguments, *[None] * (count - len(arguments))]


def _plain(name: str, arguments: list[str]) -> SourceType:
    _at_most(0, name, arguments)
    return SourceType(name)


def _decimal(name: str, arguments: list[str]) -> SourceType:
    digits, decimals = _at_most(2, name, arguments)
    precision = _Range("precision", 1, 38, 18).read(name, digits)
    scale = _Range("scale", 0, precision, 0).read(f"{name}({precision})", decimals)
    return SourceType(name, precision=precision, scale=scale)


def _fraction(name: str, arguments: list[str]) -> SourceType:
    (digits,) = _at_most(1, name, arguments)
    return SourceType(name, precision=_Range("fractional-second precision", 0, 7, 7).read(name, digits))


def _float(name: str, arguments: list[str]) -> SourceType:
    """As the server stores it: up to 24 bits is a real, more is float(53)."""
    (bits,) = _at_most(1, name, arguments)
    if _Range("precision", 1, 53, 53).read(name, bits) <= 24:
        return SourceType("real")
    return SourceType("float", precision=53)


def _sized(longest: int, *, may_be_max: bool) -> Callable[[str, list[str]], SourceType]:
    def read(name: str, arguments: list[str]) -> SourceType:
        (length,) = _at_most(1, name, arguments)
        if may_be_max and length == "max":
            return SourceType(name, is_max=True)
        return SourceType(name, length=_Range("length", 1, longest, 1).read(name, length))

    return read


_FAMILIES: Mapping[str, Callable[[str, list[str]], SourceType]] = {
    **dict.fromkeys(("bit", "tinyint", "smallint", "int", "bigint", "real"), _plain),
    "float": _float,
    **dict.fromkeys(("decimal", "numeric"), _decimal),
    **dict.fromkeys(("money", "smallmoney"), _plain),
    "char": _sized(8000, may_be_max=False),
    "varchar": _sized(8000, may_be_max=True),
    "nchar": _sized(4000, may_be_max=False),
    "nvarchar": _sized(4000, may_be_max=True),
    **dict.fromkeys(("text", "ntext"), _plain),
    "binary": _sized(8000, may_be_max=False),
    "varbinary": _sized(8000, may_be_max=True),
    "image": _plain,
    **dict.fromkeys(("date", "datetime", "smalldatetime"), _plain),
    **dict.fromkeys(("time", "datetime2", "datetimeoffset"), _fraction),
    **dict.fromkeys(("uniqueidentifier", "xml", "rowversion", "hierarchyid"), _plain),
}

OMITTED = ("sql_variant", "geography", "geometry")
"""Types whose columns Debezium's SQL Server connector omits from its records."""

_SYNONYMS: Mapping[str, str] = {
    "timestamp": "rowversion",
    "integer": "int",
    "dec": "decimal",
    "double precision": "float",
    "character": "char",
    "char varying": "varchar",
    "character varying": "varchar",
    "binary varying": "varbinary",
    "national char": "nchar",
    "national character": "nchar",
    "national char varying": "nvarchar",
    "national character varying": "nvarchar",
    "national text": "ntext",
}
