"""The identity that makes a write idempotent: Delta's application id and version."""

from dataclasses import dataclass


@dataclass(frozen=True)
class TransactionId:
    """A write that Delta, or the engine's own state, accepts once however often it is retried."""

    app_id: str
    """Who writes: a streaming query, or a flow that has none; a new one after each full refresh."""
    version: int
    """The number of the write, such as the microbatch's id; it only grows."""
