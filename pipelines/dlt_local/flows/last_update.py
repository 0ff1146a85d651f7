"""What a dataset's last completed update had read and reached, kept as a JSON file."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dlt_local.delta.storage import read_json, write_json
from dlt_local.delta.table_position import TablePosition
from dlt_local.flows.checkpoint import Position, positions_from_json, positions_to_json


@dataclass(frozen=True)
class LastUpdate:
    """A dataset at the end of its last completed update; all fields are empty before the first."""

    inputs: Mapping[str, str | None] | None = None
    """State of each table and folder that it reads (`idleness.input_states`)."""
    fingerprint: str | None = None
    """Of its queries and expectations (`idleness.fingerprint`)."""
    queries: Mapping[str, str] = field(default_factory=dict)
    """Flow -> its query; shown to the user when it has changed."""
    checkpoints: Mapping[str, Position | None] = field(default_factory=dict)
    """Flow -> position of its checkpoint; None for a flow without a stream."""
    table: TablePosition | None = None
    """Its table; None for a sink, and where an earlier version of the engine wrote this."""
    ledger_count: int = 0
    """How often the ledger beside an AUTO CDC target had been written."""

    @classmethod
    def read(cls, file: Path) -> "LastUpdate":
        """The content of the file; empty where there is none."""
        content = read_json(file) or {}
        return cls(
            content.get("inputs"),
            content.get("fingerprint"),
            content.get("queries", {}),
            positions_from_json(content.get("checkpoints")),
            TablePosition.from_json(content.get("table")),
            content.get("ledger_count", 0),
        )

    def write(self, file: Path) -> None:
        """Replace the content of the file in one step."""
        content: dict[str, Any] = {
            "inputs": self.inputs,
            "fingerprint": self.fingerprint,
            "queries": self.queries,
            "checkpoints": positions_to_json(self.checkpoints),
        }
        if self.table is not None:
            content |= {"table": self.table.to_json(), "ledger_count": self.ledger_count}
        write_json(file, content)
