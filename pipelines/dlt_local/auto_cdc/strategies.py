"""Which reconciler and which writer a batch gets: two pure functions over what was measured."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from dlt_local.auto_cdc.key_list import LISTED


class Reconciler(Enum):
    """How a batch is reconciled with what is known."""

    LATEST_ROW = "latest row"
    IN_ORDER_HISTORY = "in-order history"
    GENERAL_FOLD = "general fold"


class Writer(Enum):
    """How changed rows reach the target."""

    NONE = "none"
    APPEND = "append"
    REWRITE = "rewrite"
    KEY_LIST = "key list"
    MERGE = "merge"


@dataclass(frozen=True)
class Situation:
    """What decides between reconcilers."""

    is_latest: bool
    """The flow keeps whole last rows only."""
    tracks_whole_rows: bool
    """SCD type 2 in which every change opens a version."""
    is_in_order: bool
    """The batch is entirely above the high watermark, or the first."""
    has_truncates: bool
    """The target was ever truncated."""


@dataclass(frozen=True)
class ChangeStatistics:
    """The rows to write, in numbers."""

    inserted: int
    changed: int
    """Rows that are replaced, removed or compared."""
    compared: int
    has_predicate: bool
    """A predicate over the target says which rows of the changed keys they replace."""


@dataclass(frozen=True)
class TargetStatistics:
    """The target in numbers."""

    rows: int | None
    """None where its log does not say."""
    size_in_bytes: int
    has_same_columns: bool
    """A row of the change can stand for a stored row."""
    has_change_feed: bool
    """A replaced row would appear as deleted and inserted in its change data feed."""
    has_listable_keys: bool
    """The key's types are exact as SQL text."""


@dataclass(frozen=True)
class Thresholds:
    """Where one writer becomes cheaper than another."""

    rewritten_share: float = 0.25
    """Share of the target's rows from which the whole target is rewritten. A MERGE reads everything twice and writes
    the same files."""
    small_bytes: int = 1024 * 1024
    """Size up to which the whole target is rewritten, however few rows change: that takes one Spark job, a MERGE four,
    and as a rule it writes the same files."""
    large_bytes: int = 4 * 1024 * 1024
    """Size from which a MERGE costs too much: it scans the target three times, and where it also inserts, it sorts all
    rows of the files it touches."""
    listed_keys: int = LISTED


def choose_reconciler(situation: Situation) -> Reconciler:
    """The cheapest reconciler that is exact."""
    if situation.is_latest:
        return Reconciler.LATEST_ROW
    if situation.tracks_whole_rows and situation.is_in_order and not situation.has_truncates:
        return Reconciler.IN_ORDER_HISTORY
    return Reconciler.GENERAL_FOLD


def choose_writer(changes: ChangeStatistics, target: TargetStatistics, thresholds: Thresholds = Thresholds()) -> Writer:
    """The cheapest writer that is exact."""
    count = changes.inserted + changes.changed
    if not count:
        return Writer.NONE
    if not changes.changed:
        return Writer.APPEND
    if changes.compared or not target.has_same_columns or target.has_change_feed:
        return Writer.MERGE
    is_mostly_changed = target.rows is not None and count >= thresholds.rewritten_share * target.rows
    if is_mostly_changed or target.size_in_bytes <= thresholds.small_bytes:
        return Writer.REWRITE
    is_listable = changes.has_predicate and target.has_listable_keys and count <= thresholds.listed_keys
    if target.size_in_bytes >= thresholds.large_bytes and is_listable:
        return Writer.KEY_LIST
    return Writer.MERGE


@dataclass(frozen=True)
class Strategies:
    """How a handler chooses; tests force a path by other functions."""

    reconciler: Callable[[Situation], Reconciler] = choose_reconciler
    writer: Callable[[ChangeStatistics, TargetStatistics], Writer] = choose_writer


DEFAULT = Strategies()
