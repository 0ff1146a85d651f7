"""A table's `into:` field: the target that it shares with tables of other sources, and the column that tells which."""

import re
from collections.abc import Mapping
from typing import Any

from cdc.spec.model import ColumnSpec, Into, SourceType

_TYPE = SourceType("nvarchar", length=128)
_NAME = "into.column"
"""The column's name among those of the source, none of which it is."""


def into_of(fields: Mapping[str, Any]) -> Into | None:
    """The `into` of a file; None if it has none, or not all of it is usable."""
    stated = fields.get("into", {})
    return Into(**stated) if stated.keys() == {"table", "source", "column"} else None


def default_name(into: Into) -> str:
    """Base name of the datasets that a source keeps for itself.

    >>> default_name(Into("orders", "EU-West", "region"))
    'orders_eu_west'
    """
    return re.sub(r"[^a-z0-9]+", "_", f"{into.table}_{into.source}".lower())


def source_column(into: Into) -> ColumnSpec:
    """The column with the source's name: the same in all rows of a source, and part of the key."""
    return ColumnSpec(_NAME, _TYPE, into.column, nullable=False, constant=into.source)
