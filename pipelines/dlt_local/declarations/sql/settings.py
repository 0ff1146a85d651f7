"""The values of an SQL file: its `SET` statements, and the `${name}` that stand for values."""

import re
from collections.abc import Mapping

from dlt_local.declarations.sql.reader import Reader
from dlt_local.declarations.sql.tokens import statements
from dlt_local.errors import DeclarationError, SourceLocation, did_you_mean

_REFERENCE = re.compile(r"\$\{([^}]*)(\}?)")
# Two dashes inside of a text or a name are no comment.
_COMMENT_OR_TEXT = re.compile(
    r"""(?P<comment>--[^\n]*|/\*.*?\*/)|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`[^`]*`""", re.DOTALL
)


def settings(source: str, file: str) -> dict[str, str]:
    """The values that the file's SET statements give; they apply to the whole file.

    Raises:
        DeclarationError: a SET statement with several words has no `=`.
    """
    found = {}
    for statement in statements(source):
        reader = Reader(statement, file)
        if reader.accept("SET"):
            name, equals, value = statement.text(1, len(statement.tokens)).partition("=")
            if not equals and len(name.split()) > 1:
                raise reader.fault("SET must have the form `SET name = value`")
            if not equals:
                # `SET name` and `SET` show values in a notebook.
                continue
            found[name.strip()] = value.strip().strip("'\"")
    return found


def substituted(text: str, values: Mapping[str, str], file: str) -> str:
    """The text with every `${name}` replaced by its value, except in comments.

    Raises:
        DeclarationError: a name has no value.
    """
    comments = [found.span() for found in _COMMENT_OR_TEXT.finditer(text) if found["comment"]]

    def value(found: "re.Match[str]") -> str:
        if any(first <= found.start() < end for first, end in comments):
            return found[0]
        name = found[1].strip()
        if not found[2] or name not in values:
            message = f"`${{{found[1]}}}` has no value{did_you_mean(name, values)}"
            location = SourceLocation(file, text.count("\n", 0, found.start()) + 1)
            raise DeclarationError("NO_SUCH_VALUE", message, location, "set it in the pipeline's configuration")
        return values[name]

    return _REFERENCE.sub(value, text)
