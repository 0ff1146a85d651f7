"""Checks the arguments of an AUTO CDC declaration; conditions are those of Spark, refusals those of Databricks."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NoReturn, cast

from pyspark.sql import Column, DataFrame

from dlt_local.declarations.elements import AutoCdcFlow, ColumnLike, SnapshotCdcFlow, SnapshotSource
from dlt_local.declarations.registry import caller, current
from dlt_local.errors import DeclarationError
from dlt_local.names import parts

Columns = Sequence[ColumnLike] | None
ScdType = int | str
_BOTH_GIVEN = {
    "column_list": "AUTOCDC_BOTH_COLUMN_LIST_AND_EXCEPT_COLUMN_LIST",
    "track_history_column_list": "AUTOCDC_BOTH_TRACK_HISTORY_COLUMN_LIST_AND_TRACK_HISTORY_EXCEPT_COLUMN_LIST",
    "ignore_null_updates_column_list": (
        "AUTOCDC_BOTH_IGNORE_NULL_UPDATES_COLUMN_LIST_AND_IGNORE_NULL_UPDATES_EXCEPT_COLUMN_LIST"
    ),
}
"""Argument of a `ColumnChoice` -> the condition of giving both of its lists."""


@dataclass(frozen=True)
class ColumnChoice:
    """Two arguments that exclude each other: a list of columns to include, or a list of columns to exclude."""

    argument: str
    """The first argument's name, ending in ``column_list``; the second one ends in ``except_column_list``."""
    only: Columns = None
    all_but: Columns = None

    @property
    def except_argument(self) -> str:
        """The second argument's name."""
        return self.argument.replace("column_list", "except_column_list")

    @property
    def is_given(self) -> bool:
        """True if one of the lists is given."""
        return self.only is not None or self.all_but is not None


@dataclass(frozen=True)
class AutoCdcArguments:
    """The arguments of `create_auto_cdc_flow`, `apply_changes` or the SQL statement, as the user gave them."""

    target: str
    source: str
    keys: Sequence[ColumnLike] = ()
    sequence_by: ColumnLike | None = None
    system_sequence_by: ColumnLike | None = None
    where: ColumnLike | None = None
    ignore_null_updates: bool = False
    ignored_columns: ColumnChoice = ColumnChoice("ignore_null_updates_column_list")
    columns_to_update: ColumnLike | None = None
    apply_as_deletes: ColumnLike | None = None
    apply_as_truncates: ColumnLike | None = None
    columns: ColumnChoice = ColumnChoice("column_list")
    stored_as_scd_type: ScdType = "1"
    tracked_columns: ColumnChoice = ColumnChoice("track_history_column_list")
    name: str | None = None
    once: bool = False

    def flow(self) -> AutoCdcFlow:
        """The flow that these arguments declare.

        Raises:
            DeclarationError: an argument is missing, malformed, or excluded by another one.
        """
        check = _Check(self.target)
        scd_type = check.scd_type(self.stored_as_scd_type)
        if self.system_sequence_by is not None:
            message = "`system_sequence_by` belongs to bitemporal targets"
            check.refuse("AUTOCDC_BITEMPORAL_NOT_SUPPORTED", message, "leave it out")
        if not self.source:
            check.refuse("AUTOCDC_MISSING_SOURCE", "`source` names no dataset", "name the dataset with the changes")
        sequence = self._sequence(check)
        if self.apply_as_truncates is not None and scd_type == 2:
            message = "`apply_as_truncates` works only with SCD type 1"
            check.refuse("AUTOCDC_TRUNCATE_NOT_SUPPORTED_FOR_SCD2", message, "store as 1, or leave it out")
        check.exclusive(self.columns)
        check.history(scd_type, self.tracked_columns)
        self._check_null_updates(check)
        target = current().name(self.target)
        to_update = self.columns_to_update
        return AutoCdcFlow(
            name=self.name or str(target),
            target=target,
            location=check.location,
            source=self.source,
            keys=check.keys(self.keys),
            sequence_by=sequence,
            scd_type=scd_type,
            where=self.where,
            apply_as_deletes=self.apply_as_deletes,
            apply_as_truncates=self.apply_as_truncates,
            column_list=check.only(self.columns),
            except_column_list=check.all_but(self.columns),
            track_history_column_list=check.only(self.tracked_columns),
            track_history_except_column_list=check.all_but(self.tracked_columns),
            ignore_null_updates=self.ignore_null_updates,
            ignore_null_updates_column_list=check.only(self.ignored_columns),
            ignore_null_updates_except_column_list=check.all_but(self.ignored_columns),
            columns_to_update=None if to_update is None else check.column("columns_to_update", to_update),
            once=self.once,
        )

    def _sequence(self, check: "_Check") -> ColumnLike:
        given = self.sequence_by
        if given is None or (isinstance(given, str) and not given.strip()):
            fix = "name the column that orders the changes"
            check.refuse("AUTOCDC_MISSING_SEQUENCE_BY", "`sequence_by` is missing", fix)
        return given

    def _check_null_updates(self, check: "_Check") -> None:
        ignored = self.ignored_columns
        check.exclusive(ignored)
        if self.ignore_null_updates and ignored.is_given:
            argument = ignored.argument if ignored.only is not None else ignored.except_argument
            message = f"`ignore_null_updates` and `{argument}` exclude each other"
            check.refuse("AUTOCDC_CONFLICTING_IGNORE_NULL_UPDATES_OPTIONS", message, "keep the list")
        if self.columns_to_update is not None and (self.ignore_null_updates or ignored.is_given):
            message = "`columns_to_update` and `ignore_null_updates` exclude each other"
            check.refuse("AUTOCDC_BOTH_COLUMNS_TO_UPDATE_AND_IGNORE_NULL_UPDATES", message, "keep one of them")


def _one_snapshot(snapshot: DataFrame, version: object) -> Callable[[object], tuple[DataFrame, object] | None]:
    """The source of a single snapshot, which is applied once: versions only grow."""
    return lambda latest: None if latest is not None and cast(Any, latest) >= version else (snapshot, version)


def snapshot_flow(
    target: str,
    source: SnapshotSource | tuple[DataFrame, object],
    keys: Sequence[ColumnLike],
    stored_as_scd_type: ScdType,
    tracked: ColumnChoice,
) -> SnapshotCdcFlow:
    """The snapshot flow that is declared.

    Raises:
        DeclarationError: an argument is missing, malformed, or excluded by another one.
    """
    check = _Check(target)
    scd_type = check.scd_type(stored_as_scd_type)
    if isinstance(source, tuple):
        source = _one_snapshot(*source)
    if not source or not (isinstance(source, str) or callable(source)):
        message = "`source` is neither the name of a dataset nor a function"
        check.refuse("AUTOCDC_MISSING_SOURCE", message, "name a dataset, or give a function that returns snapshots")
    check.history(scd_type, tracked)
    full_target = current().name(target)
    return SnapshotCdcFlow(
        name=str(full_target),
        target=full_target,
        location=check.location,
        source=source,
        keys=check.keys(keys),
        scd_type=scd_type,
        track_history_column_list=check.only(tracked),
        track_history_except_column_list=check.all_but(tracked),
    )


class _Check:
    """Checks the arguments of one declaration; every refusal names its target and location."""

    def __init__(self, target: str) -> None:
        self.location = caller()
        self._target = target
        if not target:
            message = "`target` names no table"
            raise DeclarationError("AUTOCDC_MISSING_TARGET", message, self.location, "name the table that it writes")

    def refuse(self, condition: str, message: str, fix: str) -> NoReturn:
        raise DeclarationError(condition, f"target {self._target}: {message}", self.location, fix)

    def scd_type(self, given: ScdType) -> Literal[1, 2]:
        match str(given).strip().lower():
            case "1":
                return 1
            case "2":
                return 2
            case "bitemporal":
                message = "bitemporal targets are not supported"
                self.refuse("AUTOCDC_BITEMPORAL_NOT_SUPPORTED", message, "store as 1 or 2")
            case _:
                self.refuse("AUTOCDC_UNKNOWN_SCD_TYPE", f"`stored_as_scd_type` is {given!r}", "store as 1 or 2")

    def exclusive(self, choice: ColumnChoice) -> None:
        if choice.only is not None and choice.all_but is not None:
            one, other = choice.argument, choice.except_argument
            self.refuse(_BOTH_GIVEN[one], f"`{one}` and `{other}` exclude each other", "keep one of them")

    def history(self, scd_type: Literal[1, 2], tracked: ColumnChoice) -> None:
        self.exclusive(tracked)
        if scd_type == 1 and tracked.is_given:
            message = "`track_history_column_list` works only with SCD type 2"
            self.refuse("AUTOCDC_TRACK_HISTORY_NOT_SUPPORTED_FOR_SCD1", message, "store as 2, or leave it out")

    def keys(self, given: Sequence[ColumnLike]) -> tuple[str, ...]:
        keys = self._columns("keys", given)
        if not keys:
            self.refuse("AUTOCDC_EMPTY_KEYS", "`keys` is empty", "name the columns of the primary key")
        return keys

    def only(self, choice: ColumnChoice) -> tuple[str, ...] | None:
        return self._columns(choice.argument, choice.only)

    def all_but(self, choice: ColumnChoice) -> tuple[str, ...] | None:
        return self._columns(choice.except_argument, choice.all_but)

    def _columns(self, argument: str, given: Columns) -> tuple[str, ...] | None:
        if given is None:
            return None
        if isinstance(given, str | Column) or not isinstance(given, Sequence):
            message = f"`{argument}` must be a list of columns, got {given!r}"
            self.refuse("AUTOCDC_NOT_A_LIST", message, "put it in brackets")
        names = tuple(self.column(argument, column) for column in given)
        twice = {name for name in names if [n.lower() for n in names].count(name.lower()) > 1}
        if twice:
            message = f"`{argument}` names {', '.join(sorted(twice))} more than once"
            self.refuse("AUTOCDC_DUPLICATE_COLUMN", message, "name each column once; case does not count")
        return names

    def column(self, argument: str, given: ColumnLike) -> str:
        if isinstance(given, Column):
            # Column has no public name, but its text form shows it, in classic Spark and in Spark Connect alike.
            text = re.sub(r"^Column<'(.*)'>$", r"\1", str(given))
            if not re.fullmatch(r"[\w.` -]+", text):
                message = f"`{argument}` holds the expression {text}, not a column"
                self.refuse("AUTOCDC_NON_COLUMN_IDENTIFIER", message, "compute it in a view, and name its column")
        else:
            text = given
        split = parts(text)
        if len(split) > 1:
            message = f"`{argument}` holds {text}, a qualified column or a nested field"
            self.refuse("AUTOCDC_MULTIPART_COLUMN_IDENTIFIER", message, "name a top-level column")
        if not split:
            self.refuse("AUTOCDC_NON_COLUMN_IDENTIFIER", f"`{argument}` holds an empty name", "name a column")
        return split[0]
