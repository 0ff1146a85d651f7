"""Identity of a write that Delta commits at most once."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class TransactionId:
    """An application and the version it commits: Delta skips an append whose version is already committed."""

    app_id: str
    """The streaming query, or the flow where there is none; a new one after each full refresh."""
    version: int
    """The microbatch, or the snapshot, counted from 0."""
    is_new: bool = field(default=False, compare=False)
    """True if no earlier attempt can have committed it: to look for one takes Delta three Spark jobs."""

    @property
    def options(self) -> Mapping[str, str]:
        """The identity as options of a Delta writer.

        >>> dict(TransactionId("orders", 7).options)
        {'txnAppId': 'orders', 'txnVersion': '7'}
        """
        return {"txnAppId": self.app_id, "txnVersion": str(self.version)}
