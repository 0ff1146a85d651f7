"""Where a pipeline keeps its things: plain Delta tables for people, everything else under ``system``."""

import fcntl
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from dlt_local import failpoints
from dlt_local.errors import LocalPipelineError
from dlt_local.names import TableName


class StorageInUse(LocalPipelineError):
    """Another update is running on the same storage folder."""


@dataclass(frozen=True)
class Storage:
    """The storage folder of one pipeline."""

    root: Path

    def table(self, name: TableName, private: bool = False) -> Path:
        """The Delta table of a dataset; a private one lies out of people's sight."""
        above = self.system / "private" if private else self.root / "tables"
        return above / _safe(name.schema) / _safe(name.table)

    @property
    def system(self) -> Path:
        """All that the engine keeps besides the published tables."""
        return self.root / "system"

    @property
    def event_log(self) -> Path:
        """The event log, a Delta table."""
        return self.system / "event_log"

    def checkpoint(self, target: str, flow: str) -> Path:
        """A flow's streaming checkpoint; all those of one target lie in one folder."""
        return self.checkpoints(target) / _safe(flow)

    def checkpoints(self, target: str) -> Path:
        """The folder of all checkpoints of a target's flows."""
        return self.system / "checkpoints" / _safe(target)

    def auto_cdc(self, target: TableName) -> Path:
        """What APPLY CHANGES must remember of a target besides its rows."""
        return self.system / "auto_cdc" / _safe(str(target))

    def progress(self, target: str) -> Path:
        """What the last completed update saw of a target's inputs, as JSON."""
        return self.system / "progress" / f"{_safe(target)}.json"

    def maintenance(self, name: str) -> Path:
        """What was last done to keep a table in shape, as JSON."""
        return self.system / "maintenance" / f"{_safe(name)}.json"

    @property
    def resets(self) -> Path:
        """One file for each full refresh that was begun and not finished."""
        return self.system / "resets"

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the storage for one update; a process that dies lets go of it by dying.

        Raises:
            StorageInUse: another process holds it.
        """
        self.system.mkdir(parents=True, exist_ok=True)
        with (self.system / "lock").open("a+") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                lock.seek(0)
                holder = lock.read().strip() or "unknown"
                message = (
                    f"storage {self.root} is in use by process {holder}: an update is running on it\n"
                    "  fix: wait for it to end, or give this pipeline a storage folder of its own"
                )
                raise StorageInUse(message) from error
            lock.truncate(0)
            lock.write(str(os.getpid()))
            lock.flush()
            yield

    def reset(self, target: TableName | str, private: bool = False) -> None:
        """Forget a target wholly: its rows, checkpoints and AUTO CDC state. Finished by the next update if killed."""
        mark = self.resets / f"{_safe(str(target))}.json"
        is_table = isinstance(target, TableName)
        address = [target.schema, target.table] if isinstance(target, TableName) else [target]
        write_json(mark, {"address": address, "private": private, "table": is_table})
        self._finish_reset(mark)

    def finish_resets(self) -> None:
        """Carry full refreshes through that a killed update left half done."""
        for mark in sorted(self.resets.glob("*.json")):
            self._finish_reset(mark)

    def _finish_reset(self, mark: Path) -> None:
        told = json.loads(mark.read_text())
        target: TableName | str = TableName(*told["address"]) if told["table"] else told["address"][0]
        # The progress goes first: as long as it stands, an idle target would be passed over.
        self.progress(str(target)).unlink(missing_ok=True)
        shutil.rmtree(self.checkpoints(str(target)), ignore_errors=True)
        failpoints.reach("reset.begun")
        if isinstance(target, TableName):
            shutil.rmtree(self.auto_cdc(target), ignore_errors=True)
            shutil.rmtree(self.table(target, told["private"]), ignore_errors=True)
        mark.unlink()


def write_json(path: Path, value: Mapping[str, Any]) -> None:
    """Write a JSON file whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    scratch = path.with_suffix(".tmp")
    scratch.write_text(json.dumps(value, indent=1, sort_keys=True, default=str))
    os.replace(scratch, path)


def read_json(path: Path) -> dict[str, Any] | None:
    """A JSON file's content, None where there is none."""
    try:
        content: dict[str, Any] = json.loads(path.read_text())
    except FileNotFoundError:
        return None
    return content


def _safe(name: str) -> str:
    """A name as one path component: a slash in it must not open a folder, nor `..` leave one."""
    return quote(name, safe=" .-_").replace("..", "%2E%2E")
