"""What a batch of AUTO CDC did, in numbers: the metrics of the event log."""

from dataclasses import dataclass, fields
from typing import Any


@dataclass(frozen=True)
class CdcMetrics:
    """What one batch did; rows of the target and events of the source."""

    num_upserted_rows: int = 0
    num_deleted_rows: int = 0
    num_events: int = 0
    num_late_events: int = 0
    """Events older than what the target already reflects of their key. SCD type 1: of keys for which the batch has
    nothing newer."""
    num_duplicate_events: int = 0
    """Events delivered before with the same sequence, kind and row. SCD type 1: at a key's last sequence."""
    num_ties: int = 0
    """Different events with the same key and sequence. SCD type 1: at a key's last sequence."""
    num_out_of_order_keys: int | None = None
    """Keys whose last event to arrive in the batch is not the last in sequence. None if not counted: SCD type 1 drops a
    key's older events before it shuffles."""

    def __add__(self, other: "CdcMetrics") -> "CdcMetrics":
        return CdcMetrics(*(_sum(getattr(self, f.name), getattr(other, f.name)) for f in fields(self)))


def _sum(one: Any, other: Any) -> Any:
    return one if other is None else other if one is None else one + other
