"""What the report tells of a table beyond an update's own counts: its newest source time, its rows by reason.

Two table properties ask for it: `report.newest` names a timestamp column (a dot leads into a struct), `report.countBy`
a column of few values. Both are answered from Delta's log and, for the counts, the files of new commits; no Spark job.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pyarrow
import pyarrow.compute
import pyarrow.parquet

from dlt_local.delta import delta_log

NEWEST = "report.newest"
COUNT_BY = "report.countBy"


@dataclass(frozen=True)
class Newest:
    """The latest source time that a table's last filled commit brought, and how long after it that was."""

    time: datetime
    lag_seconds: float


def newest(table: Path, column: str) -> Newest | None:
    """From the newest commit that added rows; None where no row of it has a time, or the column is no such."""
    commit = delta_log.newest_commit_with_rows(table)
    if commit is None:
        return None
    times = [time for stats in commit.statistics if (time := _time(stats.get("maxValues", {}), column))]
    if len(times) < len(commit.files):
        # Delta keeps statistics of a table's first columns only.
        times = [time for file in commit.files if (time := _time_in(table / unquote(file), column))]
    if not times:
        return None
    return Newest(max(times), (commit.at - max(times)).total_seconds())


def _time(values: Mapping[str, Any], column: str) -> datetime | None:
    told: Any = values
    for part in column.split("."):
        told = told.get(part) if isinstance(told, dict) else None
    try:
        return datetime.fromisoformat(told) if isinstance(told, str) else None
    except ValueError:
        return None


def _time_in(file: Path, column: str) -> datetime | None:
    try:
        values = pyarrow.parquet.read_table(file, columns=[column], partitioning=None).flatten()
    except (pyarrow.ArrowInvalid, FileNotFoundError):
        return None
    while values.num_columns and pyarrow.types.is_struct(values.schema.field(0).type):
        values = values.flatten()
    if not values.num_columns or not pyarrow.types.is_timestamp(values.schema.field(0).type):
        return None
    newest = pyarrow.compute.max(values.column(0).cast(pyarrow.timestamp("us", "UTC"), safe=False)).as_py()
    return newest if isinstance(newest, datetime) else None


@dataclass(frozen=True)
class Counts:
    """A table's rows by one column's value, as of one version of one table."""

    table_id: str
    version: int
    column: str
    rows: Mapping[str, int]


def counts(table: Path, column: str, before: Counts | None) -> Counts | None:
    """Count only the files that came since ``before``; all of them where it is not this table's, or files went.

    Returns:
        None where the log does not tell which files the table has.
    """
    version, table_id = delta_log.version(table), delta_log.table_id(table)
    if version is None or table_id is None:
        return None
    if before is not None and (before.table_id, before.column) == (table_id, column) and before.version <= version:
        added = delta_log.files_added(table, before.version + 1)
        if added is not None:
            return Counts(table_id, version, column, _sum(Counter(before.rows), table, added, column))
    whole = delta_log.live_files(table)
    return None if whole is None else Counts(table_id, version, column, _sum(Counter(), table, whole, column))


def _sum(rows: "Counter[str]", table: Path, files: tuple[str, ...], column: str) -> Mapping[str, int]:
    for file in files:
        read = pyarrow.parquet.read_table(table / unquote(file), columns=[column], partitioning=None)
        for value in read.column(column).value_counts() if read.num_columns else ():
            rows[str(value["values"].as_py())] += value["counts"].as_py()
    return dict(rows)
