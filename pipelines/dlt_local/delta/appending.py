"""Appends to Delta tables, each committed at most once."""

from pathlib import Path

from pyspark.sql import DataFrame

from dlt_local.delta import delta_log
from dlt_local.delta.commits import latest_commit_rows
from dlt_local.delta.transaction import TransactionId
from dlt_local.spark import jvm


def append(rows: DataFrame, path: Path, transaction: TransactionId) -> int | None:
    """Append rows, and the columns that the table lacks; how many rows, or None if they were appended before.

    Args:
        rows: one row of the table each; they are read once, or not at all if they were appended before.
        path: an existing Delta table.
        transaction: the identity of the write.
    """
    if transaction.is_new:
        jvm.append_to_delta(rows, path, transaction.app_id, transaction.version)
        return latest_commit_rows(path)
    before = delta_log.version(path)
    writer = rows.write.format("delta").mode("append").option("mergeSchema", "true")
    writer.options(**transaction.options).save(str(path))
    return None if delta_log.version(path) == before else latest_commit_rows(path)
