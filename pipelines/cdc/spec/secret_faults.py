"""Secrets in a spec are refused, and taken out before anything else could show them."""

from collections.abc import Iterator
from typing import Any

from cdc.errors import Condition
from cdc.spec.document import ValuePath
from cdc.spec.reading import Reading
from cdc.spec.schema_faults import take_out
from cdc.spec.secrets import looks_secret, names_secret

_NO_SETTINGS = ("columns", "expectations", "comment")
"""Fields that name or describe data: a column may well be called `password`."""
_REFERENCE = "{{secrets/"


def refuse_secrets(reading: Reading) -> None:
    """Report settings that hold a secret in clear text, never showing it."""
    for path in list(_secrets(reading.data, ())):
        reading.fault(
            Condition.SECRET_IN_SPEC,
            path,
            f"`{path[-1]}` holds a secret in clear text (not shown here)",
            "take it out and change it where it is used; the pipeline's configuration may have it, as the "
            "reference `{{secrets/<scope>/<key>}}`.",
            of_key=True,
        )
        take_out(reading.data, path)


def _secrets(value: Any, path: ValuePath, *, named: bool = False) -> Iterator[ValuePath]:
    """Paths of the texts and numbers that are a secret by their field's name or by themselves."""
    if isinstance(value, dict):
        for name, each in value.items():
            if path or name not in _NO_SETTINGS:
                yield from _secrets(each, (*path, name), named=named or names_secret(name))
    elif isinstance(value, list):
        for index, each in enumerate(value):
            yield from _secrets(each, (*path, index), named=named)
    elif isinstance(value, str | int) and not isinstance(value, bool) and not str(value).startswith(_REFERENCE):
        if named or looks_secret(str(value)):
            yield path
