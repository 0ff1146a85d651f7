"""Column specs of a table, from `name: type` or `name: {type: ..., rename: ...}`."""

import re
from collections import ChainMap
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any

from cdc.errors import Condition
from cdc.spec.document import ValuePath
from cdc.spec.kinds import Kind, TypeFault
from cdc.spec.model import ColumnSpec, SourceType
from cdc.spec.policies import check_fits_type, check_zone, resolved_policies
from cdc.spec.reading import Fault, Reading
from cdc.spec.schema_faults import remove

_REST_OF_TYPE = re.compile(r"\d+\s*\)(\s+(not\s+)?null)?", re.IGNORECASE)
MASKS = {"sha256": "sha2(`{}`, 256)", "redacted": "CASE WHEN `{}` IS NOT NULL THEN '***' END"}
"""Short name of a mask -> its SQL, given the column's target name."""
WHOLE = "$"
"""The name of the column with the whole document."""
_UNREADABLE = SourceType("unreadable")
"""Placeholder for a type already reported as faulty, so that the column still exists for the other checks."""


def read_columns(
    reading: Reading,
    layers: ChainMap[str, Any],
    key: Collection[str],
    kind: Kind | None,
    *,
    partial: bool,
) -> dict[str, ColumnSpec]:
    """The columns that are not excluded, by source name, in file order; key columns are not nullable.

    Without a kind, which has been reported, no type can be read. If updates may be partial, they may leave out every
    column but those of the key.
    """
    return {
        name: replace(column, may_be_left_out=partial and name not in key)
        for name, column in _read_columns(reading, layers, key, kind)
    }


def _read_columns(
    reading: Reading, layers: ChainMap[str, Any], key: Collection[str], kind: Kind | None
) -> Iterator[tuple[str, ColumnSpec]]:
    for name, settings in _column_settings(reading.data):
        if not settings.get("exclude"):
            yield name, _column(reading, name, settings, layers, kind, in_key=name in key)
    if (whole := reading.data.get("document")) and kind:
        if kind.has_documents:
            comment = "The whole document, as extended JSON."
            yield WHOLE, ColumnSpec(WHOLE, SourceType("json"), whole, comment=comment, is_whole=True)
        else:
            detail = f"`document` is for rows that are documents; those of {kind.title} are not"
            reading.report(Fault(Condition.MISPLACED_FIELD, ("document",), detail, "remove it.", of_key=True))


def excluded_columns(reading: Reading) -> tuple[str, ...]:
    """Source names of the columns to leave out of silver."""
    return tuple(name for name, settings in _column_settings(reading.data) if settings.get("exclude"))


def physical_table_column(reading: Reading) -> ColumnSpec | None:
    """The column that names the physical table of a row in a routed topic; None if the spec asks for none."""
    stated = reading.data.get("physical_table")
    if stated is None:
        return None
    target, field = (stated, None) if isinstance(stated, str) else (stated.get("column", "?"), stated.get("field"))
    name = field or "__dbz__physicalTableIdentifier"
    return ColumnSpec(
        name, SourceType("nvarchar", is_max=True), target, nullable=False, key_only=True, on_missing="reject"
    )


def repair_unquoted_commas(reading: Reading) -> None:
    """Report types that YAML split at a comma (`{total: decimal(18,2)}`), and join the two parts."""
    columns = reading.data.get("columns")
    if not isinstance(columns, dict):
        return
    _join_split_types(reading, columns, ("columns",))
    for name, settings in columns.items():
        if isinstance(settings, dict):
            _join_split_types(reading, settings, ("columns", name))


def _join_split_types(reading: Reading, values: dict[str, Any], path: ValuePath) -> None:
    names = list(values)
    for name, rest in pairwise(names):
        first = values.get(name)
        if isinstance(first, str) and "(" in first and values[rest] is None and _REST_OF_TYPE.fullmatch(rest):
            whole = f"{first},{rest}"
            reading.report(
                Fault(
                    Condition.UNQUOTED_COMMA,
                    (*path, name),
                    f"YAML reads `{name}: {whole}` inside braces as `{name}: {first}` and another key `{rest}`",
                    f'quote the type: `{name}: "{whole}"`.',
                    value=whole,
                )
            )
            values[name] = whole
            remove(values, (rest,))


def _column_settings(data: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Each column's name and settings; the short form is a mapping with only a type."""
    for name, stated in data.get("columns", {}).items():
        yield name, ({"type": stated} if isinstance(stated, str) else stated)


def _column(
    reading: Reading,
    name: str,
    settings: Mapping[str, Any],
    layers: ChainMap[str, Any],
    kind: Kind | None,
    *,
    in_key: bool,
) -> ColumnSpec:
    path = ("columns", name)
    column_type, nullable = _type(reading, settings, path, kind)
    nullable = nullable and not in_key
    target = settings.get("rename", kind.target_of(name) if kind else name)
    check_zone(reading, settings, path)
    if kind and column_type is not _UNREADABLE:
        check_fits_type(reading, settings, column_type, path, kind)
    policies = resolved_policies(layers.new_child(dict(settings)), column_type, kind, nullable=nullable)
    return ColumnSpec(
        name,
        column_type,
        target,
        nullable=nullable,
        comment=settings.get("comment"),
        mask=_mask(reading, settings, path, column_type, target, kind),
        offset_target=_offset_target(settings, target),
        unavailable=policies.unavailable,
        null_is_unchanged=policies.null_is_unchanged,
        on_missing=policies.on_missing,
        # A document has the fields that it needs.
        may_be_absent=settings.get("on_missing") == "as_null" or (kind is not None and kind.has_documents),
        overflow=policies.overflow,
        zone=policies.zone,
    )


def _type(reading: Reading, settings: Mapping[str, Any], path: ValuePath, kind: Kind | None) -> tuple[SourceType, bool]:
    """The column's type, and whether it is nullable."""
    if "type" not in settings or kind is None:
        return _UNREADABLE, True
    try:
        column_type, nullable = kind.parse_type(settings["type"])
    except TypeFault as fault:
        reading.report(
            Fault(
                fault.condition,
                (*path, "type"),
                f"column `{path[-1]}`: {fault.detail}",
                fault.fix,
                value=settings["type"],
                near=fault.near_match,
            )
        )
        return _UNREADABLE, settings.get("nullable", True)
    if nullable is not None and nullable != settings.get("nullable", nullable):
        detail = f"column `{path[-1]}` is `{settings['type']}`, but `nullable` states the opposite"
        reading.report(Fault(Condition.MISPLACED_FIELD, (*path, "nullable"), detail, "keep one of the two."))
    return column_type, settings.get("nullable", nullable is not False)


def _mask(
    reading: Reading,
    settings: Mapping[str, Any],
    path: ValuePath,
    column_type: SourceType,
    target: str,
    kind: Kind | None,
) -> str | None:
    """The SQL expression of a mask; the short names work on strings only."""
    mask: str | None = settings.get("mask")
    if mask not in MASKS:
        return mask
    if kind and column_type is not _UNREADABLE and column_type.name not in kind.texts:
        detail = f"the mask `{mask}` needs a string column; column `{path[-1]}` is {column_type}"
        fix = f"write an SQL expression, such as `mask: sha2(cast({target} as string), 256)`."
        reading.report(Fault(Condition.BAD_VALUE, (*path, "mask"), detail, fix, value=mask))
    return MASKS[mask].format(target)


def _offset_target(settings: Mapping[str, Any], target: str) -> str | None:
    keep = settings.get("keep_offset", False)
    if isinstance(keep, str):
        return keep
    return f"{target}_offset" if keep else None
