"""The layout of a storage folder: published Delta tables under ``tables``, everything else under ``system``."""

import fcntl
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from dlt_local import failpoints
from dlt_local.errors import SetupError
from dlt_local.names import TableName


class StorageInUse(SetupError):
    """Another update is running on the same storage folder."""


class StorageFileDamaged(SetupError):
    """A JSON file of the engine that is cut, overwritten or otherwise not what was written.

    Attributes:
        file: the file.
        what: what is wrong with it.
    """

    def __init__(self, file: Path, what: str) -> None:
        self.file = file
        self.what = what
        holds, fix = _meaning(file)
        super().__init__("STORAGE_FILE_DAMAGED", file, f"{what}; the file holds {holds}", fix)


@dataclass(frozen=True)
class Storage:
    """The storage folder of one pipeline."""

    root: Path

    def table(self, name: TableName, private: bool = False) -> Path:
        """The Delta table of a dataset; a private one is under ``system``."""
        folder = self.system / "private" if private else self.root / "tables"
        return folder / _safe(name.schema) / _safe(name.table)

    @property
    def system(self) -> Path:
        """Everything that the engine stores besides the published tables."""
        return self.root / "system"

    @property
    def event_log(self) -> Path:
        """The event log, a Delta table."""
        return self.system / "event_log"

    def checkpoint(self, target: str, flow: str) -> Path:
        """The streaming checkpoint of a flow."""
        return self.checkpoints(target) / _safe(flow)

    def checkpoints(self, target: str) -> Path:
        """The folder of the checkpoints of all flows into a target."""
        return self.system / "checkpoints" / _safe(target)

    def auto_cdc(self, target: TableName) -> Path:
        """The auxiliary state of an AUTO CDC target."""
        return self.system / "auto_cdc" / _safe(str(target))

    @property
    def auto_loader(self) -> Path:
        """The schemas that Auto Loader has inferred, a folder for each read."""
        return self.system / "auto_loader"

    def seal(self, target: TableName) -> Path:
        """The seal of an AUTO CDC target's state, as JSON."""
        return self.system / "seals" / f"{_safe(str(target))}.json"

    def progress(self, target: str) -> Path:
        """The inputs of a dataset as the last completed update read them, as JSON."""
        return self.system / "progress" / f"{_safe(target)}.json"

    def maintenance(self, name: str) -> Path:
        """The record of a table's last maintenance, as JSON."""
        return self.system / "maintenance" / f"{_safe(name)}.json"

    def targets(self) -> list[str]:
        """The names of all datasets and sinks that have state of their own here, sorted."""
        noted = [*self.system.glob("progress/*.json"), *self.system.glob("seals/*.json")]
        folders = [*self.system.glob("checkpoints/*"), *self.system.glob("auto_cdc/*")]
        return sorted({unquote(file.stem) for file in noted} | {unquote(folder.name) for folder in folders})

    def flows(self, target: str) -> list[str]:
        """The names of all flows into a target that have a checkpoint, sorted."""
        return sorted(unquote(folder.name) for folder in self.checkpoints(target).glob("*") if folder.is_dir())

    def files(self) -> list[Path]:
        """The engine's own JSON files, as `write_json` writes them, sorted."""
        patterns = (
            *("progress/*.json", "seals/*.json", "maintenance/*.json", "resets/*.json", "report/history.json"),
            *("auto_cdc/*/*.json", "auto_cdc/*/*/parts.json", "checkpoints/*/*/*.json", "rebuild.json"),
        )
        return sorted(file for pattern in patterns for file in self.system.glob(pattern))

    @property
    def resets(self) -> Path:
        """The folder of markers, one for each full refresh that was started and not finished."""
        return self.system / "resets"

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Lock the storage for one update; a process that dies releases the lock.

        Raises:
            StorageInUse: another process has locked it.
        """
        self.system.mkdir(parents=True, exist_ok=True)
        with (self.system / "lock").open("a+") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                lock.seek(0)
                holder = lock.read().strip() or "unknown"
                message = f"the storage is in use by process {holder}: an update is running on it"
                fix = "wait for it to end, or use a separate storage folder for this pipeline"
                raise StorageInUse("STORAGE_IN_USE", self.root, message, fix) from error
            lock.truncate(0)
            lock.write(str(os.getpid()))
            lock.flush()
            yield

    def reset(self, target: TableName | str, private: bool = False) -> None:
        """Delete a target's rows, checkpoints and AUTO CDC state; if interrupted, the next update finishes it."""
        marker = self.resets / f"{_safe(str(target))}.json"
        is_table = isinstance(target, TableName)
        address = [target.schema, target.table] if isinstance(target, TableName) else [target]
        write_json(marker, {"address": address, "private": private, "table": is_table})
        self._finish_reset(marker)

    def finish_resets(self) -> None:
        """Finish the resets that an interrupted update left behind."""
        for marker in sorted(self.resets.glob("*.json")):
            self._finish_reset(marker)

    def _finish_reset(self, marker: Path) -> None:
        reset = read_json(marker, "address", "private", "table")
        assert reset is not None
        target: TableName | str = TableName(*reset["address"]) if reset["table"] else reset["address"][0]
        # The progress goes first: as long as it exists, the target can count as idle and be skipped.
        self.progress(str(target)).unlink(missing_ok=True)
        shutil.rmtree(self.checkpoints(str(target)), ignore_errors=True)
        failpoints.reach("reset.begun")
        if isinstance(target, TableName):
            self.seal(target).unlink(missing_ok=True)
            shutil.rmtree(self.auto_cdc(target), ignore_errors=True)
            shutil.rmtree(self.table(target, reset["private"]), ignore_errors=True)
        marker.unlink()


def write_json(path: Path, value: Mapping[str, Any]) -> None:
    """Write a JSON file atomically, together with its folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    scratch = path.with_suffix(".tmp")
    scratch.write_text(json.dumps(value, indent=1, sort_keys=True, default=str))
    os.replace(scratch, path)


def read_json(path: Path, *keys: str) -> dict[str, Any] | None:
    """The content of a JSON file; None if it does not exist.

    Args:
        path: the file.
        keys: what every such file has.

    Raises:
        StorageFileDamaged: it is no JSON object, or lacks a key.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except ValueError as error:
        is_empty = path.stat().st_size == 0
        raise StorageFileDamaged(path, "it is empty" if is_empty else "it is not valid JSON") from error
    if not isinstance(content, dict):
        raise StorageFileDamaged(path, "it is not a JSON object")
    missing = [key for key in keys if key not in content]
    if missing:
        raise StorageFileDamaged(path, f"it lacks {', '.join(missing)}")
    return content


def read_json_if_intact(path: Path, *keys: str) -> dict[str, Any] | None:
    """As `read_json`, but None for a damaged file too: for readers that can do without."""
    try:
        return read_json(path, *keys)
    except StorageFileDamaged:
        return None


def _meaning(file: Path) -> tuple[str, str]:
    """What a file of the engine holds, and what to do when it is damaged."""
    parents = {parent.name for parent in file.parents}
    if file.name == "history.json":
        return "the earlier updates that the report shows", "delete it: the report starts again"
    if "resets" in parents:
        dataset = unquote(file.stem)
        return f"a full refresh of {dataset} that was not finished", f"delete it, then run --full-refresh {dataset}"
    if "maintenance" in parents:
        return "when the table was last maintained", "delete it: maintenance starts again"
    if "progress" in parents:
        fix = "delete it: the next update continues from the checkpoints and writes it again"
        return f"what the last update of {unquote(file.stem)} has read", fix
    if file.name == "rebuild.json":
        return "a rebuild that was not finished", "delete it, then run the same --rebuild again"
    if "checkpoints" in parents:
        of_flow = "the topics of" if file.name.startswith("kafka") else "the identity of"
        dataset, what = unquote(file.parent.parent.name), f"{of_flow} flow `{unquote(file.parent.name)}`"
    elif "seals" in parents:
        return (
            f"how far the auxiliary state of {unquote(file.stem)} has come",
            "delete it: the next batch writes it again",
        )
    else:
        folder = next((each for each in file.parents if each.parent.name == "auto_cdc"), file.parent)
        dataset, what = unquote(folder.name), "a part of the auxiliary state"
    return what, f"restore the folder from a copy as old as the table, or rebuild it with --rebuild {dataset}"


def _safe(name: str) -> str:
    """A name as one path component: a slash must not start a subfolder, nor `..` leave the folder."""
    return quote(name, safe=" .-_").replace("..", "%2E%2E")
