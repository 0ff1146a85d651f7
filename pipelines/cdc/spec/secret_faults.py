"""Secrets in a spec: reported, and removed before any other message could show them."""

from collections.abc import Iterator
from typing import Any

from cdc.errors import Condition
from cdc.spec.document import ValuePath
from cdc.spec.reading import Fault, Reading
from cdc.spec.schema_faults import remove
from cdc.spec.secrets import looks_secret, names_secret

_DATA_FIELDS = ("columns", "expectations", "comment")
"""Fields that name or describe data: a column may be called `password`."""
_REFERENCE = "{{secrets/"


def refuse_secrets(reading: Reading) -> None:
    """Report settings that contain a secret in plain text, without showing it."""
    for path in list(_secrets(reading.data, ())):
        reading.report(
            Fault(
                Condition.SECRET_IN_SPEC,
                path,
                f"`{path[-1]}` contains a secret in plain text (not shown here)",
                "remove it and rotate it; the pipeline's configuration can refer to it as `{{secrets/<scope>/<key>}}`.",
                of_key=True,
            )
        )
        remove(reading.data, path)


def _secrets(value: Any, path: ValuePath, *, named: bool = False) -> Iterator[ValuePath]:
    """Paths of the strings and numbers that are secrets, by the name of their field or by their content."""
    if isinstance(value, dict):
        for name, each in value.items():
            if path or name not in _DATA_FIELDS:
                yield from _secrets(each, (*path, name), named=named or names_secret(name))
    elif isinstance(value, list):
        for index, each in enumerate(value):
            yield from _secrets(each, (*path, index), named=named)
    elif isinstance(value, str | int) and not isinstance(value, bool) and not str(value).startswith(_REFERENCE):
        if named or looks_secret(str(value)):
            yield path
