"""Data skipping: files that cannot have a row with certain values, by the statistics in each Parquet file."""

from collections.abc import Sequence
from pathlib import Path

import pyarrow
import pyarrow.parquet


def may_have(file: Path, required: Sequence[tuple[str, str]]) -> bool:
    """False only if no row of a Parquet file has all of these values.

    Args:
        file: the data file.
        required: columns, each with the text that it must be.
    """
    if not required:
        return True
    try:
        found = pyarrow.parquet.read_metadata(file)
    except (OSError, pyarrow.ArrowInvalid):
        # Whoever reads the rows says what is wrong with it.
        return True
    groups = [found.row_group(number) for number in range(found.num_row_groups)]
    return any(all(_group_may_have(group, *each) for each in required) for group in groups)


def _group_may_have(group: pyarrow.parquet.RowGroupMetaData, column: str, text: str) -> bool:
    for number in range(group.num_columns):
        chunk = group.column(number)
        # A dot may be part of a name, or lead to a field of a struct.
        if chunk.path_in_schema == column and "." not in column and (statistics := chunk.statistics) is not None:
            if statistics.has_null_count and statistics.null_count == group.num_rows:
                return False
            if statistics.has_min_max and isinstance(statistics.min, str):
                # Python orders texts by code points, which is the order of their bytes in UTF-8.
                return bool(statistics.min <= text <= statistics.max)
    return True
