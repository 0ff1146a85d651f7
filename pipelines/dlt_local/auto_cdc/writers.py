"""The four ways to write row changes to a target; all of them leave the same rows.

Each takes the same `RowChanges`, so none can apply another subset of them. `strategies.choose_writer` says when each is
exact.
"""

from dataclasses import dataclass
from threading import Lock

from delta.tables import DeltaTable
from pyspark.sql import Column, Observation
from pyspark.sql import functions as F

from dlt_local.auto_cdc import key_list
from dlt_local.auto_cdc.args import ChangeArgs
from dlt_local.auto_cdc.comparison import comparable
from dlt_local.auto_cdc.names import ACTION, COMPARE, IS_NEW, KEY, REMOVE, ROW, START, scratch
from dlt_local.auto_cdc.reconciled import RowChanges, target_columns
from dlt_local.auto_cdc.target import Target
from dlt_local.delta import appending, delta_log, plain_files
from dlt_local.delta.transaction import TransactionId
from dlt_local.names import START_AT, quote
from dlt_local.spark.conf_overrides import overridden
from dlt_local.spark.observations import observed_metrics

BROADCAST_ROWS = 2_000_000
"""Up to so many changed rows are held in memory to find those they replace; more are joined by a sort."""
UNCHECKED = {"spark.databricks.delta.replaceWhere.constraintCheck.enabled": "false"}
"""Delta checks that written rows match `replaceWhere`; new keys and ended versions need not."""
_ONE_AT_A_TIME = Lock()
"""Snapshot flows share a session: when one restores the conf, it would restore it under another."""
_IS_PUT = scratch("is_put")


@dataclass(frozen=True)
class Written:
    """Rows of the target that a writer put and removed."""

    upserted: int = 0
    deleted: int = 0


def append(changes: RowChanges, target: Target, batch: TransactionId) -> Written:
    """Add rows that are all new, once per batch however often it is retried."""
    rows = changes.rows.select(*_named(target_columns(target.args)))
    return Written(appending.append(rows, target.path, batch) or 0)


def merge(changes: RowChanges, target: Target) -> Written:
    """Put and remove rows with MERGE; a tie leaves the greater row."""
    source = changes.rows.alias("s")
    is_put = F.col(f"s.{ACTION}") != REMOVE
    assignments: dict[str, str | Column] = {quote(n): v for n, v in target_columns(target.args, "s").items()}
    before = delta_log.version(target.path)
    (
        DeltaTable.forPath(changes.rows.sparkSession, str(target.path))
        .alias("t")
        .merge(source, _is_same_row(target.args))
        .whenMatchedDelete(~is_put)
        .whenMatchedUpdate(_wins(target.args) if changes.compared else None, assignments)
        .whenNotMatchedInsert(is_put, assignments)
        .execute()
    )
    after = delta_log.version(target.path)
    if after is None or after == before:
        return Written()
    metrics = delta_log.operation_metrics(target.path, after)
    upserted = metrics.get("numTargetRowsInserted", 0) + metrics.get("numTargetRowsUpdated", 0)
    return Written(upserted, metrics.get("numTargetRowsDeleted", 0))


def rewrite(changes: RowChanges, target: Target) -> Written:
    """Write the whole target: the stored rows that stay, and the rows put."""
    session = changes.rows.sparkSession
    removed, put = Observation(), Observation()
    touched = changes.rows.where(~F.col(IS_NEW)).withColumn(_IS_PUT, F.col(ACTION) != REMOVE)
    if changes.count <= BROADCAST_ROWS:
        touched = F.broadcast(touched)
    columns = target_columns(target.args)
    stays = (
        target.read(session)
        .alias("t")
        .join(touched.alias("s"), _is_same_row(target.args), "left")
        .observe(removed, F.count_if(~F.col(_IS_PUT)).alias("deleted"))
        .where(F.col(_IS_PUT).isNull())
        .select(*[F.col(f"t.{quote(name)}") for name in columns])
    )
    rows = changes.rows.where(F.col(ACTION) != REMOVE).observe(put, F.count(F.lit(1)).alias("upserted"))
    rewritten = stays.unionByName(rows.select(*_named(columns)))
    if not plain_files.replace(rewritten, target.path):
        # Whatever the session says: a partition that has lost all its rows must go too.
        writer = rewritten.write.format("delta").mode("overwrite").option("partitionOverwriteMode", "static")
        if delta_log.clustering_columns(target.path):
            # A plain overwrite drops them.
            writer = writer.option("replaceWhere", "true")
        writer.save(str(target.path))
    return Written(int(observed_metrics(put)["upserted"]), int(observed_metrics(removed)["deleted"]))


def replace_keys(changes: RowChanges, target: Target) -> Written | None:
    """Replace the rows of listed keys in one commit and one scan; None if a key cannot be written as SQL text."""
    session = changes.rows.sparkSession
    sql = key_list.key_sql(target.key_types)
    assert sql is not None and changes.predicate is not None
    is_put = F.col(ACTION) != REMOVE
    keys = changes.rows.select(f"{KEY}.*", is_put.alias(_IS_PUT), IS_NEW)
    listed = keys.select(F.expr(sql).alias("key"), _IS_PUT, IS_NEW).collect()
    removed = {row["key"] for row in listed if not row[_IS_PUT]}
    is_replaced = key_list.is_among(sql, {row["key"] for row in listed if not row[IS_NEW]})
    is_removed = key_list.is_among(sql, removed)
    if is_replaced is None or is_removed is None:
        return None
    deleted = target.read(session).where(f"{is_removed} AND {changes.predicate}").count() if removed else 0
    rows = changes.rows.where(is_put).select(*_named(target_columns(target.args)))
    with _ONE_AT_A_TIME, overridden(session, UNCHECKED):
        writer = rows.write.format("delta").mode("overwrite").option("partitionOverwriteMode", "static")
        writer.option("replaceWhere", f"{is_replaced} AND {changes.predicate}").save(str(target.path))
    return Written(sum(row[_IS_PUT] for row in listed), deleted)


def _named(columns: dict[str, Column]) -> list[Column]:
    return [column.alias(name) for name, column in columns.items()]


def _is_same_row(args: ChangeArgs) -> Column:
    """True where a stored row ``t`` and a change ``s`` are about the same row."""
    condition = F.lit(True)
    for key in args.keys:
        condition = condition & (F.col(f"t.{quote(key)}") == F.col(f"s.{KEY}.{quote(key)}"))
    return condition & (F.col(f"t.{START_AT}") == F.col(f"s.{START}")) if args.scd_type == 2 else condition


def _wins(args: ChangeArgs) -> Column:
    """False where the change ties with the stored row, and the stored one is the greater."""
    stored = F.struct(*[F.col(f"t.{quote(name)}").alias(name) for name in args.columns.names])
    is_greater = comparable(F.col(f"s.{ROW}"), args.columns) > comparable(stored, args.columns)
    return (F.col(f"s.{ACTION}") != COMPARE) | is_greater
