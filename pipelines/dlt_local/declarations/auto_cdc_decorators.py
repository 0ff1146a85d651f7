"""AUTO CDC as source files declare it: `create_auto_cdc_flow`, `apply_changes` and their snapshot forms.

What Databricks refuses when declared is refused here when declared, under the names of Spark's own conditions.
"""

import re
from collections.abc import Callable, Sequence
from typing import Literal

from pyspark.sql import Column, DataFrame

from dlt_local.declarations.elements import AutoCdcFlow, ColumnLike, SnapshotCdcFlow, SnapshotSource
from dlt_local.declarations.registry import caller, current
from dlt_local.errors import DeclarationError
from dlt_local.names import parts

__all__ = [
    "apply_changes",
    "apply_changes_from_snapshot",
    "create_auto_cdc_flow",
    "create_auto_cdc_from_snapshot_flow",
]

_Columns = Sequence[ColumnLike] | None
_ScdType = int | str


def create_auto_cdc_flow(
    target: str,
    source: str,
    keys: Sequence[ColumnLike],
    sequence_by: ColumnLike,
    system_sequence_by: ColumnLike | None = None,
    ignore_null_updates: bool = False,
    ignore_null_updates_column_list: _Columns = None,
    ignore_null_updates_except_column_list: _Columns = None,
    columns_to_update: ColumnLike | None = None,
    apply_as_deletes: ColumnLike | None = None,
    apply_as_truncates: ColumnLike | None = None,
    column_list: _Columns = None,
    except_column_list: _Columns = None,
    stored_as_scd_type: _ScdType = "1",
    track_history_column_list: _Columns = None,
    track_history_except_column_list: _Columns = None,
    name: str | None = None,
    once: bool = False,
) -> None:
    """Declare a flow that applies a stream of changes to a streaming table.

    Args:
        target: a table declared by `create_streaming_table`.
        source: the dataset that streams the changes; rows are only ever added to it.
        keys: the columns that tell one row of the target from another; never null.
        sequence_by: what orders the changes of a key: a column, an SQL expression or a struct; never null.
        system_sequence_by: bitemporal only, hence refused.
        ignore_null_updates: a null in a change leaves the stored value as it is.
        ignore_null_updates_column_list: the same for these columns only.
        ignore_null_updates_except_column_list: the same for all columns but these.
        columns_to_update: the column that holds, per change, the names of the columns to set.
        apply_as_deletes: the condition under which a change deletes; null means it does not.
        apply_as_truncates: the condition under which a change removes all older rows (SCD type 1 only).
        column_list: the columns that the target has.
        except_column_list: the columns that the target has not.
        stored_as_scd_type: 1 keeps the current row, 2 every version with __START_AT and __END_AT.
        track_history_column_list: the columns whose change opens a version.
        track_history_except_column_list: the columns whose change opens none.
        name: the flow's name, by default the target's.
        once: run one time in the target's life (again after a full refresh).

    Raises:
        DeclarationError: what Databricks refuses, with its condition, the declaration's file and line and the fix.
    """
    registry = current()
    check = _Check(target)
    scd_type = check.scd_type(stored_as_scd_type)
    if system_sequence_by is not None:
        check.refuse("AUTOCDC_BITEMPORAL_NOT_SUPPORTED", "`system_sequence_by` belongs to bitemporal targets")
    if not source:
        check.refuse("AUTOCDC_MISSING_SOURCE", "`source` names no dataset")
    if sequence_by is None or (isinstance(sequence_by, str) and not sequence_by.strip()):
        check.refuse("AUTOCDC_MISSING_SEQUENCE_BY", "`sequence_by` is not given", "say which column orders the changes")
    if apply_as_truncates is not None and scd_type == 2:
        message = "`apply_as_truncates` works with SCD type 1 only"
        check.refuse("AUTOCDC_TRUNCATE_NOT_SUPPORTED_FOR_SCD2", message)
    check.one_of(column_list=column_list, except_column_list=except_column_list)
    check.history(scd_type, track_history_column_list, track_history_except_column_list)
    check.one_of(
        ignore_null_updates_column_list=ignore_null_updates_column_list,
        ignore_null_updates_except_column_list=ignore_null_updates_except_column_list,
    )
    lists = {
        "ignore_null_updates_column_list": ignore_null_updates_column_list,
        "ignore_null_updates_except_column_list": ignore_null_updates_except_column_list,
    }
    for argument, given in lists.items():
        if ignore_null_updates and given is not None:
            message = f"`ignore_null_updates` and `{argument}` exclude each other"
            check.refuse("AUTOCDC_CONFLICTING_IGNORE_NULL_UPDATES_OPTIONS", message, "keep the list")
    some_ignore = ignore_null_updates_column_list is not None or ignore_null_updates_except_column_list is not None
    if columns_to_update is not None and (ignore_null_updates or some_ignore):
        message = "`columns_to_update` and `ignore_null_updates` exclude each other"
        check.refuse("AUTOCDC_BOTH_COLUMNS_TO_UPDATE_AND_IGNORE_NULL_UPDATES", message, "keep one of them")
    registry.add_flow(
        AutoCdcFlow(
            name=name or str(registry.name(target)),
            target=registry.name(target),
            location=check.location,
            source=source,
            keys=check.keys(keys),
            sequence_by=sequence_by,
            scd_type=scd_type,
            apply_as_deletes=apply_as_deletes,
            apply_as_truncates=apply_as_truncates,
            column_list=check.columns("column_list", column_list),
            except_column_list=check.columns("except_column_list", except_column_list),
            track_history_column_list=check.columns("track_history_column_list", track_history_column_list),
            track_history_except_column_list=check.columns(
                "track_history_except_column_list", track_history_except_column_list
            ),
            ignore_null_updates=ignore_null_updates,
            ignore_null_updates_column_list=check.columns(
                "ignore_null_updates_column_list", ignore_null_updates_column_list
            ),
            ignore_null_updates_except_column_list=check.columns(
                "ignore_null_updates_except_column_list", ignore_null_updates_except_column_list
            ),
            columns_to_update=None
            if columns_to_update is None
            else check.column("columns_to_update", columns_to_update),
            once=once,
        )
    )


def apply_changes(
    target: str,
    source: str,
    keys: Sequence[ColumnLike],
    sequence_by: ColumnLike,
    where: ColumnLike | None = None,
    ignore_null_updates: bool = False,
    apply_as_deletes: ColumnLike | None = None,
    apply_as_truncates: ColumnLike | None = None,
    column_list: _Columns = None,
    except_column_list: _Columns = None,
    stored_as_scd_type: _ScdType = "1",
    track_history_column_list: _Columns = None,
    track_history_except_column_list: _Columns = None,
    flow_name: str | None = None,
    once: bool = False,
    ignore_null_updates_column_list: _Columns = None,
    ignore_null_updates_except_column_list: _Columns = None,
    columns_to_update: ColumnLike | None = None,
    name: str | None = None,
) -> None:
    """The older form of `create_auto_cdc_flow`: the same, with ``where`` (which changes to take) and ``flow_name``."""
    create_auto_cdc_flow(
        target=target,
        source=source,
        keys=keys,
        sequence_by=sequence_by,
        ignore_null_updates=ignore_null_updates,
        ignore_null_updates_column_list=ignore_null_updates_column_list,
        ignore_null_updates_except_column_list=ignore_null_updates_except_column_list,
        columns_to_update=columns_to_update,
        apply_as_deletes=apply_as_deletes,
        apply_as_truncates=apply_as_truncates,
        column_list=column_list,
        except_column_list=except_column_list,
        stored_as_scd_type=stored_as_scd_type,
        track_history_column_list=track_history_column_list,
        track_history_except_column_list=track_history_except_column_list,
        name=flow_name or name,
        once=once,
    )
    if where is not None:
        current().restrict_last_flow(where)


def create_auto_cdc_from_snapshot_flow(
    target: str,
    source: SnapshotSource,
    keys: Sequence[ColumnLike],
    stored_as_scd_type: _ScdType,
    track_history_column_list: _Columns = None,
    track_history_except_column_list: _Columns = None,
) -> None:
    """Declare a flow that finds the changes by comparing whole snapshots with its target.

    Args:
        target: a table declared by `create_streaming_table`.
        source: a dataset, read once an update; or a function from the latest version applied (None at first)
            to the next (snapshot, version), or None when there is no newer one.
        keys: the columns that tell one row from another; each occurs once in a snapshot.
        stored_as_scd_type: 1 or 2.
        track_history_column_list: the columns whose change opens a version.
        track_history_except_column_list: the columns whose change opens none.

    Raises:
        DeclarationError: what Databricks refuses.
    """
    registry = current()
    check = _Check(target)
    scd_type = check.scd_type(stored_as_scd_type)
    if not source or not (isinstance(source, str) or callable(source)):
        check.refuse("AUTOCDC_MISSING_SOURCE", "`source` is neither a dataset's name nor a function")
    check.history(scd_type, track_history_column_list, track_history_except_column_list)
    registry.add_flow(
        SnapshotCdcFlow(
            name=str(registry.name(target)),
            target=registry.name(target),
            location=check.location,
            source=source,
            keys=check.keys(keys),
            scd_type=scd_type,
            track_history_column_list=check.columns("track_history_column_list", track_history_column_list),
            track_history_except_column_list=check.columns(
                "track_history_except_column_list", track_history_except_column_list
            ),
        )
    )


def apply_changes_from_snapshot(
    target: str,
    source: SnapshotSource | None = None,
    keys: Sequence[ColumnLike] | None = None,
    stored_as_scd_type: _ScdType | None = None,
    snapshot_and_version: Callable[[object], tuple[DataFrame, object] | None] | None = None,
    track_history_column_list: _Columns = None,
    track_history_except_column_list: _Columns = None,
) -> None:
    """The older form of `create_auto_cdc_from_snapshot_flow`; ``snapshot_and_version`` is a function as ``source``."""
    create_auto_cdc_from_snapshot_flow(
        target=target,
        source=source or snapshot_and_version or "",
        keys=keys or (),
        stored_as_scd_type="1" if stored_as_scd_type is None else stored_as_scd_type,
        track_history_column_list=track_history_column_list,
        track_history_except_column_list=track_history_except_column_list,
    )


class _Check:
    """Checks one declaration; every refusal carries its place."""

    def __init__(self, target: str) -> None:
        self.location = caller()
        self._target = target
        if not target:
            self.refuse("AUTOCDC_MISSING_TARGET", "`target` names no table")

    def refuse(self, condition: str, message: str, fix: str = "") -> None:
        raise DeclarationError(condition, f"target {self._target}: {message}", self.location, fix)

    def scd_type(self, given: _ScdType) -> Literal[1, 2]:
        text = str(given).strip().lower()
        if text == "1":
            return 1
        if text == "2":
            return 2
        if text == "bitemporal":
            self.refuse("AUTOCDC_BITEMPORAL_NOT_SUPPORTED", "bitemporal targets are not supported", "store as 1 or 2")
        message = f"`stored_as_scd_type` is {given!r}"
        self.refuse("AUTOCDC_UNKNOWN_SCD_TYPE", message, "store as 1 or 2")
        raise AssertionError(message)

    def one_of(self, **pair: _Columns) -> None:
        if all(columns is not None for columns in pair.values()):
            one, other = pair
            condition = f"AUTOCDC_BOTH_{one.upper()}_AND_{other.upper()}"
            self.refuse(condition, f"`{one}` and `{other}` exclude each other", "keep one of them")

    def history(self, scd_type: int, tracked: _Columns, not_tracked: _Columns) -> None:
        self.one_of(track_history_column_list=tracked, track_history_except_column_list=not_tracked)
        if scd_type == 1 and (tracked is not None or not_tracked is not None):
            message = "`track_history_column_list` works with SCD type 2 only"
            self.refuse("AUTOCDC_TRACK_HISTORY_NOT_SUPPORTED_FOR_SCD1", message, "store as 2, or leave it out")

    def keys(self, given: Sequence[ColumnLike]) -> tuple[str, ...]:
        keys = self.columns("keys", given)
        if not keys:
            self.refuse("AUTOCDC_EMPTY_KEYS", "`keys` is empty", "name the columns of the primary key")
        return keys or ()

    def columns(self, argument: str, given: _Columns) -> tuple[str, ...] | None:
        if given is None:
            return None
        if isinstance(given, str | Column) or not isinstance(given, Sequence):
            self.refuse("AUTOCDC_NOT_A_LIST", f"`{argument}` is to be a list of columns, it is {given!r}")
        names = tuple(self.column(argument, column) for column in given)
        twice = {name for name in names if [n.lower() for n in names].count(name.lower()) > 1}
        if twice:
            self.refuse("AUTOCDC_DUPLICATE_COLUMN", f"`{argument}` names {', '.join(sorted(twice))} more than once")
        return names

    def column(self, argument: str, given: ColumnLike) -> str:
        if isinstance(given, Column):
            # A Column does not give its name; its text form does, alike in classic Spark and Spark Connect.
            text = re.sub(r"^Column<'(.*)'>$", r"\1", str(given))
            if not re.fullmatch(r"[\w.` -]+", text):
                self.refuse("AUTOCDC_NON_COLUMN_IDENTIFIER", f"`{argument}` holds the expression {text}, not a column")
        else:
            text = given
        split = parts(text)
        if len(split) > 1:
            message = f"`{argument}` holds {text}, a column with a qualifier or a nested field"
            self.refuse("AUTOCDC_MULTIPART_COLUMN_IDENTIFIER", message, "name a top-level column")
        if not split:
            self.refuse("AUTOCDC_NON_COLUMN_IDENTIFIER", f"`{argument}` holds an empty name")
        return split[0]
