"""Table measures for the report: newest source time, and row counts by the values of one column.

Two table properties request them: `report.newest` names a timestamp column (a dot selects a field of a struct),
`report.countBy` a column with few distinct values. Both read Delta's log and, for the counts, the data files of new
commits; neither starts a Spark job.
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
    """The newest source time in a table's last commit with rows, and that commit's delay after it."""

    time: datetime
    lag_seconds: float


def newest(table: Path, column: str) -> Newest | None:
    """The newest source time, from the last commit that added rows.

    Returns:
        None if no row of that commit has a time, or if the column is missing or no timestamp.
    """
    commit = delta_log.newest_commit_with_rows(table)
    if commit is None:
        return None
    times = [time for stats in commit.statistics if (time := _time(stats.get("maxValues", {}), column))]
    if len(times) < len(commit.files):
        # Delta collects statistics for a table's first columns only.
        times = [time for file in commit.files if (time := _time_in(table / unquote(file), column))]
    if not times:
        return None
    return Newest(max(times), (commit.at - max(times)).total_seconds())


def _time(statistics: Mapping[str, Any], column: str) -> datetime | None:
    value: Any = statistics
    for part in column.split("."):
        value = value.get(part) if isinstance(value, dict) else None
    try:
        return datetime.fromisoformat(value) if isinstance(value, str) else None
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
    """A table's row counts by the values of one column, as of one version of the table."""

    table_id: str
    version: int
    column: str
    rows: Mapping[str, int]


def counts(table: Path, column: str, previous: Counts | None) -> Counts | None:
    """Count rows by value, reading only the files added since ``previous``.

    All files are read if ``previous`` is of another table or column, or if files have been removed since.

    Returns:
        None if Delta's log does not list the table's files.
    """
    version, table_id = delta_log.version(table), delta_log.table_id(table)
    if version is None or table_id is None:
        return None
    if (
        previous is not None
        and (previous.table_id, previous.column) == (table_id, column)
        and previous.version <= version
    ):
        added = delta_log.files_added(table, previous.version + 1)
        if added is not None:
            return Counts(table_id, version, column, _add(Counter(previous.rows), table, added, column))
    live = delta_log.live_files(table)
    return None if live is None else Counts(table_id, version, column, _add(Counter(), table, live, column))


def _add(rows: "Counter[str]", table: Path, files: tuple[str, ...], column: str) -> Mapping[str, int]:
    for file in files:
        values = pyarrow.parquet.read_table(table / unquote(file), columns=[column], partitioning=None)
        for value in values.column(column).value_counts() if values.num_columns else ():
            rows[str(value["values"].as_py())] += value["counts"].as_py()
    return dict(rows)
