"""Checkpoint of a flow: its identity and last commit; what to do when it is missing, damaged or half written."""

import json
import re
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from dlt_local.delta.storage import Storage, read_json, write_json
from dlt_local.errors import FlowError, StorageAltered
from dlt_local.flows.outcomes import FlowMetrics
from dlt_local.graph.graph import Node

_TABLE_READ = re.compile(r'"reservoirId":\s*"([^"]+)"')
"""The id of a table in the offsets of a stream that reads Delta."""


@dataclass(frozen=True)
class Position:
    """How far a streaming query has come."""

    query_id: str
    batch: int
    """The last committed microbatch; -1 before the first."""


@dataclass(frozen=True)
class Checkpoint:
    """The folder of one flow's checkpoint; a flow without a stream keeps only marks of its own there."""

    dataset: str
    flow: str
    folder: Path

    def query_id(self) -> str:
        """Identity of the streaming query; created with the checkpoint, gone with it.

        Raises:
            FileNotFoundError: no stream has started here.
            ValueError: the file that holds it is damaged.
        """
        return str(json.loads((self.folder / "metadata").read_text())["id"])

    def position(self) -> Position | None:
        """How far the stream has come; None for a flow without a stream."""
        return Position(self.query_id(), self._last("commits")) if (self.folder / "metadata").exists() else None

    def check(self, recorded: Position | None) -> None:
        """Refuse a checkpoint that is not the one the last update left, or an older state of it.

        Args:
            recorded: its position at the end of the last update; None if the flow has no stream.

        Raises:
            FlowError: CHECKPOINT_MISSING or CHECKPOINT_DAMAGED.
        """
        if not self.folder.exists():
            raise self._error("CHECKPOINT_MISSING", "which is gone: where to continue is unknown")
        if recorded is not None and not self._has_reached(recorded):
            what = "part of which is gone, or which is an older copy: batches would be lost or written twice"
            raise self._error("CHECKPOINT_DAMAGED", self._foreign(recorded) or what)

    def check_reaches(self, written: Mapping[str, int]) -> None:
        """Refuse a checkpoint that has not planned all batches that its table has.

        Args:
            written: query id -> the last batch that was written.

        Raises:
            FlowError: CHECKPOINT_DAMAGED.
        """
        batch = written.get(self._query_id_if_intact() or "", -1)
        planned = self.last_planned
        if planned < batch:
            what = f"which is an older copy: it has planned batches up to {planned}, and batch {batch} is in the table"
            raise self._error("CHECKPOINT_DAMAGED", what)

    @property
    def has_commits(self) -> bool:
        """True if a batch of the stream has been written in full."""
        return self._last("commits") >= 0

    @property
    def last_planned(self) -> int:
        """The last batch that an update has begun; -1 before the first."""
        return self._last("offsets")

    @property
    def last_committed(self) -> int:
        """The last batch that has been written in full; -1 before the first."""
        return self._last("commits")

    def tables_read(self) -> set[str]:
        """The ids of the Delta tables that the stream has read."""
        try:
            lines = (self.folder / "offsets" / str(self._last("offsets"))).read_text(encoding="utf-8").splitlines()
        except (FileNotFoundError, UnicodeDecodeError):
            return set()
        return {match[1] for line in lines if (match := _TABLE_READ.search(line))}

    def clear_half_written_batch(self) -> None:
        """Remove the temporary file of a first batch whose planning was interrupted: Spark refuses to start over it.

        Once a batch has been committed nothing is touched: without its offsets such a checkpoint is damaged.
        """
        if any(file.name.isdigit() for part in ("offsets", "commits") for file in (self.folder / part).glob("*")):
            return
        for file in (self.folder / "offsets").glob(".*"):
            file.unlink()

    def app_id(self) -> str:
        """Delta's application id for a flow that has no streaming query; created at first use."""
        file = self.folder / "app.json"
        stored = read_json(file, "id")
        if stored is None:
            stored = {"id": str(uuid.uuid4())}
            write_json(file, stored)
        return str(stored["id"])

    def once(self, write: Callable[[], FlowMetrics]) -> FlowMetrics:
        """Run a write unless an earlier update has completed it."""
        mark = self.folder / "once.json"
        if mark.exists():
            return FlowMetrics()
        metrics = write()
        write_json(mark, {"at": datetime.now(UTC).isoformat()})
        return metrics + FlowMetrics(batches=1)

    def _last(self, part: str) -> int:
        return last_batch(self.folder / part)

    def _query_id_if_intact(self) -> str | None:
        try:
            return self.query_id()
        except (FileNotFoundError, ValueError, KeyError, TypeError):
            return None

    def _has_reached(self, recorded: Position) -> bool:
        return self._query_id_if_intact() == recorded.query_id and self._last("commits") >= recorded.batch

    def _foreign(self, recorded: Position) -> str | None:
        found = self._query_id_if_intact()
        if found is None or found == recorded.query_id:
            return None
        return f"which is that of another stream: its id is {found}, and was {recorded.query_id}"

    def _error(self, condition: str, what: str) -> FlowError:
        message = f"flow `{self.flow}` had its checkpoint at {self.folder}, {what}"
        fix = f"restore it, or rebuild the table with --rebuild {self.dataset}"
        return StorageAltered(condition, self.dataset, message, fix)


def last_batch(log: Path) -> int:
    """The last batch in a checkpoint's folder ``offsets`` or ``commits``, -1 where there is none."""
    return max((int(file.name) for file in log.glob("*") if file.name.isdigit()), default=-1)


def checkpoints(node: Node, storage: Storage) -> dict[str, Checkpoint]:
    """The checkpoint of each flow of a dataset, by the flow's name."""
    names = [flow.flow.name for flow in node.flows]
    return {name: Checkpoint(node.name, name, storage.checkpoint(node.name, name)) for name in names}


def positions_to_json(positions: Mapping[str, Position | None]) -> dict[str, Any]:
    """Positions as the progress file holds them: `{}` for a flow without a stream."""
    return {
        flow: {} if position is None else {"id": position.query_id, "batch": position.batch}
        for flow, position in positions.items()
    }


def positions_from_json(content: Any) -> dict[str, Position | None]:
    """Positions read from a progress file; an early form of it lists only the names of the flows."""
    if isinstance(content, list):
        return dict.fromkeys(content)
    return {
        flow: Position(position["id"], int(position["batch"])) if position else None
        for flow, position in (content or {}).items()
    }
