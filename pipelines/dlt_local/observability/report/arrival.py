"""Rows that arrived in another order than the one that a table declares.

The table property `report.arrival` holds JSON: ``{"of": [...], "by": [...], "arrival": [...]}``, each a list of
columns. Among rows that are equal in ``of``, those in the order of ``arrival`` should be in the order of ``by``. The
last column of ``of`` divides the rows into stretches, such as transactions; only stretches in which the order ever
falls are examined row by row.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.compute
import pyarrow.parquet

ARRIVAL = "report.arrival"
OUT_OF_ORDER = "out of order"


def out_of_order(files: tuple[Path, ...], declared: str) -> "Counter[str]":
    """The number of rows in some data files that arrived after a row which should follow them."""
    order: Mapping[str, list[str]] = json.loads(declared)
    columns = [*order["of"], *order["by"], *order["arrival"]]
    tables = [pyarrow.parquet.read_table(file, columns=columns, partitioning=None) for file in files]
    # A file from before a column existed lacks it.
    rows = pyarrow.concat_tables(tables, promote_options="default") if tables else None
    if rows is None or set(rows.column_names) != set(columns):
        return Counter()
    suspects = _suspects(rows.sort_by([(name, "ascending") for name in order["arrival"]]), order)
    found = sum(map(_falls, _groups(suspects.to_pylist(), order).values()))
    return Counter({OUT_OF_ORDER: found}) if found else Counter()


def _suspects(rows: pyarrow.Table, order: Mapping[str, list[str]]) -> pyarrow.Table:
    """The rows of each stretch in which a row should precede the one before it."""
    stretch = order["of"][-1]
    if rows.num_rows < 2:
        return rows.slice(0, 0)
    earlier, later = rows.slice(0, rows.num_rows - 1), rows.slice(1)
    compute: Any = pyarrow.compute
    falls = is_below_the_one_before(rows, order["by"])
    same = compute.fill_null(compute.equal(earlier.column(stretch), later.column(stretch)), False)
    suspected = compute.unique(later.column(stretch).filter(compute.and_(same, falls)))
    return rows.filter(compute.is_in(rows.column(stretch), value_set=suspected))


def is_below_the_one_before(rows: pyarrow.Table, by: Sequence[str]) -> Any:
    """For each row but the first, whether it is below the row before it in some columns; false where one is null."""
    count = max(rows.num_rows - 1, 0)
    earlier, later = rows.slice(0, count), rows.slice(1)
    compute: Any = pyarrow.compute
    falls = pyarrow.chunked_array([pyarrow.repeat(pyarrow.scalar(False), count)])
    for name in reversed(by):
        one, other = earlier.column(name), later.column(name)
        is_equal = compute.fill_null(compute.equal(one, other), False)
        is_lower = compute.fill_null(compute.less(other, one), False)
        falls = compute.or_(is_lower, compute.and_(is_equal, falls))
    return falls


def _groups(
    rows: Iterable[Mapping[str, Any]], order: Mapping[str, list[str]]
) -> Mapping[tuple[Any, ...], list[tuple[Any, ...]]]:
    """For each group the places of its rows in the declared order, as they arrived; one that repeats only once."""
    groups: dict[tuple[Any, ...], dict[tuple[Any, ...], None]] = defaultdict(dict)
    for row in rows:
        place = tuple((row[name] is not None, row[name]) for name in order["by"])
        groups[tuple(str(row[name]) for name in order["of"])].setdefault(place)
    return {group: list(places) for group, places in groups.items()}


def _falls(places: list[tuple[Any, ...]]) -> int:
    """
    >>> _falls([(1,), (3,), (2,), (4,)])
    1
    """
    return sum(later < earlier for earlier, later in pairwise(places))
