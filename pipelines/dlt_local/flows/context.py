"""What every kind of write is given: the update it belongs to, and the flow it runs."""

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path

from dlt_local.declarations.registry import Registry
from dlt_local.delta.storage import Storage
from dlt_local.flows.checkpoint import Checkpoint
from dlt_local.flows.outcomes import FlowMetrics
from dlt_local.graph.graph import Graph, Node, ResolvedFlow
from dlt_local.names import TableName
from dlt_local.spark.catalog import Catalog
from dlt_local.spark.pipeline_session import PipelineSession


@dataclass(frozen=True)
class UpdateContext:
    """What all flows of one update share."""

    catalog: Catalog
    registry: Registry
    graph: Graph
    storage: Storage
    on_batch: Callable[[str, str, FlowMetrics], None]
    """Given the dataset, the flow, and what the flow has done so far in this run."""
    should_stop: Callable[[], bool] = lambda: False
    """True once the user has asked the update to stop."""
    on_notice: Callable[[str], None] = lambda _: None
    """Given what the user should know although nothing failed; the same text from several flows counts once."""
    session_lock: AbstractContextManager[object] = field(default_factory=threading.RLock, repr=False)
    """Held while names are registered in the session, and while a table that other flows read too is altered."""

    @property
    def session(self) -> PipelineSession:
        """The session in which all queries are evaluated."""
        return self.catalog.session

    def path(self, name: TableName) -> Path:
        """The Delta table of a dataset."""
        table = self.registry.tables.get(name)
        return self.storage.table(name, private=table is not None and table.private)


@dataclass(frozen=True)
class FlowRun:
    """One flow of a dataset in one update."""

    update: UpdateContext
    node: Node
    flow: ResolvedFlow
    checkpoint: Checkpoint

    def report(self, metrics: FlowMetrics) -> None:
        """Report what the flow has done so far in this run."""
        self.update.on_batch(self.node.name, self.flow.flow.name, metrics)
