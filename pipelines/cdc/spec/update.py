"""A conf folder's files with the differences to the source edited in."""

from collections.abc import Iterable

from cdc.spec.difference_kinds import Change
from cdc.spec.differences import Difference, added_line
from cdc.spec.scaffold import column_type
from cdc.spec.yaml_edit import YamlText


def updated(text: str, found: Iterable[Difference]) -> str:
    """The text of a table's file without the differences that need no decision of a person."""
    edited = YamlText(text)
    for each in found:
        if each.change is Change.GONE and each.column:
            edited = edited.with_missing_as_null(each.column)
        elif each.column and each.described:
            type_text, nullable = each.described
            if each.change is Change.ADDED:
                edited = edited.with_column(added_line(each.column, type_text, nullable, each.kind), each.column)
            else:
                edited = edited.with_type(each.column, column_type(type_text, nullable, each.kind))
    return edited.text
