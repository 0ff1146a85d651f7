"""Columns filled into a spec that does not describe them yet, as an import leaves it."""

from collections.abc import Mapping
from typing import Any

from cdc.spec.evidence import SourceTable
from cdc.spec.scaffold import column_type, column_yaml
from cdc.spec.yaml_edit import YamlText


def filled(text: str, data: Mapping[str, Any], table: SourceTable) -> str:
    """A spec's text with the columns of the source, if it has the type of none so far.

    They are not columns that were added to the source: earlier records have them.

    Args:
        text: the file's.
        data: its values.
        table: as the records describe it.
    """
    columns = data.get("columns")
    if not isinstance(columns, dict) or any(map(_has_type, columns.values())):
        return text
    edited = YamlText(text)
    for name, type_text, nullable in table.columns:
        stated = columns.get(name)
        if stated is None:
            edited = edited.with_column(
                column_yaml(name, type_text, nullable, table.kind, table.others.get(name)), name
            )
        elif not stated.get("exclude") and type_text not in table.kind.omitted:
            edited = edited.with_type(name, column_type(type_text, nullable, table.kind))
    return edited.text


def _has_type(column: object) -> bool:
    return not isinstance(column, dict) or "type" in column
