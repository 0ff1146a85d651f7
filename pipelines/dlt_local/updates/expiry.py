"""Expiry: rows that a table no longer keeps are deleted, once everything that reads the table has read them.

A streaming table says by its property `rows.expired`, an SQL condition over its rows, which ones those are. They are
deleted at most once a day, at the end of an update in which all readers have completed. The stored table remembers it
in `rows.expiredAt`: what would be built from it later would lack them, and is refused.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from pyspark.sql import SparkSession

from dlt_local.declarations.elements import Table
from dlt_local.delta import delta_log
from dlt_local.delta.storage import Storage, read_json_if_intact, write_json
from dlt_local.errors import DeclarationError
from dlt_local.flows.outcomes import Update
from dlt_local.graph.graph import Node
from dlt_local.names import TableName, literal

EXPIRED = "rows.expired"
EXPIRED_AT = "rows.expiredAt"
SETTING = "dlt_local.accept_expired"


@dataclass(frozen=True)
class Expiring:
    """A table with rows to delete."""

    name: TableName
    path: Path
    condition: str
    """SQL, true for those rows."""


def due(update: Update, storage: Storage, now: datetime | None = None) -> Iterator[Expiring]:
    """The tables whose rows may be deleted now: all readers have read them, and it was not done today.

    Args:
        update: the update that has just run.
        storage: its storage.
        now: the current time, by default the clock's.
    """
    complete = {each.name for each in update.datasets if each.state in ("COMPLETED", "IDLE")}
    for node in update.graph.tables:
        table = node.dataset
        if not isinstance(table, Table) or EXPIRED not in table.table_properties or not _is_appended_to(node):
            continue
        path, mark = storage.table(table.name, table.private), _mark(storage, table.name)
        is_read = {node.name, *update.graph.readers.get(table.name, ())} <= complete
        if is_read and delta_log.exists(path) and read_json_if_intact(mark) != _today(now):
            yield Expiring(table.name, path, table.table_properties[EXPIRED])


def delete_expired(session: SparkSession, table: Expiring, storage: Storage, now: datetime | None = None) -> int:
    """Delete a table's expired rows; returns how many there were.

    Args:
        session: any session with Delta Lake.
        table: the table.
        storage: where it is noted that it was done.
        now: the current time, by default the clock's.
    """
    at = f"delta.`{table.path}`"
    rows = 0
    if session.sql(f"SELECT 1 FROM {at} WHERE {table.condition} LIMIT 1").head() is not None:
        # Before the rows go, so that a kill in between leaves no table that lacks rows unnoticed.
        stamp = literal((now or datetime.now(UTC)).isoformat(timespec="seconds"))
        session.sql(f"ALTER TABLE {at} SET TBLPROPERTIES ({literal(EXPIRED_AT)} = {stamp})")
        deleted = session.sql(f"DELETE FROM {at} WHERE {table.condition}").head()
        rows = deleted["num_affected_rows"] if deleted is not None else 0
    write_json(_mark(storage, table.name), _today(now))
    return rows


@dataclass(frozen=True)
class Sources:
    """The tables that datasets are built from; those whose rows have expired cannot give all of them again."""

    path: Callable[[TableName], Path]
    """The Delta table of a dataset."""
    accepted: str
    """The pipeline's `SETTING`: tables of which the rest is enough, with commas between them."""

    def check_anew(self, nodes: Sequence[Node]) -> None:
        """Refuse a full refresh or rebuild from a table whose rows have expired.

        Args:
            nodes: all datasets that would be built anew.

        Raises:
            DeclarationError: ROWS_EXPIRED.
        """
        anew = {node.dataset.name for node in nodes}
        for node in nodes:
            self._check(node, [name for name in node.inputs if name not in anew])

    def check_new(self, node: Node) -> None:
        """Refuse to begin a table, of which there is nothing yet, with a table whose rows have expired.

        Raises:
            DeclarationError: ROWS_EXPIRED.
        """
        self._check(node, node.inputs)

    def _check(self, node: Node, sources: Sequence[TableName]) -> None:
        # A view is always what its sources have now.
        if node.kind == "materialized view":
            return
        accepted = {name.strip() for name in self.accepted.split(",")}
        for source in sources:
            expired_at = delta_log.properties(self.path(source)).get(EXPIRED_AT)
            if expired_at is not None and str(source) not in accepted:
                raise rows_expired(node, source, expired_at)


def rows_expired(node: Node, source: TableName, expired_at: str) -> DeclarationError:
    """The error of a dataset that would be built without the rows that have expired in its source."""
    return DeclarationError(
        "ROWS_EXPIRED",
        f"{node.name} would be built from {source}, and lack what came from the rows that have expired there"
        f" (the last time on {expired_at[:10]})",
        node.dataset.location,
        "undo the edit, to keep what is stored; or have the source send all of its rows again (a new snapshot), and"
        f" then run once with --set {SETTING}={source}",
    )


def _is_appended_to(node: Node) -> bool:
    return node.kind == "streaming table" and all(flow.changes is None for flow in node.flows)


def _mark(storage: Storage, name: TableName) -> Path:
    return storage.maintenance(f"{name}.expiry")


def _today(now: datetime | None) -> Mapping[str, str]:
    return {"expired_on": (now or datetime.now(UTC)).date().isoformat()}
