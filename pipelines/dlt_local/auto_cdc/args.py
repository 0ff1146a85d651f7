"""The arguments of one AUTO CDC flow, validated once against its source's columns."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import DataType, MapType, StructField, StructType, VariantType

from dlt_local.auto_cdc.names import VERSION
from dlt_local.declarations.elements import AutoCdcFlow, ColumnLike
from dlt_local.errors import DeclarationError, did_you_mean
from dlt_local.names import END_AT, RESERVED_PREFIXES, START_AT, TableName, quote


@dataclass(frozen=True)
class ChangeArgs:
    """How one flow's rows become events, and how events become the target's rows."""

    flow: str
    target: TableName
    keys: tuple[str, ...]
    """Key columns as the source spells them."""
    source_columns: StructType
    """The columns that this flow gives the target, in the source's order."""
    columns: StructType
    """The columns of an event's row. SCD type 1: those of the source, so an update leaves other columns alone.
    SCD type 2: all of the target, because a version may have to be rewritten; columns not in the source are null."""
    sequence_type: DataType
    scd_type: Literal[1, 2]
    tracked: tuple[str, ...]
    """SCD type 2: the columns whose change opens a version."""
    tracks_by_default: bool
    ignore_null: tuple[str, ...]
    """Columns in which a null in an event leaves the stored value."""
    columns_to_update: str | None
    sequence_by: ColumnLike
    where: ColumnLike | None
    apply_as_deletes: ColumnLike | None
    apply_as_truncates: ColumnLike | None

    @property
    def is_partial(self) -> bool:
        """True if an event need not set every column, so values of older events show through."""
        return bool(self.ignore_null) or self.columns_to_update is not None

    @property
    def is_latest(self) -> bool:
        """True if only the last event of each key counts: SCD type 1 with whole rows."""
        return self.scd_type == 1 and not self.is_partial

    @property
    def is_of_snapshots(self) -> bool:
        """True for a flow whose changes come from comparing snapshots with the target."""
        return isinstance(self.sequence_by, str) and self.sequence_by == quote(VERSION)

    @property
    def tracks_whole_rows(self) -> bool:
        """True for SCD type 2 where every event has the whole row and every column but the keys is tracked."""
        tracked = {name.lower() for name in (*self.keys, *self.tracked)}
        return self.scd_type == 2 and not self.is_partial and tracked >= {name.lower() for name in self.columns.names}

    @property
    def target_schema(self) -> StructType:
        """The target's columns; for SCD type 2 the interval comes last."""
        columns = [StructField(field.name, field.dataType, True) for field in self.columns.fields]
        if self.scd_type == 2:
            columns += [StructField(START_AT, self.sequence_type), StructField(END_AT, self.sequence_type)]
        return StructType(columns)


def resolve(flow: AutoCdcFlow, source: DataFrame) -> ChangeArgs:
    """Check a flow against the columns of its source.

    Raises:
        DeclarationError: a column that does not exist, a key left out of the target, a sequence that cannot be
            ordered, a reserved name: every condition under Spark's name for it.
    """
    check = _Check(flow, source)
    if flow.where is not None:
        check.analyse("where", flow.where)
    keys = check.existing("keys", flow.keys) or ()
    names = _selected(check, flow)
    for key in keys:
        if key not in names:
            check.refuse(
                "AUTOCDC_KEY_NOT_IN_SELECTED_SCHEMA",
                f"key `{key}` is not among the target's columns",
                "put it into column_list, or out of except_column_list",
            )
    check.reserved(names)
    sequence = check.analyse("sequence_by", flow.sequence_by)
    if not _orderable(sequence):
        message = f"sequence_by is of type {sequence.simpleString()}, which has no order"
        check.refuse("AUTOCDC_MICROBATCH_VALIDATION.NON_ORDERABLE_SEQUENCE", message, "order by another column")
    for argument in ("apply_as_deletes", "apply_as_truncates"):
        condition = getattr(flow, argument)
        if condition is not None and check.analyse(argument, condition).simpleString() not in (
            "boolean",
            "void",
        ):
            check.refuse(
                "AUTOCDC_NON_BOOLEAN_CONDITION",
                f"`{argument}` is not a condition: it is neither true nor false",
                "write a comparison, such as \"op = 'd'\"",
            )
    to_update = check.existing("columns_to_update", (flow.columns_to_update,)) if flow.columns_to_update else None
    not_keys = tuple(name for name in names if name not in keys)
    selected = StructType([field for field in source.schema.fields if field.name in names])
    return ChangeArgs(
        flow=flow.name,
        target=flow.target,
        keys=keys,
        source_columns=selected,
        columns=selected,
        sequence_type=sequence,
        scd_type=flow.scd_type,
        tracked=_tracked(check, flow, not_keys),
        tracks_by_default=flow.track_history_column_list is None and flow.track_history_except_column_list is None,
        ignore_null=_ignore_null(check, flow, not_keys),
        columns_to_update=to_update[0] if to_update else None,
        sequence_by=flow.sequence_by,
        where=flow.where,
        apply_as_deletes=flow.apply_as_deletes,
        apply_as_truncates=flow.apply_as_truncates,
    )


def for_target(args: ChangeArgs, target: StructType) -> ChangeArgs:
    """The same flow with its target's columns, which other flows and earlier updates may have added to."""
    if args.scd_type == 1:
        return args
    columns = StructType([field for field in target.fields if field.name not in (START_AT, END_AT)])
    keys = {key.lower() for key in args.keys}
    tracked = args.tracked
    if args.tracks_by_default:
        tracked = tuple(name for name in columns.names if name.lower() not in keys)
    return replace(args, columns=columns, tracked=tracked)


def in_stored_order(args: ChangeArgs, stored: Sequence[str]) -> ChangeArgs:
    """The same flow with its keys in the order that the auxiliary state has them in, if they are the same keys."""
    at = {key.lower(): number for number, key in enumerate(stored)}
    if {key.lower() for key in args.keys} != at.keys():
        return args
    return replace(args, keys=tuple(sorted(args.keys, key=lambda key: at[key.lower()])))


def column(given: ColumnLike) -> Column:
    """A column or SQL text as a column."""
    return F.expr(given) if isinstance(given, str) else given


def _selected(check: "_Check", flow: AutoCdcFlow) -> tuple[str, ...]:
    if flow.column_list is not None:
        wanted = check.existing("column_list", flow.column_list) or ()
        return tuple(name for name in check.names if name in wanted)
    unwanted = check.existing("except_column_list", flow.except_column_list) or ()
    return tuple(name for name in check.names if name not in unwanted)


def _tracked(check: "_Check", flow: AutoCdcFlow, candidates: tuple[str, ...]) -> tuple[str, ...]:
    if flow.track_history_column_list is not None:
        listed = check.existing("track_history_column_list", flow.track_history_column_list) or ()
        check.within("track_history_column_list", listed, candidates)
        return tuple(name for name in candidates if name in listed)
    listed = check.existing("track_history_except_column_list", flow.track_history_except_column_list) or ()
    return tuple(name for name in candidates if name not in listed)


def _ignore_null(check: "_Check", flow: AutoCdcFlow, candidates: tuple[str, ...]) -> tuple[str, ...]:
    if flow.ignore_null_updates_column_list is not None:
        argument = "ignore_null_updates_column_list"
        listed = check.existing(argument, flow.ignore_null_updates_column_list) or ()
        check.no_keys(argument, listed)
        check.within(argument, listed, candidates)
        return tuple(name for name in candidates if name in listed)
    if flow.ignore_null_updates_except_column_list is not None:
        argument = "ignore_null_updates_except_column_list"
        listed = check.existing(argument, flow.ignore_null_updates_except_column_list) or ()
        return tuple(name for name in candidates if name not in listed)
    return candidates if flow.ignore_null_updates else ()


def _orderable(type_: DataType) -> bool:
    if isinstance(type_, StructType):
        return all(_orderable(field.dataType) for field in type_.fields)
    element = getattr(type_, "elementType", None)
    if element is not None:
        return _orderable(element)
    return not isinstance(type_, MapType | VariantType)


class _Check:
    def __init__(self, flow: AutoCdcFlow, source: DataFrame) -> None:
        self.flow = flow
        self.source = source
        self.names = tuple(source.columns)
        self._is_case_sensitive = source.sparkSession.conf.get("spark.sql.caseSensitive", "false") == "true"

    def refuse(self, condition: str, message: str, fix: str) -> None:
        raise DeclarationError(condition, f"target {self.flow.target}: {message}", self.flow.location, fix)

    def existing(self, argument: str, wanted: Iterable[str] | None) -> tuple[str, ...] | None:
        """The columns as the source spells them; Spark ignores the case of names unless its conf says otherwise."""
        if wanted is None:
            return None
        by_folded = {self._folded(name): name for name in self.names}
        missing = [name for name in wanted if self._folded(name) not in by_folded]
        if missing:
            named = ", ".join(f"`{name}`{did_you_mean(name, self.names)}" for name in missing)
            self.refuse(
                "AUTOCDC_COLUMNS_NOT_FOUND_IN_SCHEMA",
                f"`{argument}` names {named}, which is not a column of {self.flow.source}: {', '.join(self.names)}",
                "correct the name, or let the flow read a view that has the column",
            )
        return tuple(by_folded[self._folded(name)] for name in wanted)

    def _folded(self, name: str) -> str:
        return name if self._is_case_sensitive else name.lower()

    def within(self, argument: str, listed: tuple[str, ...], candidates: tuple[str, ...]) -> None:
        keys = {key.lower() for key in self.flow.keys}
        outside = [name for name in listed if name not in candidates and name.lower() not in keys]
        if outside:
            message = f"`{argument}` names {', '.join(outside)}, which the target does not have"
            self.refuse("AUTOCDC_COLUMNS_NOT_FOUND_IN_SCHEMA", message, "select it, or leave it out of the list")

    def no_keys(self, argument: str, listed: tuple[str, ...]) -> None:
        keys = {key.lower() for key in self.flow.keys}
        named = [name for name in listed if name.lower() in keys]
        if named:
            message = f"`{argument}` names the key {', '.join(named)}, which is never null"
            self.refuse("AUTOCDC_KEY_IN_IGNORE_NULL_UPDATES", message, "leave the keys out of the list")

    def reserved(self, names: tuple[str, ...]) -> None:
        taken = [name for name in names if name.lower().startswith(RESERVED_PREFIXES)]
        if self.flow.scd_type == 2:
            taken += [name for name in names if name.upper() in (START_AT, END_AT)]
        if taken:
            self.refuse(
                "AUTOCDC_RESERVED_COLUMN_NAME_PREFIX_CONFLICT",
                f"the source has {', '.join(taken)}, a name reserved by AUTO CDC",
                "rename it in the source, or leave it out by except_column_list",
            )

    def analyse(self, argument: str, given: ColumnLike) -> DataType:
        try:
            return self.source.select(column(given)).schema.fields[0].dataType
        except AnalysisException as error:
            shown = quote(given) if isinstance(given, str) else str(given)
            message = f"`{argument}` {shown} does not fit {self.flow.source}: {str(error).splitlines()[0]}"
            raise DeclarationError(
                "AUTOCDC_COLUMNS_NOT_FOUND_IN_SCHEMA",
                f"target {self.flow.target}: {message}",
                self.flow.location,
                f"correct the expression; {self.flow.source} has {', '.join(self.names)}",
            ) from error
