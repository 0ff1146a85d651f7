"""sdp-meta's `cdc_apply_changes` as key, history, filter and order of a table spec."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from cdc import names
from cdc.debezium.positions import POSITIONS
from cdc.errors import Condition, RunCondition
from cdc.interop import texts
from cdc.interop.onboarding import Part
from cdc.interop.transformations import Selected
from cdc.spec.model import WithinTransaction
from cdc.spec.reading import shown_value

_FIELDS = {
    "keys": "",
    "sequence_by": "",
    "scd_type": "",
    "apply_as_deletes": "",
    "column_list": "exclude the other columns in `columns:`, with `{exclude: true}`.",
    "except_column_list": "",
    "track_history_column_list": "",
    "track_history_except_column_list": "",
    "where": "add `filter:` to the table spec, if rows that do not meet it should leave the table.",
    "apply_as_truncates": "`history: false`: a truncate of the source then removes the rows; else it is a reject.",
    "ignore_null_updates": "set `unavailable: merge` or `large_nulls: unchanged` for columns that changes leave out.",
    "ignore_null_updates_column_list": "set `unavailable: merge` or `large_nulls: unchanged` for these columns.",
    "ignore_null_updates_except_column_list": "set `unavailable: merge` or `large_nulls: unchanged` for the others.",
    "flow_name": "nothing: flows have the names of their tables.",
    "once": "nothing: records that have arrived are read once.",
}
"""Field -> what to do about one that is not taken over; empty for the others."""
_IS_DELETE = re.compile(r"`?[\w.]+`?\s*=\s*(['\"])d(elete)?\1", re.IGNORECASE)


@dataclass(frozen=True)
class Applied:
    """How changes become rows."""

    key: tuple[str, ...] = ()
    history: bool | Mapping[str, list[str]] = True
    row_filter: str | None = None
    excluded: tuple[str, ...] = ()
    within_transaction: WithinTransaction | None = None


def applied(changes: Part, columns: Selected) -> Applied:
    """What `cdc_apply_changes` says; column names become the source's.

    Args:
        changes: that part of a data flow; one without any is of an append-only table.
        columns: those that the silver transformation selects.
    """
    if not changes.data:
        return Applied()
    meant = changes.misspelt(_FIELDS)
    for name, fix in _FIELDS.items():
        if fix and changes.data.get(name) not in (None, "", [], False):
            changes.lost(name, f"`{name}` has no counterpart in a table spec", fix)
    sequence = changes.texts("sequence_by")
    return Applied(
        key=_key(changes, columns, meant),
        history=_history(changes, columns, meant),
        row_filter=_filter(changes),
        excluded=_excluded(changes, columns, sequence),
        within_transaction=_within_transaction(changes, sequence),
    )


def _key(changes: Part, columns: Selected, meant: Collection[str]) -> tuple[str, ...]:
    keys = tuple(dict.fromkeys(columns.source(texts.column_name(name)) for name in changes.texts("keys")))
    if not keys and "keys" not in meant:
        detail = "`keys` is missing: which columns identify a row?"
        changes.report(Condition.MISSING_FIELD, ("keys",), detail, 'add `"keys": ["id"]`.')
    return keys


def _history(changes: Part, columns: Selected, meant: Collection[str]) -> bool | Mapping[str, list[str]]:
    kind = changes.text("scd_type")
    if kind is None and "scd_type" not in {*changes.data, *meant}:
        detail = "`scd_type` is missing: are versions kept?"
        changes.report(Condition.MISSING_FIELD, ("scd_type",), detail, 'add `"scd_type": "2"` for history, or `"1"`.')
    elif kind not in ("1", "2", None):
        detail = f"`scd_type` is `{shown_value(kind)}`; expected 1 or 2"
        changes.report(
            Condition.BAD_VALUE, ("scd_type",), detail, 'write `"scd_type": "2"` for history, `"1"` without.'
        )
    tracked = {
        field: [columns.source(texts.column_name(name)) for name in changes.texts(list_)]
        for field, list_ in (
            ("track", "track_history_column_list"),
            ("track_except", "track_history_except_column_list"),
        )
    }
    lists = {field: listed for field, listed in tracked.items() if listed}
    return kind == "2" if kind == "1" or not lists else lists


def _filter(changes: Part) -> str | None:
    removal = (changes.text("apply_as_deletes") or "").strip()
    found = texts.filter_of(removal)
    if "apply_as_deletes" not in changes.data:
        fix = "nothing, if there are no deletes; `deletes: soft` keeps deleted rows."
        changes.lost((), "there is no `apply_as_deletes`; here a delete removes its row", fix)
    elif removal and found is None and not _IS_DELETE.fullmatch(removal):
        fix = "add `filter:` to the table spec for what removes a row besides."
        changes.lost(
            "apply_as_deletes", f"`{shown_value(removal)}` is more than a delete; only deletes remove rows", fix
        )
    return found


def _excluded(changes: Part, columns: Selected, sequence: list[str]) -> tuple[str, ...]:
    """Columns that stay out of the target, but for those that changes have beside their row."""
    listed = [texts.column_name(name) for name in changes.texts("except_column_list")]
    removal = changes.text("apply_as_deletes") or ""
    beside = {name for name in listed if name in sequence or re.search(rf"\b{re.escape(name)}\b", removal)}
    return tuple(columns.source(name) for name in listed if not name.startswith("_") and name not in beside)


def _within_transaction(changes: Part, sequence: list[str]) -> WithinTransaction | None:
    if names.OFFSET in sequence:
        return "arrival"
    if names.INCARNATION in sequence:
        of_log = {column for position in POSITIONS.values() for column in position.change}
        has_count, has_log = names.TOTAL_ORDER in sequence, not of_log.isdisjoint(sequence)
        return ("auto" if has_log else "total_order") if has_count else "lsn"
    if sequence:
        detail = f"`{', '.join(sequence)}` does not order changes here: their positions in the source's log do"
        changes.report(
            RunCondition.NOT_IMPORTED, ("sequence_by",), detail, "nothing; docs/connectors.md has the order."
        )
    return None
