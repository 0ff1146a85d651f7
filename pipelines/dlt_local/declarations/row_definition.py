"""The row definition of a table: what its stored rows depend on, as its author states it in a table property."""

import json
from collections.abc import Mapping

from dlt_local.errors import DeclarationError, SourceLocation
from dlt_local.names import TableName

DEFINITION = "rows.definition"
"""Table property: a JSON object, part -> text or list of texts."""
SAME = "rows.same"
"""Table property: a JSON object, part -> pattern, or list of patterns, of its earlier texts that give the same rows."""

Parts = Mapping[str, str | list[str]]


def read_definition(text: str) -> Parts:
    """The parts of a row definition.

    >>> read_definition('{"total": "int", "NOT NULL": ["total"]}')
    {'total': 'int', 'NOT NULL': ['total']}

    Raises:
        ValueError: what is wrong with the text.
    """
    try:
        found = json.loads(text)
    except json.JSONDecodeError as error:
        message = f"it is not JSON: {error.msg} at character {error.pos + 1}"
        raise ValueError(message) from None
    if not isinstance(found, dict):
        message = "it is not a JSON object"
        raise ValueError(message)
    for part, value in found.items():
        entries = value if isinstance(value, list) else [value]
        if not all(isinstance(entry, str) for entry in entries):
            message = f"part `{part}` is neither a text nor a list of texts"
            raise ValueError(message)
    return found


def check_definition(name: TableName, properties: Mapping[str, str], location: SourceLocation) -> None:
    """Refuse a row definition that could not be compared with a later one.

    Raises:
        DeclarationError: it cannot be read.
    """
    for each in (DEFINITION, SAME):
        try:
            read_definition(str(properties.get(each, "{}")))
        except ValueError as error:
            message = f"the table property `{each}` of {name} cannot be read: {error}"
            fix = """write a JSON object of texts and lists of texts, such as {"total": "decimal(9,2)"}"""
            raise DeclarationError("ROW_DEFINITION_NOT_VALID", message, location, fix) from None
