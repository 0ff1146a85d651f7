"""Incremental refresh of a materialized view: only the keys that changed in its source are recomputed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from delta.tables import DeltaTable
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from dlt_local.declarations.elements import Table
from dlt_local.delta import delta_log, tables
from dlt_local.delta.commits import latest_commit_rows
from dlt_local.delta.tables import CHANGE_FEED
from dlt_local.delta.wider_types import widens
from dlt_local.flows import expectations
from dlt_local.flows.context import FlowRun
from dlt_local.flows.idleness import fingerprint
from dlt_local.flows.last_update import LastUpdate
from dlt_local.flows.outcomes import FlowMetrics
from dlt_local.graph.key_lineage import passed_through_columns
from dlt_local.names import OWN_PREFIX, quote

LARGE = 64 * 1024 * 1024
"""Bytes of a source from which on its views are refreshed incrementally; below, a full recompute is cheaper."""
CHANGED_SHARE = 0.2
"""Changed keys per row of the view from which on a full recompute is cheaper."""
_KEY, _IS_GONE = f"{OWN_PREFIX}key", f"{OWN_PREFIX}is_gone"


@dataclass(frozen=True)
class KeyedSource:
    """The single source of a view, where a key's rows in the view follow from that key's rows in the source alone."""

    path: Path
    keys: tuple[tuple[str, str], ...]
    """The view's name of each key column, and the source's."""


def keyed_source(run: FlowRun, frame: DataFrame) -> KeyedSource | None:
    """The source by whose changes a view can be refreshed; None where it is small, or has no key that the view keeps.

    Args:
        run: the view's flow.
        frame: its query.
    """
    if len(run.flow.inputs) != 1:
        return None
    (name,) = run.flow.inputs
    path = run.update.path(name)
    if delta_log.size_in_bytes(path) < LARGE:
        return None
    source = run.update.graph[str(name)]
    declared_keys = {flow.changes.keys if flow.changes else None for flow in source.flows}
    keys = declared_keys.pop() if len(declared_keys) == 1 else None
    names = None if keys is None else _names_in_view(passed_through_columns(frame), keys)
    return None if names is None else KeyedSource(path, names)


def refresh(run: FlowRun, table: Table, frame: DataFrame, source: KeyedSource) -> FlowMetrics | None:
    """Recompute the view's rows of the keys that changed since its last update.

    Args:
        run: the view's flow.
        table: the view.
        frame: its query.
        source: from `keyed_source`.

    Returns:
        What was written; None where a full recompute is needed, or cheaper.
    """
    view = run.update.path(table.name)
    since = _refreshed_from(run)
    stored = tables.stored_schema(run.update.session, view)
    if since is None or stored is None or not tables.takes(table, stored, frame.schema, view):
        return None
    changed = _changed_keys(run.update.session, source, since)
    if changed is None:
        return None
    # Read twice: to count them, and to merge.
    keys = changed.localCheckpoint()
    count = keys.count()
    if _is_large_share(view, count):
        return None
    if not count:
        return FlowMetrics()
    rows = expectations.checked(frame.join(keys, keys.columns, "left_semi").select(frame.columns), table)
    _replace(view, rows.frame, keys)
    inserted = latest_commit_rows(view, "numTargetRowsInserted")
    return FlowMetrics(num_output_rows=inserted, batches=1) + rows.metrics()


def turn_on_change_feed(session: SparkSession, source: Path) -> None:
    """Let the source record its changes from its next commit on, unless its declaration has decided about that."""
    if CHANGE_FEED not in delta_log.properties(source):
        tables.turn_on(session, source, CHANGE_FEED)


def _refreshed_from(run: FlowRun) -> str | None:
    """The source's state from which the same query made the view's present rows; None where that is not known."""
    last = LastUpdate.read(run.update.storage.progress(run.node.name))
    current = fingerprint(run.node)
    states = tuple((last.inputs or {}).values())
    return states[0] if current is not None and last.fingerprint == current and len(states) == 1 else None


def _changed_keys(session: SparkSession, source: KeyedSource, since: str) -> DataFrame | None:
    """The keys whose rows changed after a state of the source; None where the source has not recorded that.

    Grain: one row per key, columns named as in the view.

    Args:
        session: which to read with.
        source: of the view.
        since: a state (`delta_log.state`) of the source.
    """
    identity, _, version = since.partition("@")
    first = int(version) + 1
    if identity != delta_log.table_id(source.path) or not delta_log.is_marked(source.path, CHANGE_FEED, at=first):
        return None
    then, now = delta_log.schema(source.path, at=int(version)), delta_log.schema(source.path)
    if then is None or now is None or widens(now, then):
        # Delta reads no change feed from before a column got a wider type.
        return None
    feed = session.read.format("delta").option("readChangeFeed", "true").option("startingVersion", first)
    names = [F.col(quote(in_source)).alias(in_view) for in_view, in_source in source.keys]
    return feed.load(str(source.path)).select(*names).distinct()


def _is_large_share(view: Path, keys: int) -> bool:
    rows = delta_log.row_count(view)
    return rows is not None and keys >= CHANGED_SHARE * rows


def _replace(view: Path, rows: DataFrame, keys: DataFrame) -> None:
    """Replace the view's rows of some keys in one commit.

    Args:
        view: its Delta table.
        rows: the view's query for those keys.
        keys: the keys, one row each.
    """
    names = keys.columns
    key = F.struct(*[F.col(quote(name)).alias(name) for name in names]).alias(_KEY)
    gone = keys.select(key, F.lit(True).alias(_IS_GONE))
    new = rows.select(key, F.lit(False).alias(_IS_GONE), *[F.col(quote(name)) for name in rows.columns])
    source = gone.unionByName(new, allowMissingColumns=True)
    # Old rows match the entry of their key alone; new rows match nothing, and are inserted.
    condition = F.col(f"s.{_IS_GONE}")
    for name in names:
        condition = condition & (F.col(f"t.{quote(name)}") == F.col(f"s.{_KEY}.{quote(name)}"))
    values: dict[str, str | Column] = {quote(name): F.col(f"s.{quote(name)}") for name in rows.columns}
    merge = DeltaTable.forPath(rows.sparkSession, str(view)).alias("t").merge(source.alias("s"), condition)
    merge.whenMatchedDelete().whenNotMatchedInsert(~F.col(f"s.{_IS_GONE}"), values).execute()


def _names_in_view(passed_through: Mapping[str, str], keys: Sequence[str]) -> tuple[tuple[str, str], ...] | None:
    """The view's name of each key column of its source; None where it leaves one out."""
    by_source = {in_source.lower(): in_view for in_view, in_source in passed_through.items()}
    names = [(by_source[key.lower()], key) for key in keys if key.lower() in by_source]
    return tuple(names) if len(names) == len(keys) else None
