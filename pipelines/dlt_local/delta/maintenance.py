"""Table maintenance at the end of an update: OPTIMIZE compacts small files, VACUUM removes unreferenced ones.

Databricks does the same within a day of an update. The table property ``pipelines.autoOptimize.managed`` (default true)
turns it off for a table, the pipeline configuration of the same name for all tables;
``pipelines.autoOptimize.zOrderCols`` names columns to sort by. Removed files stay for Delta's
``delta.deletedFileRetentionDuration`` (default a week), within which earlier versions can be read.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from pyspark.sql import SparkSession

from dlt_local.delta import delta_log
from dlt_local.delta.storage import read_json_if_intact, write_json
from dlt_local.names import quote

MANAGED = "pipelines.autoOptimize.managed"
SORTED_BY = "pipelines.autoOptimize.zOrderCols"
MANY_FILES = 64
"""New files since the last OPTIMIZE that make another one worth its cost."""
_SMALL_BYTES = 32 * 1024 * 1024
"""Mean file size below which a table is compacted."""
_VACUUM_INTERVAL = timedelta(days=1)


@dataclass(frozen=True)
class Table:
    """A Delta table to maintain."""

    name: str
    path: Path
    properties: Mapping[str, str]


@dataclass(frozen=True)
class Done:
    """A maintenance operation that was run on a table."""

    table: str
    operation: str
    """OPTIMIZE or VACUUM."""
    files_before: int
    files_after: int


def is_wanted(table: Table, configuration: Mapping[str, str]) -> bool:
    """True unless the table's property, or else the pipeline's configuration, turns maintenance off."""
    return table.properties.get(MANAGED, configuration.get(MANAGED, "true")).lower() != "false"


def keep_in_shape(session: SparkSession, table: Table, mark: Path, now: datetime | None = None) -> Iterator[Done]:
    """Run the operations that are due; the first VACUUM is due a day after a table's first maintenance.

    Args:
        session: the session to run them in.
        table: a table that was written.
        mark: the JSON file that records the file count after the last OPTIMIZE and the time of the last VACUUM.
        now: the current time, by default the clock's.
    """
    now = now or datetime.now(UTC)
    last = read_json_if_intact(mark) or {"files": 0, "vacuumed_at": now.isoformat()}
    before = delta_log.file_count(table.path)
    record = {"vacuumed_at": last["vacuumed_at"], "files": min(last["files"], before)}
    if before - last["files"] >= MANY_FILES and delta_log.size_in_bytes(table.path) < before * _SMALL_BYTES:
        columns = table.properties.get(SORTED_BY)
        order = f" ZORDER BY ({', '.join(quote(name.strip()) for name in columns.split(','))})" if columns else ""
        session.sql(f"OPTIMIZE delta.`{table.path}`{order}")
        record["files"] = delta_log.file_count(table.path)
        yield Done(table.name, "OPTIMIZE", before, record["files"])
    if now - datetime.fromisoformat(last["vacuumed_at"]) >= _VACUUM_INTERVAL:
        session.sql(f"VACUUM delta.`{table.path}`")
        record["vacuumed_at"] = now.isoformat()
        files = delta_log.file_count(table.path)
        yield Done(table.name, "VACUUM", files, files)
    if record != last or not mark.exists():
        write_json(mark, record)
