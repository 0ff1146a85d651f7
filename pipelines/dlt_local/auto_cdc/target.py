"""The target's Delta table as AUTO CDC writes it: added to, merged into, or written anew."""

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from delta.tables import DeltaTable
from pyspark.sql import Column, DataFrame, DataFrameWriter, Observation, SparkSession
from pyspark.sql import functions as F

from dlt_local import delta_log
from dlt_local.auto_cdc.cache import Cache
from dlt_local.auto_cdc.names import KEY
from dlt_local.names import OWN_PREFIX, quote
from dlt_local.observed import told
from dlt_local.tables import CHANGE_FEED

REWRITTEN_SHARE = 0.25
"""Share of the table's rows from which on a batch writes the table anew: the rows that stay are read by a MERGE as
well, and written by it where a row beside them changes, and a MERGE reads everything twice."""
HELD_IN_MEMORY = 2_000_000
"""Rows of which the keys are held in memory to find them in the table; more are brought together by a sort."""
LARGE = 32 * 1024 * 1024
"""Bytes of a table from which on a MERGE that inserts is too dear: it sorts all rows of the files that it touches."""
_IS_PUT = f"{OWN_PREFIX}is_put"


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
        return self._add(rows.write.option("txnAppId", app).option("txnVersion", number))

    def _add(self, writer: DataFrameWriter) -> int:
        before = delta_log.version(self.path)
        writer.format("delta").mode("append").save(str(self.path))
        after = delta_log.version(self.path)
        if after is None or after == before:
            return 0
        return delta_log.operation_metrics(self.path, after).get("numOutputRows", 0)

    def change(self, difference: Difference, cache: Cache) -> tuple[int, int]:
        """Update, insert and delete rows; (upserted, deleted) rows.

        In one commit, but for keys that are new to a large table, which come with a second one: of each key, and so of
        each row, there is always one state or the next.
        """
        if difference.changes is None and self.is_large_part(difference.rows, difference.values):
            return self._rewrite(difference)
        source = difference.source
        is_large = delta_log.size_in_bytes(self.path) >= LARGE and difference.rows <= HELD_IN_MEMORY
        if not is_large or difference.on:
            return self._merge(source, difference, inserts=True)
        known = cache.compute(self._known_keys(source))
        same_key = [source[KEY][key] == known[quote(key)] for key in self.keys]
        upserted, deleted = self._merge(
            F.broadcast(source.join(F.broadcast(known), same_key, "left_semi")), difference, inserts=False
        )
        new = source.alias("s").join(F.broadcast(known), same_key, "left_anti").where(difference.is_put)
        added = new.select(*[value.alias(name) for name, value in difference.values.items()])
        return upserted + self._add(added.write), deleted

    def _known_keys(self, source: DataFrame) -> DataFrame:
        """The keys of the source that the table has."""
        keys = F.broadcast(source.select(*[F.col(KEY)[key].alias(key) for key in self.keys]))
        stored = self.read(source.sparkSession).select(*map(quote, self.keys))
        return stored.join(keys, list(self.keys), "left_semi")

    def is_large_part(self, rows: int, columns: Collection[str]) -> bool:
        """True where so many rows, which have these columns, are better put into the table by writing it anew."""
        # Written anew, the feed would tell of every row.
        if delta_log.is_marked(self.path, CHANGE_FEED):
            return False
        stored = delta_log.row_count(self.path)
        schema = delta_log.schema(self.path)
        return (
            stored is not None
            and schema is not None
            and set(schema.names) == set(columns)
            and (rows >= REWRITTEN_SHARE * stored)
        )

    def _merge(self, source: DataFrame, difference: Difference, inserts: bool) -> tuple[int, int]:
        table = DeltaTable.forPath(source.sparkSession, str(self.path))
        before = delta_log.version(self.path)
        assignments: dict[str, str | Column] = {quote(name): value for name, value in difference.values.items()}
        merge = (
            table.alias("t")
            .merge(source.alias("s"), self._is_same_row(difference))
            .whenMatchedDelete(~difference.is_put)
            .whenMatchedUpdate(difference.changes, assignments)
        )
        if inserts:
            merge = merge.whenNotMatchedInsert(difference.is_put, assignments)
        merge.execute()
        after = delta_log.version(self.path)
        if after is None or after == before:
            return 0, 0
        metrics = delta_log.operation_metrics(self.path, after)
        upserted = metrics.get("numTargetRowsInserted", 0) + metrics.get("numTargetRowsUpdated", 0)
        return upserted, metrics.get("numTargetRowsDeleted", 0)

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
        return int(told(new)["upserted"]), int(told(old)["deleted"])

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
