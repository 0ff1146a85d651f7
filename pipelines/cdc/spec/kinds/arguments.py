"""Column types as in DDL: name, arguments and nullability, and the ranges of arguments, for all kinds."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from cdc.errors import CdcError, Condition, near_match
from cdc.spec.model import SourceType

_NULLABILITY = re.compile(r"(?P<type>.*?)(?P<nullability>\s+(not\s+)?null)?\s*", re.IGNORECASE | re.DOTALL)
_TYPE = re.compile(
    r"\s*(?P<name>[a-z_][a-z0-9_ ]*?)\s*(\(\s*(?P<arguments>[^()]*?)\s*\))?(?P<rest>\s+[a-z][a-z0-9_ ]*)?",
    re.IGNORECASE,
)
ReadType = Callable[[str, list[str]], SourceType]
"""A type from its name and its arguments, both in lower case."""


class TypeFault(CdcError, ValueError):
    """A column type that cannot be used: condition, detail and fix."""

    def __init__(self, condition: Condition, detail: str, fix: str, near: str | None = None) -> None:
        super().__init__(detail)
        self.condition = condition
        self.detail = detail
        self.fix = fix
        self.near_match = near


@dataclass(frozen=True)
class Types:
    """The column types of one kind, and how a text names one of them."""

    title: str
    """The database, for messages: ``SQL Server``."""
    examples: str
    """Types for messages: ``int, nvarchar(80) or decimal(18,2)``."""
    readers: Mapping[str, ReadType]
    """Type name -> what reads its arguments."""
    synonyms: Mapping[str, str]
    omitted: tuple[str, ...] = ()
    """The types whose columns the connector leaves out of its records."""
    own: str = "for a user-defined type, its base type"
    """What to write for a type that is not the database's own."""

    def parse(self, text: str) -> tuple[SourceType, bool | None]:
        """A type as in DDL, and whether it is nullable (None if the text does not state it).

        Words may follow the arguments, as in ``timestamp(6) without time zone``: they belong to the name.

        Raises:
            TypeFault: the type is unknown or not supported by the connector, or its arguments are invalid.
        """
        written, nullable = without_nullability(text)
        found = _TYPE.fullmatch(written)
        if not found:
            raise self.unknown(text)
        name = " ".join(f"{found['name']} {found['rest'] or ''}".lower().split())
        name = self.synonyms.get(name, name)
        if name in self.omitted:
            detail = f"Debezium omits {name} columns from its records, so this column would always be null"
            fix = "remove the column, or set `{exclude: true}` as its value."
            raise TypeFault(Condition.UNSUPPORTED_TYPE, detail, fix)
        if name not in self.readers:
            raise self.unknown(text, near_match(name, [*self.readers, *self.synonyms]))
        arguments = re.split(r"\s*,\s*", found["arguments"]) if found["arguments"] is not None else []
        return self.readers[name](name, [each.lower() for each in arguments]), nullable

    def unknown(self, text: str, near: str | None = None) -> TypeFault:
        """The fault of a text that names no type."""
        if "(" in text and ")" not in text:
            detail = f"`{text}` has an unclosed bracket: inside braces YAML ends an unquoted value at a comma"
            return TypeFault(Condition.BAD_TYPE, detail, 'quote the type: "decimal(18,2)".')
        fix = f"use a type as in {self.title}'s DDL, such as {self.examples}; {self.own}."
        return TypeFault(Condition.BAD_TYPE, f"`{text}` is not a type of {self.title}", fix, near)


def without_nullability(text: str) -> tuple[str, bool | None]:
    """The type in a text, and whether it is nullable (None if the text does not state it).

    >>> without_nullability("decimal(18, 2) NOT NULL"), without_nullability("int")
    (('decimal(18, 2)', False), ('int', None))
    """
    found = _NULLABILITY.fullmatch(text)
    nullability = found["nullability"] if found else None
    return (found["type"] if found else text), None if nullability is None else "not" not in nullability.lower()


@dataclass(frozen=True)
class Range:
    """The valid range of one argument of a type."""

    what: str
    lowest: int
    highest: int
    default: int

    def read(self, type_name: str, text: str | None) -> int:
        """The argument; the default if there is none.

        Raises:
            TypeFault: it is not a number of the range.
        """
        if text is None:
            return self.default
        # Before int: Python takes digits of other scripts too, and refuses a number of thousands of digits.
        is_number = text.isascii() and text.isdecimal() and len(text) < 20
        if not is_number or not self.lowest <= int(text) <= self.highest:
            detail = f"the {self.what} of {type_name} is `{text}`; the range is {self.lowest} to {self.highest}"
            raise TypeFault(Condition.BAD_TYPE, detail, f"use the column's {self.what} as declared in the source.")
        return int(text)


def at_most(count: int, name: str, arguments: list[str]) -> list[str | None]:
    """The arguments, padded with None to ``count``.

    Raises:
        TypeFault: there are more of them.
    """
    if len(arguments) > count:
        has = f"{len(arguments)} argument{'s' if len(arguments) > 1 else ''}"
        takes = f"at most {count}" if count else "none"
        detail = f"`{name}({','.join(arguments)})` has {has}; {name} takes {takes}"
        example = {0: name, 1: f"{name}(n)", 2: f"{name}(p,s)"}[count]
        raise TypeFault(Condition.BAD_TYPE, detail, f"write `{example}`.")
    return [*arguments, *[None] * (count - len(arguments))]


def plain(name: str, arguments: list[str]) -> SourceType:
    """A type without arguments."""
    at_most(0, name, arguments)
    return SourceType(name)


def decimal(most: int, default: int) -> ReadType:
    """A decimal of at most so many digits, by default so many, with decimal places from 0."""

    def read(name: str, arguments: list[str]) -> SourceType:
        digits, decimals = at_most(2, name, arguments)
        precision = Range("precision", 1, most, default).read(name, digits)
        scale = Range("scale", 0, precision, 0).read(f"{name}({precision})", decimals)
        return SourceType(name, precision=precision, scale=scale)

    return read


def fraction(most: int, default: int) -> ReadType:
    """A type with fractional digits of the second."""

    def read(name: str, arguments: list[str]) -> SourceType:
        (digits,) = at_most(1, name, arguments)
        return SourceType(name, precision=Range("fractional-second precision", 0, most, default).read(name, digits))

    return read


def sized(longest: int, *, default: int = 1, may_be_max: bool = False) -> ReadType:
    """A type with a length, ``max`` if that is allowed."""

    def read(name: str, arguments: list[str]) -> SourceType:
        (length,) = at_most(1, name, arguments)
        if may_be_max and length == "max":
            return SourceType(name, is_max=True)
        return SourceType(name, length=Range("length", 1, longest, default).read(name, length))

    return read


def each_of(names: Iterable[str], reader: ReadType) -> dict[str, ReadType]:
    """The same reader for several types."""
    return dict.fromkeys(names, reader)
