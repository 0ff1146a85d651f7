"""What the edit of one table's spec does to its existing rows."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

from cdc import definition, names
from cdc.definition import IN_EVERY_RECORD, KEY, NOT_NULL, ORDER, QUARANTINE, RESTORED, SOURCE, TRACKED, Parts, is_rule
from cdc.spec.model import TableSpec
from cdc.type_changes import is_among

_STAY_REJECTS = "records that were rejected for it stay rejects until a replay or a rebuild"


class Effect(Enum):
    """What happens to the existing rows of a table, from harmless to not."""

    NONE = "unchanged"
    NEW = "new"
    IN_PLACE = "in place"
    MOVED = "moved"
    REBUILD = "rebuild"


@dataclass(frozen=True)
class Edit:
    """One difference between the spec and the one that the rows were built by."""

    text: str
    effect: Effect
    advice: str = ""


@dataclass(frozen=True)
class TablePlan:
    """What a run of the edited spec does to one table."""

    table: TableSpec
    edits: tuple[Edit, ...]
    effect: Effect

    @property
    def rebuilt(self) -> tuple[str, ...]:
        """The datasets that a rebuild builds anew, besides those that read them."""
        table = self.table
        silver = (names.decoded_dataset(table), names.changes_dataset(table), names.rejects_dataset(table))
        if table.append_only:
            return silver
        history = (names.history_dataset(table),) if table.history else ()
        return (*silver, names.versions_dataset(table), names.rows_dataset(table), *history)


def plan(table: TableSpec, stored: Parts | None, decoded: Parts | None = None) -> TablePlan:
    """Compare a table's spec with the definitions that its rows were built by.

    Args:
        table: the spec as it is now.
        stored: the definition stored with the changes and versions; None if there are none.
        decoded: the one that its records were decoded by, which may be another after an update of some datasets.
    """
    now = {
        **definition.definition(table),
        **definition.restores(table),
        **definition.definition_of_versions(table),
    }
    definitions: list[Parts | None] = [stored, {**(stored or {}), **decoded} if decoded else None]
    edits = (edit for before in definitions if before is not None for edit in _edits(table, before, now))
    return with_edits(table, tuple(dict.fromkeys(edits)), Effect.NEW if stored is None else Effect.NONE)


def with_edits(table: TableSpec, edits: Sequence[Edit], otherwise: Effect) -> TablePlan:
    """The plan of a table with these edits: the gravest one's effect, or ``otherwise`` if there is none."""
    gravest = max((edit.effect for edit in edits), key=list(Effect).index, default=otherwise)
    return TablePlan(table, tuple(edits), gravest)


def _edits(table: TableSpec, before: Parts, after: Parts) -> Iterator[Edit]:
    if KEY not in before:
        # No versions were built yet: what they depend on is not an edit.
        before = {**definition.definition_of_versions(table), **before}
    for part in (NOT_NULL, IN_EVERY_RECORD):
        yield from _restrictions(part, _list(before, part), _list(after, part), before)
    of_table = (KEY, definition.keeps(table), TRACKED, ORDER)
    for part in of_table:
        if part in before and before[part] != after[part]:
            yield Edit(f"{part}: {before[part]} -> {after[part]}", Effect.REBUILD)
    yield from _quarantine(_list(before, QUARANTINE), _list(after, QUARANTINE))
    if before.get(SOURCE) != after.get(SOURCE):
        was, now = (", ".join(_list(parts, SOURCE)) or "none" for parts in (before, after))
        yield Edit(f"{SOURCE}: {was} -> {now}", Effect.REBUILD)
    compared = (NOT_NULL, IN_EVERY_RECORD, QUARANTINE, SOURCE, *of_table)
    for part in dict.fromkeys(part for part in (*before, *after) if part not in compared):
        old, new = before.get(part), after.get(part)
        if old != new:
            if part.startswith(RESTORED):
                yield _restore(part, is_new=old is None)
            else:
                yield _rule(part, old, new) if is_rule(part) else _column(table, part, old, new)


def _rule(part: str, old: object, new: object) -> Edit:
    if old is None:
        return Edit(f"{part}: {new} (new)", Effect.REBUILD)
    return Edit(f"{part}: {old} -> {'gone' if new is None else new}", Effect.REBUILD)


def _restore(part: str, is_new: bool) -> Edit:
    if not is_new:
        return Edit(f"{part}: gone", Effect.REBUILD)
    advice = "if records of that moment or later have been decoded, the run asks for a rebuild"
    return Edit(f"{part} (new)", Effect.IN_PLACE, advice)


def _quarantine(before: Sequence[str], after: Sequence[str]) -> Iterator[Edit]:
    for entry in after:
        if entry not in before:
            yield Edit(f"{QUARANTINE}: also {entry}", Effect.REBUILD)
    for entry in before:
        if entry not in after:
            yield Edit(f"{QUARANTINE}: no longer {entry}", Effect.IN_PLACE, _STAY_REJECTS)


def _column(table: TableSpec, column: str, old: object, new: object) -> Edit:
    if old is None:
        advice = "existing rows have null; if records already carried it, the run asks for a rebuild"
        return Edit(f"{column}: {new} (new)", Effect.IN_PLACE, advice)
    if new is None:
        advice = "keep it in the spec if the source only stopped sending it: it is null from then on"
        return Edit(f"{column}: {old} -> not in the spec", Effect.REBUILD, advice)
    if is_among(str(old), definition.same_rows(table).get(column, [])):
        has_length = any(each.name == column and each.type.length is not None for each in table.columns)
        # A text of any length was decoded; a number that was too large is a reject.
        return Edit(f"{column}: {old} -> {new}", Effect.IN_PLACE, "" if has_length else _STAY_REJECTS)
    hides = "masked by" in str(new) or new == "excluded"
    kept = f"{names.records_dataset(table)} and {names.rejects_dataset(table)} keep the records, clear values included"
    return Edit(f"{column}: {old} -> {new}", Effect.REBUILD, kept if hides else "")


def _restrictions(part: str, before: Sequence[str], after: Sequence[str], known: Parts) -> Iterator[Edit]:
    for column in after:
        if column not in before:
            is_new = column not in known
            advice = "declare it nullable: earlier records lack it, and would be rejects" if is_new else ""
            yield Edit(f"{column}: now {part}", Effect.REBUILD, advice)
    for column in before:
        if column not in after:
            yield Edit(f"{column}: no longer {part}", Effect.IN_PLACE, _STAY_REJECTS)


def _list(parts: Parts, part: str) -> list[str]:
    found = parts.get(part, [])
    return found if isinstance(found, list) else [found]
