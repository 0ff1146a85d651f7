"""A materialized view brought up to its source by the keys that changed, where that is the same and costs less."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from delta.tables import DeltaTable
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from dlt_local.delta import delta_log, tables
from dlt_local.delta.tables import CHANGE_FEED
from dlt_local.names import OWN_PREFIX, quote

LARGE = 64 * 1024 * 1024
"""Bytes of the source from which on a view follows its changes; below, working all of it out anew costs less."""
CHANGED_SHARE = 0.2
"""Share of the view's rows from which on, in keys that changed, it is worked out anew."""
_KEY, _IS_GONE = f"{OWN_PREFIX}key", f"{OWN_PREFIX}is_gone"


@dataclass(frozen=True)
class Followed:
    """The source of a view, and the columns by which the view can be cut."""

    path: Path
    keys: tuple[tuple[str, str], ...]
    """The view's name of each key column, and the source's."""


def is_large(source: Path) -> bool:
    """True where following a source's changes can cost less than working the view out anew."""
    return delta_log.size_in_bytes(source) >= LARGE


def turn_on_feed(session: SparkSession, source: Path) -> None:
    """Let the source tell of its changes from its next commit on, unless it does, or was told not to."""
    if CHANGE_FEED not in delta_log.properties(source):
        tables.turn_on(session, source, CHANGE_FEED)


def changed_keys(session: SparkSession, source: Followed, since: str) -> DataFrame | None:
    """The keys whose rows changed after a state of the source; None where the source does not tell.

    Grain: one row per key, columns named as in the view.

    Args:
        session: which to read with.
        source: of the view.
        since: the state (`delta_log.state`) from which the view was made.
    """
    identity, _, number = since.partition("@")
    is_told = delta_log.is_marked(source.path, CHANGE_FEED, at=int(number) + 1)
    if identity != delta_log.table_id(source.path) or not is_told:
        return None
    feed = session.read.format("delta").option("readChangeFeed", "true").option("startingVersion", int(number) + 1)
    names = [F.col(quote(own)).alias(name) for name, own in source.keys]
    return feed.load(str(source.path)).select(*names).distinct()


def is_large_part(view: Path, keys: int) -> bool:
    """True where so much has changed that the view is better worked out anew."""
    rows = delta_log.row_count(view)
    return rows is not None and keys >= CHANGED_SHARE * rows


def replace(view: Path, rows: DataFrame, keys: DataFrame) -> int:
    """Put the view's rows of the keys in the place of those that it has, in one commit; how many there are now.

    Args:
        view: its Delta table.
        rows: the view's query for those keys.
        keys: the keys.
    """
    names = keys.columns
    key = F.struct(*[F.col(quote(name)).alias(name) for name in names]).alias(_KEY)
    gone = keys.select(key, F.lit(True).alias(_IS_GONE))
    new = rows.select(key, F.lit(False).alias(_IS_GONE), *[F.col(quote(name)) for name in rows.columns])
    source = gone.unionByName(new, allowMissingColumns=True)
    table = DeltaTable.forPath(rows.sparkSession, str(view))
    condition = F.col(f"s.{_IS_GONE}")
    for name in names:
        condition = condition & (F.col(f"t.{quote(name)}") == F.col(f"s.{_KEY}.{quote(name)}"))
    (
        table.alias("t")
        .merge(source.alias("s"), condition)
        .whenMatchedDelete()
        .whenNotMatchedInsert(
            ~F.col(f"s.{_IS_GONE}"), {quote(name): F.col(f"s.{quote(name)}") for name in rows.columns}
        )
        .execute()
    )
    version = delta_log.version(view)
    assert version is not None
    return delta_log.operation_metrics(view, version).get("numTargetRowsInserted", 0)


def keys_of(passed_through_columns: Mapping[str, str], keys: Sequence[str]) -> tuple[tuple[str, str], ...] | None:
    """The view's name of each key of its source; None where it leaves one out."""
    by_own = {own.lower(): name for name, own in passed_through_columns.items()}
    found = [(by_own[key.lower()], key) for key in keys if key.lower() in by_own]
    return tuple(found) if len(found) == len(keys) else None
