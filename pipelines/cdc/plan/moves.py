"""Moves: a table's datasets that have new names, while its rows are stored under the old ones."""

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from cdc import definition, names
from cdc.plan.edits import Edit, Effect
from cdc.plan.stored import folder_of, stored_properties
from cdc.spec.model import TableSpec

RECORDS = "records"
_BUILT_ANEW = {
    "changes": names.changes_dataset,
    "rejects": names.rejects_dataset,
    "versions": names.versions_dataset,
    "rows": names.rows_dataset,
    "history": names.history_dataset,
}
"""What a row is -> the dataset of such rows, which is built from bronze."""


def left_behind(storage: Path, declared: Collection[str]) -> dict[str, str]:
    """Whose rows the stored tables have that are not declared any more: origin -> dataset.

    Args:
        storage: the storage folder.
        declared: the names of all declared datasets.
    """
    active = {folder_of(storage, dataset) for dataset in declared}
    found = {}
    for log in sorted((storage / "tables").glob("*/*/_delta_log")):
        if log not in active and (origin := stored_properties(log).get(definition.ORIGIN)):
            found[origin] = f"{log.parent.parent.name}.{log.parent.name}"
    return found


def moves(table: TableSpec, storage: Path, behind: Mapping[str, str]) -> Iterator[Edit]:
    """The datasets of a table that would start anew, though ``behind`` has their rows (`left_behind`)."""
    for rows, of in {RECORDS: names.records_dataset, **_BUILT_ANEW}.items():
        dataset = of(table)
        old = behind.get(definition.origin(table, rows)[definition.ORIGIN])
        if old is None or folder_of(storage, dataset).exists():
            continue
        if rows == RECORDS:
            advice = f"refused until you restore the name, or run once with --set dlt_local.accept_moves={dataset}:"
            yield Edit(f"{old} -> {dataset}", Effect.MOVED, f"{advice} it reads again what the source still has")
        else:
            advice = f"built anew from bronze; {old} stays as it is, and is not updated any more"
            yield Edit(f"{old} -> {dataset}", Effect.IN_PLACE, advice)
