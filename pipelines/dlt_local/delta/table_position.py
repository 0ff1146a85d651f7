"""Position of a Delta table: which table it is and its latest commit, to find later what was altered since."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum
from pathlib import Path
from typing import Any

from dlt_local.delta import delta_log

_LOSES_COLUMNS = {"DROP COLUMNS", "REPLACE COLUMNS"}
"""Operations that take values away without touching a file."""


class Alteration(Enum):
    """How a table differs from the one that a position was noted of."""

    MISSING = "missing"
    REPLACED = "replaced"
    """Another table: dropped and created again, or copied from elsewhere."""
    OUTDATED = "outdated"
    """An older copy: commits are gone."""
    CHANGED = "changed"
    """Later commits have changed rows."""


@dataclass(frozen=True)
class Altered:
    """An alteration, and what shows it."""

    kind: Alteration
    evidence: str


@dataclass(frozen=True)
class TablePosition:
    """A table at one of its commits."""

    id: str
    version: int
    commit: str
    """Hash of the commit's header, which no two commits share; empty where the log no longer has it."""

    @classmethod
    def of(cls, table: Path) -> "TablePosition | None":
        """The position of a table as it is; None if there is none, or its log says no id."""
        version, identity = delta_log.version(table), delta_log.identity(table)
        return None if version is None or identity is None else cls(identity, version, _header(table, version))

    @classmethod
    def from_json(cls, content: Mapping[str, Any] | None) -> "TablePosition | None":
        """A position from its JSON form."""
        return None if content is None else cls(content["id"], content["version"], content["commit"])

    def to_json(self) -> Mapping[str, Any]:
        """Its JSON form."""
        return {"id": self.id, "version": self.version, "commit": self.commit}

    def moved(self, table: Path) -> Altered | None:
        """Whether the table is another one or an older one; later commits do not matter."""
        version = delta_log.version(table)
        if version is None:
            return Altered(Alteration.MISSING, f"there is no Delta table at {table}")
        identity = delta_log.identity(table)
        if identity is not None and identity != self.id:
            return Altered(Alteration.REPLACED, f"its id was {self.id} and is {identity}")
        if version < self.version:
            return Altered(Alteration.OUTDATED, f"its version was {self.version} and is {version}")
        header = _header(table, self.version)
        if header and self.commit and header != self.commit:
            return Altered(Alteration.OUTDATED, f"its version {self.version} is another commit than it was")
        return None

    def rewound(self, table: Path) -> Altered | None:
        """As `moved`, and whether a RESTORE has taken back rows of this position; other later commits do not matter."""
        found = self.moved(table)
        if found is not None:
            return found
        for version in range(self.version + 1, (delta_log.version(table) or 0) + 1):
            commit = _row_change(table, version)
            if commit is not None and commit.restored is not None:
                evidence = f"version {version} is a RESTORE to version {commit.restored}"
                found = Altered(Alteration.OUTDATED, evidence) if commit.restored < self.version else None
        return found

    def altered(self, table: Path, allowed: tuple[str, ...] = ()) -> Altered | None:
        """What happened to the table since, except for commits that keep its rows.

        Args:
            table: the Delta table.
            allowed: operations that may have changed rows.
        """
        return self.moved(table) or self._changed(table, allowed)

    def _changed(self, table: Path, allowed: tuple[str, ...]) -> Altered | None:
        found: Altered | None = None
        for version in range(self.version + 1, (delta_log.version(table) or 0) + 1):
            commit = _row_change(table, version)
            if commit is None or commit.operation in allowed:
                continue
            if commit.restored == self.version:
                # RESTORE to this version: the rows are those of this position again.
                found = None
            elif found is None:
                at = datetime.fromtimestamp(commit.timestamp / 1000, UTC)
                found = Altered(
                    Alteration.CHANGED, f"version {version}, {commit.operation} at {at:%Y-%m-%d %H:%M:%S} UTC"
                )
        return found


def _header(table: Path, version: int) -> str:
    line = delta_log.header(table, version)
    return "" if line is None else hashlib.sha256(line.strip().encode()).hexdigest()[:16]


@dataclass(frozen=True)
class _RowChange:
    """A commit that may have changed a table's rows."""

    operation: str
    timestamp: int
    """Milliseconds since 1970."""
    restored: int | None
    """The version that a RESTORE has gone back to."""


def _row_change(table: Path, version: int) -> _RowChange | None:
    """What a commit did to the rows; None if it left them as they were. One that is gone may have done anything."""
    try:
        actions = delta_log.actions(table, version)
    except FileNotFoundError:
        return _RowChange("no longer in the log", 0, None)
    info: dict[str, Any] = next((action["commitInfo"] for action in actions if "commitInfo" in action), {})
    operation = str(info.get("operation"))
    if operation not in _LOSES_COLUMNS and not any(map(_changes_rows, actions)):
        return None
    restored = info.get("operationParameters", {}).get("version") if operation == "RESTORE" else None
    return _RowChange(operation, int(info.get("timestamp", 0)), None if restored is None else int(restored))


def _changes_rows(action: Mapping[str, Any]) -> bool:
    if action.get("remove", {}).get("dataChange"):
        return True
    added = action.get("add", {})
    # An append without rows, such as one that only adds a column, may write an empty file.
    return bool(added.get("dataChange")) and json.loads(added.get("stats") or "{}").get("numRecords") != 0
