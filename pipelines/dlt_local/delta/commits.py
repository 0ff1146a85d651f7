"""How many rows the latest commit of a table wrote."""

from pathlib import Path

from dlt_local.delta import delta_log


def latest_commit_rows(table: Path, metric: str = "numOutputRows") -> int:
    """Rows that the table's latest commit reports; 0 if it reports none.

    Args:
        table: a Delta table.
        metric: Delta's name for them, which depends on the operation.
    """
    version = delta_log.version(table)
    return 0 if version is None else delta_log.operation_metrics(table, version).get(metric, 0)
