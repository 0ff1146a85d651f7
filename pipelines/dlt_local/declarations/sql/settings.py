"""The values of an SQL file: its `SET` statements, and the `${name}` that stand for values."""

from collections.abc import Mapping

from dlt_local.declarations.sql.reader import Reader
from dlt_local.declarations.sql.tokens import statements
from dlt_local.errors import DeclarationError, SourceLocation, did_you_mean


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
    parts = text.split("${")
    done = parts[0]
    for part in parts[1:]:
        if "--" in done.rpartition("\n")[2]:
            done += "${" + part
            continue
        name, closed, rest = part.partition("}")
        if not closed or name.strip() not in values:
            near = did_you_mean(name.strip(), values)
            message = f"`${{{name}}}` has no value{near}"
            location = SourceLocation(file, done.count("\n") + 1)
            raise DeclarationError("NO_SUCH_VALUE", message, location, "set it in the pipeline's configuration")
        done += values[name.strip()] + rest
    return done
