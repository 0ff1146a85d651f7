"""Doctor: reads a whole storage folder and says what in it was lost or altered; writes nothing, starts no Spark."""

from collections.abc import Iterator
from pathlib import Path

from dlt_local.auto_cdc.integrity import StoredTarget
from dlt_local.delta.storage import Storage, StorageFileDamaged, read_json
from dlt_local.errors import LocalPipelineError, SetupError
from dlt_local.flows import continuity
from dlt_local.flows.checkpoint import Checkpoint
from dlt_local.flows.continuity import StoredDataset
from dlt_local.flows.last_update import LastUpdate
from dlt_local.names import TableName
from dlt_local.updates import stored_tables


def findings(storage: Storage) -> list[LocalPipelineError]:
    """What the next update would refuse, one error each, with its way out.

    What an update makes good by itself is no finding. A storage folder in use may show a batch that is being written.

    Raises:
        SetupError: it is no storage folder.
    """
    if not storage.system.is_dir():
        message = "this is no storage folder: it has no folder system"
        raise SetupError("NO_STORAGE_FOLDER", storage.root, message, "pass the storage folder of an update")
    found: dict[str, LocalPipelineError] = {}
    for name in storage.targets():
        found |= {str(error): error for error in _of_dataset(name, storage)}
    # A file of auxiliary state is a finding about its target, and one of its copies is enough.
    found |= {str(error): error for error in _damaged_files(storage)}
    return list(found.values())


def _of_dataset(name: str, storage: Storage) -> Iterator[LocalPipelineError]:
    try:
        last = LastUpdate.read(storage.progress(name))
    except StorageFileDamaged as error:
        yield error
        return
    dataset = _stored(name, last, storage)
    # A materialized view has nothing to lose, and never has a flow with a checkpoint.
    is_view = last != LastUpdate() and not dataset.checkpoints and dataset.changes is None
    if not is_view:
        yield from continuity.faults(dataset, last)


def _stored(name: str, last: LastUpdate, storage: Storage) -> StoredDataset:
    names = {flow: storage.checkpoint(name, flow) for flow in {*storage.flows(name), *last.checkpoints}}
    own = {flow: Checkpoint(name, flow, folder) for flow, folder in names.items()}
    inputs = {each: path for each in last.inputs or {} if (path := _table(_name(each, storage), storage)) is not None}
    full = _name(name, storage)
    table = _table(full, storage)
    is_target = full is not None and (storage.seal(full).exists() or storage.auto_cdc(full).exists())
    if full is None or not (table or last.table or is_target):
        return StoredDataset(name, None, None, own, inputs)
    path = table or storage.table(full)
    return StoredDataset(name, path, StoredTarget.of(full, path, storage) if is_target else None, own, inputs)


def _name(text: str, storage: Storage) -> TableName | None:
    """A dataset's name from its text; None for a sink or a folder. A name with dots in it is looked for."""
    parts = text.split(".")
    names = [TableName(".".join(parts[:at]), ".".join(parts[at:])) for at in range(1, len(parts))]
    return next((name for name in names if stored_tables.find(storage, name) is not None), names[0] if names else None)


def _table(name: TableName | None, storage: Storage) -> Path | None:
    return None if name is None else stored_tables.find(storage, name)


def _damaged_files(storage: Storage) -> Iterator[StorageFileDamaged]:
    for file in storage.files():
        if "auto_cdc" in file.parts or "seals" in file.parts or "maintenance" in file.parts:
            continue
        try:
            read_json(file)
        except StorageFileDamaged as error:
            yield error
