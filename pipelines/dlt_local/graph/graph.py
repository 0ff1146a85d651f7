"""A pipeline's graph as frozen values: its datasets in order, each with its flows, inputs and schema."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from pyspark.sql.types import StructType

from dlt_local.auto_cdc.args import ChangeArgs
from dlt_local.declarations.elements import Dataset, Flow, QueryFlow, View
from dlt_local.errors import DeclarationError
from dlt_local.graph.stream_sources import FileSource, KafkaSource
from dlt_local.names import TableName


@dataclass(frozen=True)
class EarlierHash:
    """The hash of a query as the version before made it: not exact, but a streaming table does not depend on it."""

    hash: str
    is_lasting: bool
    """False if the result may change although query and inputs do not."""


@dataclass(frozen=True)
class QueryHashes:
    """What tells a flow's query from every other one."""

    fingerprint: str | None = None
    """Hash of the query: as long as it and the inputs stay the same, so does the result. None for a query whose
    result may change anyway, because it reads outside the pipeline or calls a function such as `now()`."""
    query: str = ""
    """Hash of the query of a query flow, even if it has no fingerprint; it changes when the query is edited."""


@dataclass(frozen=True)
class ResolvedFlow:
    """A flow whose query has been analysed."""

    flow: Flow
    """As declared."""
    inputs: tuple[TableName, ...]
    """The tables of the pipeline that it reads, directly or through views."""
    views: tuple[str, ...]
    """The views that it reads, innermost first."""
    streaming: bool
    """True if its query is a stream."""
    schema: StructType
    """The columns it writes."""
    make_hashes: Callable[[], QueryHashes] = field(default=QueryHashes, repr=False, compare=False)
    """Makes the hashes of its query. Only when they are asked for: that may take as long as the query's analysis, and
    flows run side by side, while they are planned one after the other."""
    changes: ChangeArgs | None = None
    """The resolved arguments of an AUTO CDC or snapshot flow."""
    earlier: EarlierHash | None = None
    """The hash in its earlier form, where the last update was by that version."""
    files: tuple[FileSource, ...] = ()
    """The folders whose files it streams."""
    kafka: tuple[KafkaSource, ...] = ()
    """The topics that it streams."""
    is_rewritten: bool = False
    """True for a stream that writes its whole result each time: an aggregation without a watermark."""

    @cached_property
    def hashes(self) -> QueryHashes:
        """The hashes of its query."""
        return self.make_hashes()


@dataclass(frozen=True)
class Node:
    """One dataset of the graph."""

    dataset: Dataset
    kind: str
    """`streaming table`, `materialized view`, `view` or `sink`."""
    flows: tuple[ResolvedFlow, ...]
    schema: StructType
    rules: str | None = ""
    """Hash of the expectations of a view or materialized view; None if what they say may change."""

    @cached_property
    def name(self) -> str:
        """The dataset's full name."""
        return str(self.dataset.name)

    @cached_property
    def inputs(self) -> tuple[TableName, ...]:
        """The tables that its flows read."""
        return tuple(dict.fromkeys(name for flow in self.flows for name in flow.inputs))

    @property
    def is_changed_in_place(self) -> bool:
        """True if its rows are updated or replaced, so that it cannot be the source of a stream."""
        return self.kind == "materialized view" or any(
            flow.is_rewritten or not isinstance(flow.flow, QueryFlow) for flow in self.flows
        )


@dataclass(frozen=True)
class Graph:
    """All datasets of a pipeline, each after the datasets it reads."""

    nodes: tuple[Node, ...]
    notices: tuple[str, ...]
    """What the declarations ask for that has no effect here."""
    refused: Mapping[str, DeclarationError] = field(default_factory=dict)
    """Datasets whose stored rows cannot take what their flows would write now; the others can run."""
    widened: Mapping[str, DeclarationError] = field(default_factory=dict)
    """Datasets that can only if stored columns get wider types, each with the refusal if they must not."""

    def __getitem__(self, name: str) -> Node:
        return self._by_name[name]

    @cached_property
    def _by_name(self) -> Mapping[str, Node]:
        return {node.name: node for node in self.nodes}

    @cached_property
    def tables(self) -> tuple[Node, ...]:
        """The tables and sinks: every node that is written to, in order."""
        return tuple(node for node in self.nodes if not isinstance(node.dataset, View))

    @cached_property
    def views(self) -> tuple[View, ...]:
        """The views, in order."""
        return tuple(node.dataset for node in self.nodes if isinstance(node.dataset, View))

    @cached_property
    def readers(self) -> Mapping[TableName, tuple[str, ...]]:
        """Table -> the tables and sinks that read it, directly or through views."""
        found: dict[TableName, list[str]] = {}
        for node in self.tables:
            for name in node.inputs:
                found.setdefault(name, []).append(node.name)
        return {name: tuple(readers) for name, readers in found.items()}
