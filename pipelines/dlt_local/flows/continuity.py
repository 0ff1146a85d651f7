"""Continuity: what a dataset continues from is what its last update left. Checked before anything is written."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from dlt_local.auto_cdc import integrity
from dlt_local.auto_cdc.integrity import StoredTarget
from dlt_local.delta import delta_log
from dlt_local.delta.storage import StorageFileDamaged
from dlt_local.delta.table_position import Alteration, Altered, TablePosition
from dlt_local.errors import FlowError, StorageAltered
from dlt_local.flows.checkpoint import Checkpoint
from dlt_local.flows.last_update import LastUpdate


@dataclass(frozen=True)
class StoredDataset:
    """A dataset as the storage has it."""

    name: str
    table: Path | None
    """Its Delta table, which need not exist; None for a sink."""
    changes: StoredTarget | None
    """The same as a target of AUTO CDC, None where it is not one."""
    checkpoints: Mapping[str, Checkpoint]
    """By flow."""
    inputs: Mapping[str, Path]
    """The tables that it reads."""

    def position(self) -> tuple[TablePosition | None, int]:
        """Its table as it is, and how often the ledger beside it was written."""
        table = None if self.table is None else TablePosition.of(self.table)
        return table, 0 if self.changes is None else self.changes.state.ledger().count


def check(dataset: StoredDataset, last: LastUpdate) -> None:
    """Refuse a dataset that was altered since its last update, or make it good where that is exact.

    Raises:
        FlowError: one of its `faults`.
    """
    for error in faults(dataset, last):
        raise error
    if dataset.changes is not None:
        integrity.restore_ledger(dataset.changes)


def check_sources(name: str, unbuilt: Sequence[str]) -> None:
    """Refuse a dataset whose sources have no rows to read.

    Args:
        name: the dataset.
        unbuilt: what it is made from and no update has built, in order.

    Raises:
        FlowError: SOURCE_NOT_BUILT, if there are any.
    """
    if unbuilt:
        message = f"it is made from {', '.join(unbuilt)}, which no update has built yet"
        fix = f"build what it is made from in the same run: add --refresh {','.join(unbuilt)}, or run all datasets"
        raise FlowError("SOURCE_NOT_BUILT", name, message, fix, is_permanent=True)


def check_columns(name: str, lacking: Mapping[str, Sequence[str]]) -> None:
    """Refuse a dataset whose sources do not have all columns yet that they are declared with.

    Args:
        name: the dataset.
        lacking: table that it reads -> columns that the stored table lacks.

    Raises:
        FlowError: SOURCE_NOT_UPDATED, if a table lacks any.
    """
    if lacking:
        read = "; ".join(f"{table}, which does not have {', '.join(columns)} yet" for table, columns in lacking.items())
        tables = ",".join(lacking)
        fix = f"update what it reads in the same run: add --refresh {tables}, or run all datasets"
        raise FlowError("SOURCE_NOT_UPDATED", name, f"it reads {read}", fix, is_permanent=True)


def is_view_as_left(view: StoredDataset, progress: Path) -> bool:
    """False for a materialized view whose rows, or the note of its last update, were altered: it is computed again."""
    try:
        last = LastUpdate.read(progress)
    except StorageFileDamaged:
        return False
    return last.table is None or view.table is None or last.table.altered(view.table) is None


def faults(dataset: StoredDataset, last: LastUpdate) -> Iterator[FlowError]:
    """What is lost or altered and cannot be made good; nothing is written.

    Args:
        dataset: a streaming table or a sink; a materialized view has nothing to lose, it is computed again.
        last: its last completed update.
    """
    yield from _checkpoint_faults(dataset, last)
    if dataset.changes is not None:
        yield from integrity.faults(dataset.changes, last.ledger_count)
    elif dataset.table is not None:
        yield from _table_faults(dataset, dataset.table, last)
    yield from _source_faults(dataset, last)


def _checkpoint_faults(dataset: StoredDataset, last: LastUpdate) -> Iterator[FlowError]:
    written = _written_batches(dataset)
    for flow, checkpoint in dataset.checkpoints.items():
        try:
            if flow in last.checkpoints:
                checkpoint.check(last.checkpoints[flow])
            checkpoint.check_reaches(written)
        except FlowError as error:
            yield error
    is_known = last != LastUpdate() or any(checkpoint.folder.exists() for checkpoint in dataset.checkpoints.values())
    if not is_known and dataset.table is not None and delta_log.row_count(dataset.table):
        message = "the table has rows, but neither its checkpoints nor a note of its last update are there"
        fix = f"restore the folder system, or rebuild the table with --rebuild {dataset.name}"
        yield StorageAltered("CHECKPOINT_MISSING", dataset.name, message, fix)


def _written_batches(dataset: StoredDataset) -> Mapping[str, int]:
    """The last batch of each streaming query that table or ledger have begun to write."""
    batches = {} if dataset.table is None else delta_log.transactions(dataset.table)
    try:
        ledger = None if dataset.changes is None else dataset.changes.state.stored_ledger()
    except StorageFileDamaged:
        # Reported with the state.
        ledger = None
    return batches if ledger is None else {**batches, **ledger.begun}


def _table_faults(dataset: StoredDataset, table: Path, last: LastUpdate) -> Iterator[StorageAltered]:
    altered: Altered | None = None
    if last.table is not None:
        # Rows that users delete or correct in a table that is only appended to stay as they made them.
        altered = last.table.rewound(table)
    elif any(checkpoint.has_commits for checkpoint in dataset.checkpoints.values()) and not delta_log.exists(table):
        altered = Altered(Alteration.MISSING, f"there is no Delta table at {table}")
    if altered is not None:
        yield integrity.refusal(dataset.name, table, altered)


def _source_faults(dataset: StoredDataset, last: LastUpdate) -> Iterator[StorageAltered]:
    read = {id for checkpoint in dataset.checkpoints.values() for id in checkpoint.tables_read()}
    for name, state in (last.inputs or {}).items():
        identity, at, _ = (state or "").partition("@")
        if not at or identity not in read or name not in dataset.inputs:
            continue
        now = delta_log.identity(dataset.inputs[name])
        if now is not None and now != identity:
            yield source_replaced(dataset.name, f"{name}, which it reads, has been replaced by another table")


def source_replaced(dataset: str, what: str) -> StorageAltered:
    """The error of a stream that has read a table which is not there any more."""
    message = f"{what}: where to continue in it is unknown"
    fix = f"rebuild the table with --rebuild {dataset}, or bring back the table that it has read"
    return StorageAltered("SOURCE_REPLACED", dataset, message, fix)
