"""Outcomes of a table's records, counted in the published tables."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from cdc import TableSpec, names
from cdc.debezium.positions import position_of
from demo.tables import folder, query
from dlt_local.delta import delta_log


@dataclass(frozen=True)
class Counts:
    """Outcomes of one source table's records, so far or within an update."""

    records: int = 0
    """In bronze."""
    changes: int = 0
    """In silver, including redelivered ones."""
    rejects: int = 0
    ignored: Counter[str] = field(default_factory=Counter)
    """Kind -> records of that kind: tombstone, heartbeat and so on."""
    operations: Counter[str] = field(default_factory=Counter)
    """The changes by Debezium's operation: c, u, d, r, t."""
    redelivered: int = 0
    """Duplicates among the changes: same key, same position."""

    @property
    def adds_up(self) -> bool:
        """True if every record is a change, a reject, or ignored for a stated reason."""
        return self.records == self.changes + self.rejects + self.ignored.total()

    def __add__(self, other: Self) -> "Counts":
        return Counts(
            self.records + other.records,
            self.changes + other.changes,
            self.rejects + other.rejects,
            self.ignored + other.ignored,
            self.operations + other.operations,
            self.redelivered + other.redelivered,
        )

    def since(self, earlier: Self) -> "Counts":
        """The difference to an earlier count."""
        return Counts(
            self.records - earlier.records,
            self.changes - earlier.changes,
            self.rejects - earlier.rejects,
            self.ignored - earlier.ignored,
            self.operations - earlier.operations,
            self.redelivered - earlier.redelivered,
        )


def counts(storage: Path, tables: Iterable[TableSpec]) -> dict[str, Counts]:
    """Each source table's counts so far, by table name; a dataset that does not exist yet counts as empty."""
    return {table.name: _counts(storage, table) for table in tables}


def size(storage: Path, dataset: str) -> int:
    """Number of rows of a published dataset."""
    return _count(folder(storage, dataset))


def _counts(storage: Path, table: TableSpec) -> Counts:
    changes = folder(storage, names.changes_dataset(table))
    return Counts(
        records=size(storage, names.records_dataset(table)),
        changes=_count(changes),
        rejects=size(storage, names.rejects_dataset(table)),
        ignored=_ignored(folder(storage, names.decoded_dataset(table), private=True)),
        operations=_by(names.OP, changes),
        redelivered=_count(changes) - _count(changes, f"DISTINCT {_identity(table)}"),
    )


def _identity(table: TableSpec) -> str:
    position = (*position_of(table.connector).log_order, names.OPERATION)
    return ", ".join(f'"{name}"' for name in (*table.key, *position))


def _count(table: Path, what: str = "1") -> int:
    if not delta_log.exists(table):
        return 0
    return int(query(f"SELECT count(*) AS n FROM (SELECT {what} FROM t)", t=table)[0]["n"])


def _ignored(decoded: Path) -> Counter[str]:
    return _by(names.REASON, decoded, where=f"{names.OUTCOME} = '{names.IGNORED}'")


def _by(column: str, table: Path, where: str = "true") -> Counter[str]:
    """Number of rows for each value of a column."""
    if not delta_log.exists(table):
        return Counter()
    found = query(f"SELECT {column} AS value, count(*) AS n FROM t WHERE {where} GROUP BY 1", t=table)
    return Counter({row["value"]: row["n"] for row in found})
