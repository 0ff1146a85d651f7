"""Row counts of a dataset in one update, summed over its flows."""

from collections.abc import Iterable
from dataclasses import dataclass

from dlt_local.flows.outcomes import FlowMetrics


@dataclass(frozen=True)
class RowCounts:
    """Rows appended, upserted, deleted, and dropped by expectations."""

    rows: int = 0
    upserted: int = 0
    deleted: int = 0
    dropped: int = 0

    @classmethod
    def of(cls, flows: Iterable[FlowMetrics]) -> "RowCounts":
        """Sum the metrics of several flows."""
        metrics = tuple(flows)
        return cls(
            rows=sum(m.num_output_rows for m in metrics),
            upserted=sum(m.cdc.num_upserted_rows for m in metrics if m.cdc),
            deleted=sum(m.cdc.num_deleted_rows for m in metrics if m.cdc),
            dropped=sum(m.dropped_rows for m in metrics),
        )

    @property
    def written(self) -> int:
        """Rows appended, upserted and deleted."""
        return self.rows + self.upserted + self.deleted
