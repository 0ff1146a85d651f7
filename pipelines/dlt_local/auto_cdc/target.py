"""The target's Delta table as AUTO CDC writes it: added to, merged into, or written anew."""

from dataclasses import dataclass
from pathlib import Path

from delta.tables import DeltaTable
from pyspark.sql import Column, DataFrame, Observation, SparkSession
from pyspark.sql import functions as F

from dlt_local import delta_log
from dlt_local.auto_cdc.names import KEY
from dlt_local.names import OWN_PREFIX, quote
from dlt_local.tables import CHANGE_FEED

REWRITTEN_SHARE = 0.5
"""Share of the table's rows from which on a batch writes the table anew: the rows that stay are read by a MERGE as
well, and written by it where a row beside them changes, and a MERGE reads everything twice."""
_IS_STORED = f"{OWN_PREFIX}is_stored"


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
    values: dict[str, Column]
    """The columns to set."""
    is_put: Column
    """False for a row that is to go."""
    changes: Column
    """False for a row of the source that is to leave the target's as it is."""


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
        writer = rows.write.format("delta").mode("append").option("txnAppId", app).option("txnVersion", number)
        writer.save(str(self.path))
        after = delta_log.version(self.path)
        if after is None or after == before:
            return 0
        return delta_log.operation_metrics(self.path, after).get("numOutputRows", 0)

    def change(self, difference: Difference) -> tuple[int, int]:
        """Update, insert and delete rows in one commit; (upserted, deleted) rows."""
        return self._rewrite(difference) if self._is_large_part(difference) else self._merge(difference)

    def _is_large_part(self, difference: Difference) -> bool:
        if delta_log.is_marked(self.path, CHANGE_FEED):
            # Written anew, the feed would tell of every row.
            return False
        rows = delta_log.row_count(self.path)
        schema = delta_log.schema(self.path)
        if rows is None or schema is None or set(schema.names) != set(difference.values):
            return False
        return difference.rows >= REWRITTEN_SHARE * rows

    def _merge(self, difference: Difference) -> tuple[int, int]:
        keys = [F.col(f"t.{quote(key)}") == F.col(f"s.{KEY}.{quote(key)}") for key in self.keys]
        table = DeltaTable.forPath(difference.source.sparkSession, str(self.path))
        before = delta_log.version(self.path)
        assignments: dict[str, str | Column] = {quote(name): value for name, value in difference.values.items()}
        (
            table.alias("t")
            .merge(difference.source.alias("s"), _all([*keys, *difference.on]))
            .whenMatchedDelete(~difference.is_put)
            .whenMatchedUpdate(difference.changes, assignments)
            .whenNotMatchedInsert(difference.is_put, assignments)
            .execute()
        )
        after = delta_log.version(self.path)
        if after is None or after == before:
            return 0, 0
        told = delta_log.operation_metrics(self.path, after)
        upserted = told.get("numTargetRowsInserted", 0) + told.get("numTargetRowsUpdated", 0)
        return upserted, told.get("numTargetRowsDeleted", 0)

    def _rewrite(self, difference: Difference) -> tuple[int, int]:
        """The same as one join and one write. The keys are compared as one struct, by which the source lies already."""
        stored = self.read(difference.source.sparkSession).withColumn(_IS_STORED, F.lit(True))
        key = F.struct(*[F.col(f"t.{quote(name)}").alias(name) for name in self.keys])
        condition = _all([key == F.col(f"s.{KEY}"), *difference.on])
        joined = stored.alias("t").join(difference.source.alias("s"), condition, "full_outer")
        is_own, is_stored = F.col(f"s.{KEY}").isNotNull(), F.col(f"t.{_IS_STORED}").isNotNull()
        is_set = is_own & difference.is_put & (~is_stored | F.coalesce(difference.changes, F.lit(False)))
        counts = Observation()
        rows = (
            joined.observe(
                counts,
                F.count_if(is_set).alias("upserted"),
                F.count_if(is_own & ~difference.is_put & is_stored).alias("deleted"),
            )
            .where(~is_own | difference.is_put)
            .select(
                *[
                    F.when(is_set, value).otherwise(F.col(f"t.{quote(name)}")).alias(name)
                    for name, value in difference.values.items()
                ]
            )
        )
        # Whatever the user's session says: a partition that has lost all its rows is to go too.
        writer = rows.write.format("delta").mode("overwrite").option("partitionOverwriteMode", "static")
        if delta_log.clustering_columns(self.path):
            # A plain overwrite forgets them.
            writer = writer.option("replaceWhere", "true")
        writer.save(str(self.path))
        told = counts.get
        return int(told["upserted"]), int(told["deleted"])


def _all(conditions: list[Column]) -> Column:
    whole = conditions[0]
    for condition in conditions[1:]:
        whole = whole & condition
    return whole
