"""Ledger of a target: which batches were begun and which ended, and what there was when the last one ended."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dlt_local.auto_cdc.high_watermark import Position
from dlt_local.delta.table_position import TablePosition
from dlt_local.delta.transaction import TransactionId


@dataclass(frozen=True)
class Ledger:
    """Which batches were begun and which ended: the last version of each application id."""

    begun: Mapping[str, int] = field(default_factory=dict)
    ended: Mapping[str, int] = field(default_factory=dict)
    high_watermark: Position | None = None
    """The greatest sequence of all batches begun, None where it is not known."""
    count: int = 0
    """How often it was written; 0 where an earlier version of the engine wrote it."""
    target: TablePosition | None = None
    """The target when the last batch ended, or before the first began."""
    lists: Mapping[str, int] = field(default_factory=dict)
    """Log -> how often its list of parts had been written when the last batch ended."""
    snapshots: int = 0
    """How many snapshots had been applied before the last batch."""

    @property
    def interrupted(self) -> tuple[TransactionId, ...]:
        """Batches that were begun and have not ended: the target may or may not have their rows."""
        return tuple(TransactionId(app, n) for app, n in self.begun.items() if self.ended.get(app) != n)

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> "Ledger":
        """A ledger from its JSON form, of this or an earlier version of the engine."""
        watermark = content.get("newest")
        return cls(
            content.get("batches", {}),
            content.get("ended", {}),
            None if watermark is None else tuple(watermark),
            content.get("count", 0),
            TablePosition.from_json(content.get("target")),
            content.get("lists", {}),
            content.get("snapshots", 0),
        )

    def to_json(self) -> dict[str, Any]:
        """Its JSON form."""
        return {
            "batches": self.begun,
            "ended": self.ended,
            "newest": self.high_watermark,
            "count": self.count,
            "target": None if self.target is None else self.target.to_json(),
            "lists": self.lists,
            "snapshots": self.snapshots,
        }
