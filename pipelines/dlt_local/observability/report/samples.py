"""Samples of rejects: a few of the newest, in the columns that their table names.

The table property `report.sample` lists those columns. Nothing else of a reject is shown, because a row that cannot be
read may hold what nobody should see.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pyarrow
import pyarrow.compute
import pyarrow.parquet

SAMPLE = "report.sample"
_KEPT = 5
_LONGEST = 300

Sample = Mapping[str, str]
"""Column -> its value as text."""


def sample(
    files: Sequence[Path], rejected: tuple[str, str], columns: Sequence[str], redact: Callable[[str], str]
) -> tuple[Sample, ...]:
    """Rejects in some data files, at most five.

    Args:
        files: the files, newest first.
        rejected: the column, and its value that marks a reject.
        columns: what is shown of one; a file from before one of them existed is passed over.
        redact: removes secrets from a text.
    """
    mark, value = rejected
    found: list[Sample] = []
    for file in files:
        if len(found) == _KEPT:
            break
        with pyarrow.parquet.ParquetFile(file) as opened:
            if not {mark, *columns} <= set(opened.schema_arrow.names):
                continue
            rows = opened.read(columns=[mark, *columns])
        rejects = rows.filter(pyarrow.compute.field(mark) == value).slice(0, _KEPT - len(found))
        found += ({name: _short(redact(str(row[name]))) for name in columns} for row in rejects.to_pylist())
    return tuple(found)


def newest(found: Sequence[Sample], earlier: Sequence[Sample]) -> tuple[Sample, ...]:
    """The samples that are kept: new ones first."""
    return (*found, *earlier)[:_KEPT]


def _short(text: str) -> str:
    """
    >>> len(_short("x" * 1000))
    300
    """
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
