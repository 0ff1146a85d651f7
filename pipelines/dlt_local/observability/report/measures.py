"""Table measures for the report: newest source time, and row counts.

Table properties request them: `report.newest` names a timestamp column (a dot selects a field of a struct),
`report.countBy` one or several columns with few distinct values, `report.arrival` the order that rows should arrive in
(`arrival`), `report.backwards` a position that never falls (`backwards`), `report.notes` what rows say about themselves
(`notes`). All read Delta's log and, for the counts, the data files of new commits; none starts a Spark job.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
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
SEPARATOR = ": "
"""Between the values of two columns."""


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
    """A table's row counts by value, as of one version of the table."""

    table_id: str
    version: int
    column: str
    """What is counted: the text of the property that requests it."""
    rows: Mapping[str, int]
    examples: Mapping[str, str] = field(default_factory=dict)
    """Value -> what the first row with it says of itself; only for notes, and for rows whose position falls."""
    highest: Mapping[str, list[Any]] = field(default_factory=dict)
    """Stream -> the highest position that has arrived; only for rows whose position falls."""


FindExamples = Callable[[tuple[Path, ...], str], Mapping[str, str]]
"""Finds an example of each value in some data files, given what is counted."""
CountFiles = Callable[[tuple[Path, ...], str], "Counter[str]"]
"""Counts the rows of some data files by value, given what is to be counted."""
Continue = Callable[[tuple[Path, ...], Counts], Counts]
"""Continues counts with the rows of some data files."""


def counts(
    table: Path,
    column: str,
    previous: Counts | None,
    count: CountFiles | None = None,
    find_examples: FindExamples | None = None,
) -> Counts | None:
    """Count rows by value, reading only the files added since ``previous``.

    All files are read if ``previous`` is of another table or column, or if rows have been removed since.

    Args:
        table: a Delta table.
        column: the column to count by, or several with commas between them.
        previous: an earlier result.
        count: how to count; by default by the values of ``column``.
        find_examples: how to find examples of the values; None if there are none.

    Returns:
        None if Delta's log does not list the table's files.
    """
    count, find_examples = count or _by_value, find_examples or _no_examples

    def counted(files: tuple[Path, ...], so_far: Counts) -> Counts:
        rows = Counter(so_far.rows) + count(files, column)
        return replace(so_far, rows=dict(rows), examples={**find_examples(files, column), **so_far.examples})

    return continued(table, column, previous, counted)


def continued(table: Path, column: str, previous: Counts | None, count: Continue) -> Counts | None:
    """As `counts`, with any way to continue counts."""
    version, table_id = delta_log.version(table), delta_log.table_id(table)
    if version is None or table_id is None:
        return None
    if (
        previous is not None
        and (previous.table_id, previous.column) == (table_id, column)
        and previous.version <= version
    ):
        added = delta_log.files_added(table, previous.version + 1)
        try:
            if added is not None:
                return count(_paths(table, added), replace(previous, version=version))
        except FileNotFoundError:
            # Compacted and vacuumed since: count all rows instead.
            pass
    live = delta_log.live_files(table)
    if live is None:
        return None
    return count(_paths(table, live), Counts(table_id, version, column, {}))


def _paths(table: Path, files: tuple[str, ...]) -> tuple[Path, ...]:
    return tuple(table / unquote(file) for file in files)


def _no_examples(_files: tuple[Path, ...], _column: str) -> Mapping[str, str]:
    return {}


def _by_value(files: tuple[Path, ...], column: str) -> "Counter[str]":
    names = [name.strip() for name in column.split(",")]
    rows: Counter[str] = Counter()
    for file in files:
        values = pyarrow.parquet.read_table(file, columns=names, partitioning=None)
        if set(values.column_names) == set(names):
            for group in values.group_by(names).aggregate([([], "count_all")]).to_pylist():
                rows[_value(group, names)] += group["count_all"]
    return rows


def _value(group: Mapping[str, Any], names: list[str]) -> str:
    """The values of one group as a text; of several columns without the nulls.

    >>> _value({"outcome": "change", "reason": None}, ["outcome", "reason"]), _value({"reason": None}, ["reason"])
    ('change', 'None')
    """
    if len(names) == 1:
        return str(group[names[0]])
    return SEPARATOR.join(str(group[name]) for name in names if group[name] is not None)
