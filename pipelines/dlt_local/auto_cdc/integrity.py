"""Integrity of a target: its auxiliary state and its table are those that the last batch left, and of one time.

Every check reads a few small files and lists the files of the state; its cost does not grow with the table. An
interrupted batch is no alteration: its retry makes state and target exact.
"""

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from dlt_local.auto_cdc import drift
from dlt_local.auto_cdc.ledger import Ledger
from dlt_local.auto_cdc.log import Loss
from dlt_local.auto_cdc.seal import Seal, Sealed
from dlt_local.auto_cdc.state import State
from dlt_local.delta import delta_log
from dlt_local.delta.storage import Storage, StorageFileDamaged
from dlt_local.delta.table_position import Alteration, Altered
from dlt_local.delta.transaction import TransactionId
from dlt_local.errors import StorageAltered
from dlt_local.names import TableName

_LOG = logging.getLogger(__name__)
_OWN_WRITES = ("WRITE", "MERGE")
"""Delta's names of the operations by which batches change rows."""
_WITHOUT = {
    "MISSING": "without it late events, duplicates and deletes would be applied wrongly",
    "DAMAGED": "with it late events, duplicates and deletes would be applied wrongly",
    "OUTDATED": "with it late events, duplicates and deletes would be applied wrongly",
}


@dataclass(frozen=True)
class StoredTarget:
    """An AUTO CDC target in the storage: its Delta table, the state beside it, and the seal."""

    name: TableName
    table: Path
    state: State
    seal: Seal

    @classmethod
    def of(cls, name: TableName, table: Path, storage: Storage) -> "StoredTarget":
        """The target of this name."""
        seal = Seal(storage.seal(name), table)
        # Nothing expires while the state is checked.
        return cls(name, table, State(storage.auto_cdc(name), 0, seal), seal)


def faults(target: StoredTarget, times_noted: int = 0) -> Iterator[StorageAltered]:
    """What is lost or altered and cannot be made good; nothing is written.

    Args:
        target: the target.
        times_noted: how often its ledger was known to be written.
    """
    sealed = target.seal.read()
    try:
        ledger = target.state.stored_ledger()
        if ledger is None or (sealed is not None and not sealed.fits(ledger)):
            ledger = _without_ledger(target, ledger, sealed)
    except StorageFileDamaged as error:
        if sealed is None or sealed.is_open:
            yield _damaged(target, error)
            return
        ledger = sealed.ledger
    except StorageAltered as error:
        yield error
        return
    if ledger.count < times_noted:
        yield _outdated(target)
        return
    yield from _state_faults(target, ledger)
    try:
        check_target(target.name, target.table, ledger)
    except StorageAltered as error:
        yield error


def check_target(name: TableName, table: Path, ledger: Ledger) -> None:
    """Compare a target with the one that its last batch left.

    Raises:
        StorageAltered: it is another one, or its rows were changed.
    """
    altered = _target_altered(table, ledger)
    if altered is not None:
        raise refusal(str(name), table, altered, None if ledger.target is None else ledger.target.version)


def restore_ledger(target: StoredTarget) -> None:
    """Write a lost ledger again from the seal, which has a copy of it; call it where there are no `faults`."""
    sealed = target.seal.read()
    if sealed is None or sealed.is_open:
        return
    try:
        if target.state.stored_ledger() is not None:
            return
    except StorageFileDamaged:
        pass
    _LOG.warning("%s: the ledger of its auxiliary state was lost, and is restored from its seal", target.name)
    target.state.write_ledger(sealed.ledger)


def refusal(name: str, table: Path, altered: Altered, at: int | None = None) -> StorageAltered:
    """The error for a target that is not the table that its last batch left.

    Args:
        name: the dataset.
        table: its Delta table.
        altered: what happened to it.
        at: the version that the last batch left, where a RESTORE to it undoes the alteration.
    """
    rebuild = f"rebuild the table with --rebuild {name}"
    what = {
        Alteration.MISSING: "the table is gone",
        Alteration.REPLACED: "another table has taken its place",
        Alteration.OUTDATED: "the table is an older copy",
        Alteration.CHANGED: "its rows were changed after the last batch, or the auxiliary state is an older copy",
    }[altered.kind]
    undo = "" if at is None else f"undo it by RESTORE TABLE delta.`{table}` TO VERSION AS OF {at}, or "
    if altered.kind is not Alteration.CHANGED:
        undo = "restore the table as the last update left it, or "
    return StorageAltered(f"TARGET_{altered.kind.name}", name, f"{what}: {altered.evidence}", undo + rebuild)


def _without_ledger(target: StoredTarget, ledger: Ledger | None, sealed: Sealed | None) -> Ledger:
    """The ledger to go by where the stored one is missing or does not fit the seal.

    Raises:
        StorageAltered: there is none.
    """
    folder = target.state.folder
    if ledger is not None:
        raise _outdated(target)
    if sealed is not None and not sealed.is_open:
        return sealed.ledger
    # The seal of the very first batch may be there before its ledger.
    has_begun = sealed is not None and sealed.ledger.count > 1
    is_delta = (target.state.log.folder / "_delta_log").exists()
    if has_begun:
        raise _state_error(target, Loss("MISSING", f"{folder / 'begun.json'} is gone"))
    if _has_rows(target.table) and not is_delta:
        raise _state_error(target, Loss("MISSING", f"the table has rows, but its auxiliary state in {folder} is gone"))
    return Ledger()


def _state_faults(target: StoredTarget, ledger: Ledger) -> Iterator[StorageAltered]:
    ended = [TransactionId(app, n) for app, n in ledger.ended.items()]
    try:
        drift.declared(target.state.folder)
        for name, log in target.state.logs.items():
            if (loss := log.loss(ledger.lists.get(name, 0), ended)) is not None:
                yield _state_error(target, loss)
        if target.state.snapshots.count < ledger.snapshots:
            what = f"{target.state.folder / 'snapshots.json'} is gone, or an older copy"
            yield _state_error(target, Loss("OUTDATED", what))
    except StorageFileDamaged as error:
        yield _damaged(target, error)


def _target_altered(table: Path, ledger: Ledger) -> Altered | None:
    if ledger.target is not None:
        return ledger.target.altered(table, _OWN_WRITES if ledger.interrupted else ())
    if ledger.begun and not delta_log.exists(table):
        return Altered(Alteration.MISSING, f"there is no Delta table at {table}")
    return None


def _has_rows(table: Path) -> bool:
    count = delta_log.row_count(table)
    return delta_log.has_rows(table) if count is None else count > 0


def _outdated(target: StoredTarget) -> StorageAltered:
    return _state_error(target, Loss("OUTDATED", f"the auxiliary state in {target.state.folder} is an older copy"))


def _damaged(target: StoredTarget, error: StorageFileDamaged) -> StorageAltered:
    return _state_error(target, Loss("DAMAGED", f"{error.file} cannot be read: {error.what}"))


def _state_error(target: StoredTarget, loss: Loss) -> StorageAltered:
    fix = (
        f"restore {target.state.folder} and {target.seal.file} from a copy as old as the table, "
        f"or rebuild the table with --rebuild {target.name}"
    )
    message = f"{loss.what}; {_WITHOUT[loss.kind]}"
    return StorageAltered(f"AUTOCDC_INVALID_STATE.{loss.kind}", str(target.name), message, fix)
