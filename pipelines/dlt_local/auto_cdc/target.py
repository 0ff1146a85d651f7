"""The target's Delta table as AUTO CDC writes it: added to, merged into, or written anew."""

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

from delta.tables import DeltaTable
from pyspark.sql import Column, DataFrame, Observation, SparkSession
from pyspark.sql import functions as F

from dlt_local.auto_cdc import key_list
from dlt_local.auto_cdc.names import KEY
from dlt_local.delta import delta_log
from dlt_local.delta.tables import CHANGE_FEED
from dlt_local.names import OWN_PREFIX, quote
from dlt_local.spark.conf_overrides import overridden
from dlt_local.spark.observations import observed_metrics

REWRITTEN_SHARE = 0.25
"""Share of the table's rows from which on a batch writes the table anew: the rows that stay are read by a MERGE as
well, and written by it where a row beside them changes, and a MERGE reads everything twice."""
HELD_IN_MEMORY = 2_000_000
"""Rows of which the keys are held in memory to find them in the table; more are brought together by a sort."""
LARGE = 4 * 1024 * 1024
"""Bytes of a table from which on a MERGE is too dear: it looks through it three times, and where it also inserts, sorts
all rows of the files that it touches."""
_IS_PUT = f"{OWN_PREFIX}is_put"
_IS_NEW = f"{OWN_PREFIX}is_new"
_UNCHECKED = {"spark.databricks.delta.replaceWhere.constraintCheck.enabled": "false"}
"""Delta looks whether what is written meets `replaceWhere`: new keys and ended versions need not."""
_ONE_AT_A_TIME = Lock()
"""Flows that read snapshots share a session: the end of one's setting would be the end of another's."""


@dataclass(frozen=True)
class Difference:
    """How rows of the target are to change.

    ``source`` has one row per row that does, with KEY and all that the columns below need; they call it ``s``, and the
    target's row ``t``.
    """

    source: DataFrame
    rows: int
    """How many rows the source has."""
    on: tuple[Column, ...]
    """Beside the key, what tells the target's row."""
    among: str | None
    """SQL, true for those rows of the target's, among all of the source's keys, that change; None where that cannot be
    told."""
    values: dict[str, Column]
    """The columns to set."""
    is_put: Column
    """False for a row that is to go."""
    is_new: Column
    """True for a row that the target cannot have."""
    changes: Column | None
    """False for a row of the source that is to leave the target's as it is; None where there is no such row."""


@dataclass(frozen=True)
class Target:
    """The target of one flow."""

    path: Path
    keys: tuple[str, ...]

    def read(self, session: SparkSession) -> DataFrame:
        """Its rows."""
        return session.read.format("delta").load(str(self.path))

    def append(self, rows: DataFrame, batch: tuple[str, int]) -> int:
        """Add rows, once for this batch however often it is tried; how many."""
        app, number = batch
        before = delta_log.version(self.path)
        writer = rows.write.format("delta").mode("append")
        writer.option("txnAppId", app).option("txnVersion", number).save(str(self.path))
        after = delta_log.version(self.path)
        if after is None or after == before:
            return 0
        return delta_log.operation_metrics(self.path, after).get("numOutputRows", 0)

    def change(self, difference: Difference) -> tuple[int, int]:
        """Update, insert and delete rows in one commit; (upserted, deleted) rows."""
        if difference.changes is None and self._may_rewrite(difference.values):
            if self._is_large_part(difference.rows):
                return self._rewrite(difference)
            if delta_log.size_in_bytes(self.path) >= LARGE:
                replaced = self._replace(difference)
                if replaced is not None:
                    return replaced
        return self._merge(difference)

    def is_large_part(self, rows: int, columns: Collection[str]) -> bool:
        """True where so many rows, which have these columns, are better put into the table by writing it anew."""
        return self._may_rewrite(columns) and self._is_large_part(rows)

    def _may_rewrite(self, columns: Collection[str]) -> bool:
        """True where rows of these columns can stand for stored ones: of rows put anew the change feed would tell that
        they were deleted and inserted."""
        schema = delta_log.schema(self.path)
        has_feed = delta_log.is_marked(self.path, CHANGE_FEED)
        return schema is not None and set(schema.names) == set(columns) and not has_feed

    def _is_large_part(self, rows: int) -> bool:
        stored = delta_log.row_count(self.path)
        return stored is not None and rows >= REWRITTEN_SHARE * stored

    def _merge(self, difference: Difference) -> tuple[int, int]:
        source = difference.source
        table = DeltaTable.forPath(source.sparkSession, str(self.path))
        before = delta_log.version(self.path)
        assignments: dict[str, str | Column] = {quote(name): value for name, value in difference.values.items()}
        (
            table.alias("t")
            .merge(source.alias("s"), self._is_same_row(difference))
            .whenMatchedDelete(~difference.is_put)
            .whenMatchedUpdate(difference.changes, assignments)
            .whenNotMatchedInsert(difference.is_put, assignments)
            .execute()
        )
        after = delta_log.version(self.path)
        if after is None or after == before:
            return 0, 0
        metrics = delta_log.operation_metrics(self.path, after)
        upserted = metrics.get("numTargetRowsInserted", 0) + metrics.get("numTargetRowsUpdated", 0)
        return upserted, metrics.get("numTargetRowsDeleted", 0)

    def _replace(self, difference: Difference) -> tuple[int, int] | None:
        """The same by a list of the keys, which takes one look through the table; None where they cannot be listed."""
        source = difference.source
        own = source.alias("s")
        keys = own.select(f"s.{KEY}.*", difference.is_put.alias(_IS_PUT), difference.is_new.alias(_IS_NEW))
        told = key_list.told_by({key: keys.schema[key].dataType for key in self.keys})
        if told is None or difference.among is None or difference.rows > key_list.LISTED:
            return None
        listed = keys.select(F.expr(told).alias("key"), _IS_PUT, _IS_NEW).collect()
        removed = {row["key"] for row in listed if not row[_IS_PUT]}
        is_replaced = key_list.is_among(told, {row["key"] for row in listed if not row[_IS_NEW]})
        is_removed = key_list.is_among(told, removed)
        if is_replaced is None or is_removed is None:
            return None
        stored = self.read(source.sparkSession)
        deleted = stored.where(f"{is_removed} AND {difference.among}").count() if removed else 0
        rows = own.where(difference.is_put).select(*[value.alias(name) for name, value in difference.values.items()])
        with _ONE_AT_A_TIME, overridden(source.sparkSession, _UNCHECKED):
            writer = rows.write.format("delta").mode("overwrite").option("partitionOverwriteMode", "static")
            writer.option("replaceWhere", f"{is_replaced} AND {difference.among}").save(str(self.path))
        return sum(row[_IS_PUT] for row in listed), deleted

    def _rewrite(self, difference: Difference) -> tuple[int, int]:
        """The same as one write: the rows that stay, and the source's."""
        old, new = Observation(), Observation()
        own = difference.source.alias("s")
        touched = own.where(~difference.is_new).withColumn(_IS_PUT, difference.is_put)
        if difference.rows <= HELD_IN_MEMORY:
            touched = F.broadcast(touched)
        stays = (
            self.read(own.sparkSession)
            .alias("t")
            .join(touched.alias("s"), self._is_same_row(difference), "left")
            .observe(old, F.count_if(~F.col(_IS_PUT)).alias("deleted"))
            .where(F.col(_IS_PUT).isNull())
            .select(*[F.col(f"t.{quote(name)}") for name in difference.values])
        )
        put = own.where(difference.is_put).observe(new, F.count(F.lit(1)).alias("upserted"))
        rows = stays.unionByName(put.select(*[value.alias(name) for name, value in difference.values.items()]))
        self.overwrite(rows)
        return int(observed_metrics(new)["upserted"]), int(observed_metrics(old)["deleted"])

    def overwrite(self, rows: DataFrame) -> None:
        """Put these rows in place of all others."""
        # Whatever the user's session says: a partition that has lost all its rows is to go too.
        writer = rows.write.format("delta").mode("overwrite").option("partitionOverwriteMode", "static")
        if delta_log.clustering_columns(self.path):
            # A plain overwrite forgets them.
            writer = writer.option("replaceWhere", "true")
        writer.save(str(self.path))

    def _is_same_row(self, difference: Difference) -> Column:
        """True where a row of the target and one of the source are about the same."""
        condition = F.lit(True)
        for key in self.keys:
            condition = condition & (F.col(f"t.{quote(key)}") == F.col(f"s.{KEY}.{quote(key)}"))
        for column in difference.on:
            condition = condition & column
        return condition
