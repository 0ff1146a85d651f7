"""Dataset names, and the column names that the engine reserves."""

import re
from dataclasses import dataclass

from dlt_local.errors import SetupError

OWN_PREFIX = "__dlt_local_"
"""Prefix of every column that the engine adds on the way; no column of a user's dataset may have it."""

VIEW_OF_CALL = f"{OWN_PREFIX}call_"
"""Prefix of the temporary view that stands for a call of `read_files` while its query is analysed."""

RESERVED_PREFIXES = (OWN_PREFIX, "__spark_autocdc_")
"""Prefixes that no column of an AUTO CDC source may have: the engine's, and that of Spark's AUTO CDC."""

EXTERNAL_SCHEMA = f"{OWN_PREFIX}external"
"""The schema of the tables outside of a pipeline that it reads."""

START_AT = "__START_AT"
END_AT = "__END_AT"

_PART = re.compile(r"`((?:[^`]|``)+)`|([^.`]+)")
_NAME = re.compile(rf"(?:{_PART.pattern})(?:\.(?:{_PART.pattern}))*")


class InvalidName(SetupError):
    """A text that is no name of a dataset."""

    def __init__(self, name: str, what: str) -> None:
        self.what = f"{name!r} is no name of a dataset: {what}"
        super().__init__("INVALID_DATASET_NAME", "", self.what, NAME_FIX)


NAME_FIX = "write it as `table` or `schema.table`, and quote a part that has a dot in it: schema.`my.table`"


@dataclass(frozen=True, order=True)
class TableName:
    """The full name of a published or private dataset within a pipeline."""

    schema: str
    table: str

    def __str__(self) -> str:
        return f"{self.schema}.{self.table}"

    @property
    def sql(self) -> str:
        """The name for SQL text, quoted."""
        return f"{quote(self.schema)}.{quote(self.table)}"


def quote(identifier: str) -> str:
    """An identifier for SQL text, in backticks.

    >>> quote("my`column")
    '`my``column`'
    """
    return "`" + identifier.replace("`", "``") + "`"


def written(name: tuple[str, ...]) -> str:
    """The parts of a name as a source file writes it: in backticks only where it must be.

    >>> written(("s", "my.table"))
    's.`my.table`'
    """
    return ".".join(quote(part) if "." in part or "`" in part else part for part in name)


def literal(text: str) -> str:
    """A string literal for SQL text.

    >>> print(literal("it's"))
    'it\\'s'
    """
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def parts(name: str) -> tuple[str, ...]:
    """Split a possibly quoted multi-part name.

    >>> parts("silver.`my.table`")
    ('silver', 'my.table')
    """
    return tuple((quoted or plain).replace("``", "`") for quoted, plain in _PART.findall(name))


def check_part(part: str, name: str) -> None:
    """Refuse a part of a name that cannot be a folder, or would be that of another dataset.

    Raises:
        InvalidName: it is empty, has nothing but dots, or has a control character.
    """
    if not part.strip(" ."):
        raise InvalidName(name, "a part of it is empty or has nothing but dots")
    if any(ord(character) < 32 or 127 <= ord(character) < 160 for character in part):
        raise InvalidName(name, "it has a control character")


def check_name(name: str) -> None:
    """Refuse a text that is no name of one or several parts.

    Raises:
        InvalidName: it is none, or one of its parts is none.
    """
    for part in parts(name) or ("",):
        check_part(part, name)
    if not _NAME.fullmatch(name):
        raise InvalidName(name, "its dots and backticks do not separate parts")


def table_name(name: str, schema: str) -> TableName:
    """The full name of a dataset from its name in a source file; ``schema`` is the default schema.

    A catalog is dropped, because locally the storage folder is the only one. ``LIVE.x`` is the legacy name of this
    pipeline's dataset ``x``.

    >>> str(table_name("orders", "default")), str(table_name("main.silver.orders", "default"))
    ('default.orders', 'silver.orders')

    Raises:
        InvalidName: it is none.
    """
    check_name(name)
    split = parts(name)
    if len(split) > 1 and split[-2].lower() != "live":
        return TableName(split[-2], split[-1])
    return TableName(schema, split[-1])
