"""The columns of a table: from `name: type` or `name: {type: ..., rename: ...}` to ColumnSpecs."""

import re
from collections import ChainMap
from collections.abc import Collection, Iterator, Mapping
from itertools import pairwise
from typing import Any

from cdc.errors import Condition
from cdc.spec.document import ValuePath
from cdc.spec.model import ColumnSpec, SourceType
from cdc.spec.policies import check_fits_type, check_zone, resolved_policies
from cdc.spec.reading import Reading
from cdc.spec.schema_faults import take_out
from cdc.spec.sqlserver_types import TypeFault, parse_type

_CUT_OFF = re.compile(r"\d+\s*\)(\s+(not\s+)?null)?", re.IGNORECASE)
_TEXTS = ("char", "varchar", "text", "nchar", "nvarchar", "ntext", "uniqueidentifier", "xml")
_MASKS = {"sha256": "sha2(`{}`, 256)", "redacted": "CASE WHEN `{}` IS NOT NULL THEN '***' END"}
_UNREADABLE = SourceType("unreadable")
"""Stands for a type that is reported already, so that the column still counts as there."""


def read_columns(reading: Reading, layers: ChainMap[str, Any], key: Collection[str]) -> dict[str, ColumnSpec]:
    """The columns not excluded, by source name, in the file's order; key columns are not nullable."""
    return {
        name: _column(reading, name, said, layers, in_key=name in key)
        for name, said in _said_of_columns(reading.data)
        if not said.get("exclude")
    }


def excluded_columns(reading: Reading) -> tuple[str, ...]:
    """Source names of the columns that silver shall not have."""
    return tuple(name for name, said in _said_of_columns(reading.data) if said.get("exclude"))


def physical_table_column(reading: Reading) -> ColumnSpec | None:
    """The column in which a routed topic's table tells which physical table a row is from, if it has one."""
    said = reading.data.get("physical_table")
    if said is None:
        return None
    target, field = (said, None) if isinstance(said, str) else (said.get("column", "?"), said.get("field"))
    name = field or "__dbz__physicalTableIdentifier"
    return ColumnSpec(
        name, SourceType("nvarchar", is_max=True), target, nullable=False, key_only=True, on_missing="reject"
    )


def mend_unquoted_commas(reading: Reading) -> None:
    """Report types that YAML cut in two at a comma (`{total: decimal(18,2)}`), and put them together."""
    columns = reading.data.get("columns")
    if not isinstance(columns, dict):
        return
    _mend(reading, columns, ("columns",))
    for name, said in columns.items():
        if isinstance(said, dict):
            _mend(reading, said, ("columns", name))


def _mend(reading: Reading, values: dict[str, Any], path: ValuePath) -> None:
    names = list(values)
    for name, rest in pairwise(names):
        first = values.get(name)
        if isinstance(first, str) and "(" in first and values[rest] is None and _CUT_OFF.fullmatch(rest):
            whole = f"{first},{rest}"
            reading.fault(
                Condition.UNQUOTED_COMMA,
                (*path, name),
                f"YAML reads `{name}: {whole}` inside braces as `{name}: {first}` and a further key `{rest}`",
                f'put the type in quotes: `{name}: "{whole}"`.',
                value=whole,
            )
            values[name] = whole
            take_out(values, (rest,))


def _said_of_columns(data: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Each column with what the file says of it, the short form spelt out."""
    for name, said in data.get("columns", {}).items():
        yield name, ({"type": said} if isinstance(said, str) else said)


def _column(
    reading: Reading, name: str, said: Mapping[str, Any], layers: ChainMap[str, Any], *, in_key: bool
) -> ColumnSpec:
    path = ("columns", name)
    column_type, nullable = _type(reading, said, path)
    nullable = nullable and not in_key
    target = said.get("rename", name)
    check_zone(reading, said, path)
    if column_type is not _UNREADABLE:
        check_fits_type(reading, said, column_type, path)
    return ColumnSpec(
        name,
        column_type,
        target,
        nullable=nullable,
        comment=said.get("comment"),
        mask=_mask(reading, said, path, column_type, target),
        offset_target=_offset_target(said, target),
        **resolved_policies(layers.new_child(dict(said)), column_type, nullable=nullable),
    )


def _type(reading: Reading, said: Mapping[str, Any], path: ValuePath) -> tuple[SourceType, bool]:
    """The column's type, and whether it may be null."""
    if "type" not in said:
        return _UNREADABLE, True
    try:
        column_type, nullable = parse_type(said["type"])
    except TypeFault as fault:
        reading.fault(
            fault.condition,
            (*path, "type"),
            f"column `{path[-1]}`: {fault.detail}",
            fault.fix,
            value=said["type"],
            near=fault.near_match,
        )
        return _UNREADABLE, said.get("nullable", True)
    if nullable is not None and nullable != said.get("nullable", nullable):
        detail = f"column `{path[-1]}` is `{said['type']}`, and `nullable` says the opposite"
        reading.fault(Condition.MISPLACED_FIELD, (*path, "nullable"), detail, "keep one of the two.")
    return column_type, said.get("nullable", nullable is not False)


def _mask(
    reading: Reading, said: Mapping[str, Any], path: ValuePath, column_type: SourceType, target: str
) -> str | None:
    """The SQL expression of a mask; its short names are for texts."""
    mask: str | None = said.get("mask")
    if mask not in _MASKS:
        return mask
    if column_type.name not in (*_TEXTS, _UNREADABLE.name):
        detail = f"the mask `{mask}` is for texts; column `{path[-1]}` is {column_type}"
        fix = f"write an SQL expression, such as `mask: sha2(cast({target} as string), 256)`."
        reading.fault(Condition.BAD_VALUE, (*path, "mask"), detail, fix, value=mask)
    return _MASKS[mask].format(target)


def _offset_target(said: Mapping[str, Any], target: str) -> str | None:
    keep = said.get("keep_offset", False)
    if isinstance(keep, str):
        return keep
    return f"{target}_offset" if keep else None
