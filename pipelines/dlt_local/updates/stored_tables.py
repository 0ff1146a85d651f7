"""The tables that earlier updates left in the storage."""

from collections.abc import Iterable
from pathlib import Path

from dlt_local.delta import delta_log
from dlt_local.delta.storage import Storage
from dlt_local.names import TableName


def published(storage: Storage) -> list[TableName]:
    """The names of all published tables, sorted."""
    folders = sorted((storage.root / "tables").glob("*/*"))
    return [TableName(folder.parent.name, folder.name) for folder in folders if delta_log.exists(folder)]


def find(storage: Storage, name: TableName) -> Path | None:
    """The Delta table of a published or private dataset; None if it was never written."""
    paths = (storage.table(name), storage.table(name, private=True))
    return next((path for path in paths if delta_log.exists(path)), None)


def inactive(storage: Storage, declared: Iterable[TableName]) -> list[TableName]:
    """Published tables that no source file declares any more; they keep their data."""
    active = {str(name).lower() for name in declared}
    return [name for name in published(storage) if str(name).lower() not in active]
