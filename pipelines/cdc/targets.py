"""Targets: the tables that keep versions, by the dataset that their changes flow into."""

from collections.abc import Iterable

from cdc.names import versions_dataset
from cdc.spec.model import TableSpec


def targets(tables: Iterable[TableSpec]) -> tuple[tuple[TableSpec, ...], ...]:
    """The tables of each target, as a rule one; append-only tables have none.

    Several tables are sources of one target by their specs' `into`; they agree on all that its rows have in common.
    """
    found: dict[str, list[TableSpec]] = {}
    for table in tables:
        if not table.append_only:
            found.setdefault(versions_dataset(table), []).append(table)
    return tuple(map(tuple, found.values()))
