"""Tables kept in shape at the end of an update, as Databricks does within a day of it: small files put together, files
that no version needs any more removed.

A table's property ``pipelines.autoOptimize.managed`` (default true) decides, for all tables the pipeline's
configuration of the same name; ``pipelines.autoOptimize.zOrderCols`` names columns to sort by. How long removed files
stay is Delta's ``delta.deletedFileRetentionDuration`` (default a week), within which a table can be read as it was.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from pyspark.sql import SparkSession

from dlt_local.delta import delta_log
from dlt_local.delta.storage import read_json, write_json
from dlt_local.names import quote

MANAGED = "pipelines.autoOptimize.managed"
SORTED_BY = "pipelines.autoOptimize.zOrderCols"
MANY_FILES = 64
"""Files that have come since the last OPTIMIZE from which on another one pays."""
_SMALL_BYTES = 32 * 1024 * 1024
"""Mean size of a table's files below which they are worth putting together."""
_EVERY = timedelta(days=1)
"""Between one VACUUM of a table and the next."""


@dataclass(frozen=True)
class Table:
    """A Delta table to look after."""

    name: str
    path: Path
    properties: Mapping[str, str]


@dataclass(frozen=True)
class Done:
    """One thing that was done to a table."""

    table: str
    operation: str
    """OPTIMIZE or VACUUM."""
    files_before: int
    files_after: int


def is_wanted(table: Table, configuration: Mapping[str, str]) -> bool:
    """True unless the table's property, or else the pipeline's configuration, says no."""
    return table.properties.get(MANAGED, configuration.get(MANAGED, "true")).lower() != "false"


def keep_in_shape(session: SparkSession, table: Table, mark: Path, now: datetime | None = None) -> Iterator[Done]:
    """Do what is due for a table; a table that has just been made has a day before its first VACUUM.

    Args:
        session: which to do it with.
        table: which has been written.
        mark: file in which what was done is noted, as JSON.
        now: the time, if it is to be another than the clock's.
    """
    now = now or datetime.now(UTC)
    last = read_json(mark) or {"files": 0, "vacuumed_at": now.isoformat()}
    before = delta_log.file_count(table.path)
    noted = {"vacuumed_at": last["vacuumed_at"], "files": min(last["files"], before)}
    if before - last["files"] >= MANY_FILES and delta_log.size_in_bytes(table.path) < before * _SMALL_BYTES:
        columns = table.properties.get(SORTED_BY)
        by = f" ZORDER BY ({', '.join(quote(name.strip()) for name in columns.split(','))})" if columns else ""
        session.sql(f"OPTIMIZE delta.`{table.path}`{by}")
        noted["files"] = delta_log.file_count(table.path)
        yield Done(table.name, "OPTIMIZE", before, noted["files"])
    if now - datetime.fromisoformat(last["vacuumed_at"]) >= _EVERY:
        session.sql(f"VACUUM delta.`{table.path}`")
        noted["vacuumed_at"] = now.isoformat()
        files = delta_log.file_count(table.path)
        yield Done(table.name, "VACUUM", files, files)
    if noted != last or not mark.exists():
        write_json(mark, noted)
