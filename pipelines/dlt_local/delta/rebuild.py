"""Rebuild: datasets are built anew beside their stored rows, and replace them together in the end.

Readers see the old rows until then. A rebuild that fails or is killed before leaves them as they are; one that is
killed while it replaces them is finished by the next update.
"""

import os
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from dlt_local import failpoints
from dlt_local.delta.storage import Storage, read_json, write_json
from dlt_local.names import TableName


@dataclass(frozen=True)
class RebuildStorage(Storage):
    """A storage in which everything of some datasets is in a folder of its own."""

    rebuilt: frozenset[str] = frozenset()
    """Names of the datasets."""

    def table(self, name: TableName, private: bool = False) -> Path:
        """The Delta table of a dataset."""
        return self._beside.table(name, private) if str(name) in self.rebuilt else super().table(name, private)

    def checkpoints(self, target: str) -> Path:
        """The folder of the checkpoints of all flows into a target."""
        return self._beside.checkpoints(target) if target in self.rebuilt else super().checkpoints(target)

    def auto_cdc(self, target: TableName) -> Path:
        """The auxiliary state of an AUTO CDC target."""
        return self._beside.auto_cdc(target) if str(target) in self.rebuilt else super().auto_cdc(target)

    def seal(self, target: TableName) -> Path:
        """The seal of the auxiliary state of an AUTO CDC target."""
        return self._beside.seal(target) if str(target) in self.rebuilt else super().seal(target)

    def progress(self, target: str) -> Path:
        """The inputs of a dataset as the last completed update read them, as JSON."""
        return self._beside.progress(target) if target in self.rebuilt else super().progress(target)

    @property
    def _beside(self) -> Storage:
        return Storage(_folder(self))


def replace(storage: RebuildStorage, tables: Iterable[tuple[TableName, bool]]) -> None:
    """Put what was built in the place of what is stored.

    Args:
        storage: where they were built.
        tables: the datasets, and whether each is private.
    """
    stored = Storage(storage.root)
    pairs = [pair for name, private in tables for pair in _places(storage, stored, name, private)]
    move = [[_relative(built, storage), _relative(place, storage)] for built, place in pairs if built.exists()]
    remove = [_relative(place, storage) for built, place in pairs if not built.exists()]
    failpoints.reach("rebuild.built")
    write_json(_marker(storage), {"move": move, "remove": remove})
    finish(stored)


def finish(storage: Storage) -> None:
    """Finish the replacement that a killed update began, and discard what one that did not get so far has built."""
    marked = read_json(_marker(storage))
    if marked is not None:
        for built, place in marked["move"]:
            _move(storage.root / built, storage.root / place, _folder(storage) / "replaced")
            failpoints.reach("rebuild.replacing")
        for place in marked["remove"]:
            _remove(storage.root / place)
        _marker(storage).unlink()
    shutil.rmtree(_folder(storage), ignore_errors=True)


def _move(built: Path, place: Path, replaced: Path) -> None:
    if not built.exists():
        return
    if place.is_dir():
        # Renamed and not deleted in place, so that readers find a whole table at every moment but one.
        shutil.rmtree(replaced, ignore_errors=True)
        replaced.parent.mkdir(parents=True, exist_ok=True)
        os.rename(place, replaced)
    place.parent.mkdir(parents=True, exist_ok=True)
    os.replace(built, place)


def _remove(place: Path) -> None:
    if place.is_dir():
        shutil.rmtree(place)
    else:
        place.unlink(missing_ok=True)


def _relative(path: Path, storage: Storage) -> str:
    return str(path.relative_to(storage.root))


def _places(built: Storage, stored: Storage, name: TableName, private: bool) -> list[tuple[Path, Path]]:
    places = [
        (
            each.progress(str(name)),
            each.checkpoints(str(name)),
            each.seal(name),
            each.auto_cdc(name),
            each.table(name, private),
        )
        for each in (built, stored)
    ]
    return list(zip(*places, strict=True))


def _folder(storage: Storage) -> Path:
    return storage.root / "system" / "rebuild"


def _marker(storage: Storage) -> Path:
    return storage.root / "system" / "rebuild.json"
