"""`create_auto_cdc_flow`, `apply_changes` and their snapshot forms, as source files call them."""

from collections.abc import Sequence

from pyspark.sql import DataFrame

from dlt_local.declarations.auto_cdc_checks import AutoCdcArguments, ColumnChoice, Columns, ScdType, snapshot_flow
from dlt_local.declarations.elements import ColumnLike, SnapshotSource
from dlt_local.declarations.registry import current


def create_auto_cdc_flow(
    target: str,
    source: str,
    keys: Sequence[ColumnLike],
    sequence_by: ColumnLike,
    system_sequence_by: ColumnLike | None = None,
    ignore_null_updates: bool = False,
    ignore_null_updates_column_list: Columns = None,
    ignore_null_updates_except_column_list: Columns = None,
    columns_to_update: ColumnLike | None = None,
    apply_as_deletes: ColumnLike | None = None,
    apply_as_truncates: ColumnLike | None = None,
    column_list: Columns = None,
    except_column_list: Columns = None,
    stored_as_scd_type: ScdType = "1",
    track_history_column_list: Columns = None,
    track_history_except_column_list: Columns = None,
    name: str | None = None,
    once: bool = False,
) -> None:
    """Declare a flow that applies a stream of changes to a streaming table.

    Args:
        target: a table declared by `create_streaming_table`.
        source: the dataset that streams the changes; it must be append-only.
        keys: the columns that identify a row of the target; never null.
        sequence_by: the order of a key's changes: a column, an SQL expression or a struct; never null.
        system_sequence_by: for bitemporal targets only, hence refused.
        ignore_null_updates: a null in a change leaves the stored value as it is.
        ignore_null_updates_column_list: the same for these columns only.
        ignore_null_updates_except_column_list: the same for all columns except these.
        columns_to_update: the column that lists, for each change, the columns it sets.
        apply_as_deletes: the condition under which a change deletes its row; null counts as false.
        apply_as_truncates: the condition under which a change deletes all older rows (SCD type 1 only).
        column_list: the columns to store in the target.
        except_column_list: the columns to leave out of the target.
        stored_as_scd_type: 1 keeps the current row, 2 every version with __START_AT and __END_AT.
        track_history_column_list: the columns whose change starts a new version.
        track_history_except_column_list: the columns whose change does not start a new version.
        name: the flow's name, by default the target's.
        once: run once in the target's life (again after a full refresh).

    Raises:
        DeclarationError: what Databricks refuses, with its condition, the declaration's file and line, and the fix.
    """
    arguments = AutoCdcArguments(
        target=target,
        source=source,
        keys=keys,
        sequence_by=sequence_by,
        system_sequence_by=system_sequence_by,
        ignore_null_updates=ignore_null_updates,
        ignored_columns=_ignored(ignore_null_updates_column_list, ignore_null_updates_except_column_list),
        columns_to_update=columns_to_update,
        apply_as_deletes=apply_as_deletes,
        apply_as_truncates=apply_as_truncates,
        columns=_columns(column_list, except_column_list),
        stored_as_scd_type=stored_as_scd_type,
        tracked_columns=_tracked(track_history_column_list, track_history_except_column_list),
        name=name,
        once=once,
    )
    current().add_flow(arguments.flow())


def apply_changes(
    target: str,
    source: str,
    keys: Sequence[ColumnLike],
    sequence_by: ColumnLike,
    where: ColumnLike | None = None,
    ignore_null_updates: bool = False,
    apply_as_deletes: ColumnLike | None = None,
    apply_as_truncates: ColumnLike | None = None,
    column_list: Columns = None,
    except_column_list: Columns = None,
    stored_as_scd_type: ScdType = "1",
    track_history_column_list: Columns = None,
    track_history_except_column_list: Columns = None,
    flow_name: str | None = None,
    once: bool = False,
    ignore_null_updates_column_list: Columns = None,
    ignore_null_updates_except_column_list: Columns = None,
    columns_to_update: ColumnLike | None = None,
    name: str | None = None,
) -> None:
    """The older form of `create_auto_cdc_flow`, with two more arguments.

    ``where`` is a condition on the source's rows: a change is applied only if it holds. ``flow_name`` is ``name``.
    """
    arguments = AutoCdcArguments(
        target=target,
        source=source,
        keys=keys,
        sequence_by=sequence_by,
        where=where,
        ignore_null_updates=ignore_null_updates,
        ignored_columns=_ignored(ignore_null_updates_column_list, ignore_null_updates_except_column_list),
        columns_to_update=columns_to_update,
        apply_as_deletes=apply_as_deletes,
        apply_as_truncates=apply_as_truncates,
        columns=_columns(column_list, except_column_list),
        stored_as_scd_type=stored_as_scd_type,
        tracked_columns=_tracked(track_history_column_list, track_history_except_column_list),
        name=flow_name or name,
        once=once,
    )
    current().add_flow(arguments.flow())


def create_auto_cdc_from_snapshot_flow(
    target: str,
    source: SnapshotSource | tuple[DataFrame, object],
    keys: Sequence[ColumnLike],
    stored_as_scd_type: ScdType,
    track_history_column_list: Columns = None,
    track_history_except_column_list: Columns = None,
) -> None:
    """Declare a flow that compares full snapshots with its target and applies the differences.

    Args:
        target: a table declared by `create_streaming_table`.
        source: a dataset, read once per update; or a function from the latest version applied (None at first)
            to the next (snapshot, version), or None when there is no newer one.
        keys: the columns that identify a row; unique within a snapshot.
        stored_as_scd_type: 1 or 2.
        track_history_column_list: the columns whose change starts a new version.
        track_history_except_column_list: the columns whose change does not start a new version.

    Raises:
        DeclarationError: what Databricks refuses.
    """
    tracked = _tracked(track_history_column_list, track_history_except_column_list)
    current().add_flow(snapshot_flow(target, source, keys, stored_as_scd_type, tracked))


def apply_changes_from_snapshot(
    target: str,
    source: SnapshotSource | tuple[DataFrame, object] | None = None,
    keys: Sequence[ColumnLike] | None = None,
    stored_as_scd_type: ScdType | None = None,
    snapshot_and_version: SnapshotSource | tuple[DataFrame, object] | None = None,
    track_history_column_list: Columns = None,
    track_history_except_column_list: Columns = None,
) -> None:
    """The older form of `create_auto_cdc_from_snapshot_flow`.

    ``snapshot_and_version`` is a function as ``source``, or one snapshot with its version.
    """
    create_auto_cdc_from_snapshot_flow(
        target=target,
        source=source or snapshot_and_version or "",
        keys=keys or (),
        stored_as_scd_type="1" if stored_as_scd_type is None else stored_as_scd_type,
        track_history_column_list=track_history_column_list,
        track_history_except_column_list=track_history_except_column_list,
    )


def _columns(only: Columns, all_but: Columns) -> ColumnChoice:
    return ColumnChoice("column_list", only, all_but)


def _tracked(only: Columns, all_but: Columns) -> ColumnChoice:
    return ColumnChoice("track_history_column_list", only, all_but)


def _ignored(only: Columns, all_but: Columns) -> ColumnChoice:
    return ColumnChoice("ignore_null_updates_column_list", only, all_but)
