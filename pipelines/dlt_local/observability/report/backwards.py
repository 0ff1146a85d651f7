"""Rows whose position falls: those below a position that arrived before them, and that were not delivered before.

The table property `report.backwards` holds JSON. Rows that are equal in the columns ``of`` are one stream. In the order
of ``arrival`` the columns ``by`` never fall in it, but for a row that is delivered again: it is equal in ``by`` and
``same`` to one that arrived before. Rows with a value of ``without`` (column -> value) are left out. ``text`` says what
rows that fall are, ``example``, filled in with columns of the first, which it is, and ``hint`` what to do.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.compute
import pyarrow.parquet

from dlt_local.observability.report import measures
from dlt_local.observability.report.arrival import is_below_the_one_before
from dlt_local.observability.report.measures import Counts

BACKWARDS = "report.backwards"
Row = Mapping[str, Any]


def counts(table: Path, column: str, previous: Counts | None) -> Counts | None:
    """Count the rows that fall; only new rows are read while none does.

    Args:
        table: a Delta table.
        column: the property.
        previous: an earlier result.

    Returns:
        None if Delta's log does not list the table's files.
    """
    return measures.continued(table, column, previous, lambda files, so_far: _counted(files, so_far, table))


def _counted(files: tuple[Path, ...], so_far: Counts, table: Path) -> Counts:
    asked: Mapping[str, Any] = json.loads(so_far.column)
    highest, below = dict(so_far.highest), list[Row]()
    for stream, rows in _streams(_rows(files, asked), asked):
        highest[stream], of_stream = _below(rows, highest.get(stream), asked["by"])
        below += of_stream
    found = _never_delivered_before(below, table, asked)
    if not found:
        return replace(so_far, highest=highest)
    rows_below = so_far.rows.get(asked["text"], 0) + len(found)
    example = asked["example"].format_map(min(found, key=lambda row: row[asked["arrival"]]))
    examples = {asked["text"]: example, **so_far.examples}
    return replace(so_far, highest=highest, rows={asked["text"]: rows_below}, examples=examples)


def _below(rows: pyarrow.Table, highest: list[Any] | None, by: Sequence[str]) -> tuple[list[Any], list[Row]]:
    """The highest position of a stream after some rows, as they arrived, and those of them that are below it."""
    first, last = (_place(rows.slice(at, 1).to_pylist()[0], by) for at in (0, rows.num_rows - 1))
    known = first if highest is None else highest
    compute: Any = pyarrow.compute
    if first >= known and not compute.any(is_below_the_one_before(rows, by)).as_py():
        return last, []
    below = []
    for row in rows.to_pylist():
        if (place := _place(row, by)) < known:
            below.append(row)
        known = max(known, place)
    return known, below


def _rows(files: tuple[Path, ...], asked: Mapping[str, Any]) -> pyarrow.Table | None:
    """The rows in the order of their arrival; None if there are none, or a file lacks a column."""
    columns = _columns(asked)
    tables = [pyarrow.parquet.read_table(file, columns=columns, partitioning=None) for file in files]
    rows = pyarrow.concat_tables(tables, promote_options="default") if tables else None
    if rows is None or set(rows.column_names) != set(columns):
        return None
    compute: Any = pyarrow.compute
    for column, value in asked["without"].items():
        rows = rows.filter(compute.fill_null(compute.not_equal(rows.column(column), value), True))
    for column in asked["by"]:
        rows = rows.filter(rows.column(column).is_valid())
    return rows.sort_by([(asked["arrival"], "ascending")])


def _streams(rows: pyarrow.Table | None, asked: Mapping[str, Any]) -> Iterator[tuple[str, pyarrow.Table]]:
    """The rows of each stream, under its name."""
    if rows is None:
        return
    of: list[str] = asked["of"]
    compute: Any = pyarrow.compute
    for stream in rows.group_by(of).aggregate([]).to_pylist():
        of_stream = rows
        for column in of:
            of_stream = of_stream.filter(compute.equal(of_stream.column(column), stream[column]))
        if of_stream.num_rows:
            yield json.dumps([stream[column] for column in of]), of_stream


def _never_delivered_before(below: Sequence[Row], table: Path, asked: Mapping[str, Any]) -> list[Row]:
    """Those of some rows to which no row of the table is equal that arrived before."""
    if not below:
        return []
    by, arrival = asked["by"][0], asked["arrival"]
    within = [(by, ">=", min(row[by] for row in below)), (by, "<=", max(row[by] for row in below))]
    columns, wanted = _columns(asked), {_identity(row, asked) for row in below}
    first: dict[tuple[str, ...], Any] = {}
    # Files that the table no longer has count too: whatever is equal and came before is an earlier delivery.
    for file in table.rglob("*.parquet"):
        if "_delta_log" in file.relative_to(table).parts or not set(columns) <= set(_names(file)):
            continue
        for row in pyarrow.parquet.read_table(file, columns=columns, filters=within, partitioning=None).to_pylist():
            if (identity := _identity(row, asked)) in wanted:
                first[identity] = min(row[arrival], first.get(identity, row[arrival]))
    return [row for row in below if first.get(_identity(row, asked), row[arrival]) >= row[arrival]]


def _names(file: Path) -> list[str]:
    return list(pyarrow.parquet.read_schema(file).names)


def _columns(asked: Mapping[str, Any]) -> list[str]:
    return list(dict.fromkeys([*asked["of"], *asked["by"], *asked["same"], asked["arrival"], *asked["without"]]))


def _place(row: Row, by: Sequence[str]) -> list[Any]:
    return [row[name] for name in by]


def _identity(row: Row, asked: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(str(row[name]) for name in (*asked["of"], *asked["by"], *asked["same"]))
