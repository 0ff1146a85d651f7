"""The graph of a pipeline as frozen values: flows, nodes, and the graph of them."""

from dataclasses import dataclass

from pyspark.sql.types import StructType

from dlt_local.auto_cdc.args import ChangeArgs
from dlt_local.declarations.elements import Flow, QueryFlow, Sink, Table, View
from dlt_local.names import TableName


@dataclass(frozen=True)
class ResolvedFlow:
    """A flow whose inputs are known."""

    flow: Flow
    inputs: tuple[TableName, ...]
    """The pipeline's tables that it reads, through views too."""
    views: tuple[str, ...]
    """The views that it reads, innermost first."""
    streaming: bool
    schema: StructType
    fingerprint: str | None
    """Changes when the query does; None where a run could differ though neither tables nor folders did."""
    changes: ChangeArgs | None = None
    query: str = ""
    """Another one where the query is another; unlike the fingerprint, also of queries that read outside."""
    folders: tuple[str, ...] = ()
    """The folders of which it streams the files."""


@dataclass(frozen=True)
class Node:
    """One dataset of the graph."""

    dataset: Table | View | Sink
    kind: str
    """streaming table, materialized view, view or sink."""
    flows: tuple[ResolvedFlow, ...]
    schema: StructType

    @property
    def name(self) -> str:
        """The dataset's full name."""
        return str(self.dataset.name)

    @property
    def inputs(self) -> tuple[TableName, ...]:
        """The tables that its flows read."""
        return tuple(dict.fromkeys(name for flow in self.flows for name in flow.inputs))

    @property
    def is_changed_in_place(self) -> bool:
        """True where rows are updated or replaced, so that it cannot be streamed from."""
        return self.kind == "materialized view" or any(not isinstance(f.flow, QueryFlow) for f in self.flows)


@dataclass(frozen=True)
class Graph:
    """All datasets of a pipeline, each behind those that it reads."""

    nodes: tuple[Node, ...]
    notices: tuple[str, ...]

    def __getitem__(self, name: str) -> Node:
        return next(node for node in self.nodes if node.name == name)

    @property
    def tables(self) -> tuple[Node, ...]:
        """The nodes that are stored or sent, in order."""
        return tuple(node for node in self.nodes if not isinstance(node.dataset, View))
