"""Which datasets an update takes, which of them it builds anew, and what stands against it."""

from collections.abc import Sequence
from dataclasses import dataclass

from dlt_local.auto_cdc import drift
from dlt_local.declarations.elements import Table
from dlt_local.delta import tables
from dlt_local.delta.storage import Storage, read_json
from dlt_local.errors import DeclarationError, LocalPipelineError, did_you_mean
from dlt_local.graph.graph import Graph, Node
from dlt_local.names import table_name

_RESET_ALLOWED = "pipelines.reset.allowed"


@dataclass(frozen=True)
class Selection:
    """What a user asks of an update, in dataset names."""

    refresh: tuple[str, ...] = ()
    """Only these (and those of ``full_refresh``); none means all."""
    full_refresh: tuple[str, ...] = ()
    full_refresh_all: bool = False

    def of(self, graph: Graph, schema: str) -> tuple[list[Node], list[Node]]:
        """The datasets to bring up to date, and those of them to build anew.

        Raises:
            LocalPipelineError: a name is of no dataset.
            DeclarationError: a dataset named for a full refresh does not allow one.
        """
        every = list(graph.tables)
        if self.full_refresh_all:
            reset = [node for node in every if _may_reset(node)]
        else:
            reset = [_find(graph, name, schema) for name in self.full_refresh]
        for node in reset:
            _refuse_reset(node)
        if not self.refresh and not self.full_refresh:
            return every, reset
        names = {_find(graph, name, schema).name for name in (*self.refresh, *self.full_refresh)}
        return [node for node in every if node.name in names], reset


def _find(graph: Graph, name: str, schema: str) -> Node:
    full = str(table_name(name, schema)).lower()
    node = next((n for n in graph.tables if n.name.lower() in (full, name.lower())), None)
    if node is None:
        near = did_you_mean(name, [n.name for n in graph.tables])
        message = f"the pipeline has no dataset {name}{near}"
        raise LocalPipelineError(message)
    return node


def _may_reset(node: Node) -> bool:
    if not isinstance(node.dataset, Table):
        return True
    return node.dataset.table_properties.get(_RESET_ALLOWED, "true").strip().lower() != "false"


def _refuse_reset(node: Node) -> None:
    if not _may_reset(node):
        message = f"{node.name} has {_RESET_ALLOWED}=false: a full refresh would lose what its source no longer has"
        fix = "leave it out of the selection, or take the property back"
        raise DeclarationError("RESET_NOT_ALLOWED", message, node.dataset.location, fix)


def drifted(wanted: Sequence[Node], reset: Sequence[Node], storage: Storage) -> list[Exception]:
    """What was changed in the declarations and would need a full refresh: one fault each."""
    faults: list[Exception] = []
    for node in wanted:
        if node in reset:
            continue
        faults += _repartitioned(node, storage)
        for flow in node.flows:
            try:
                if flow.changes is not None:
                    drift.check(flow.changes, storage.auto_cdc(flow.changes.target), flow.flow.location)
            except DeclarationError as fault:
                faults.append(fault)
    return faults


def _repartitioned(node: Node, storage: Storage) -> list[Exception]:
    dataset = node.dataset
    if not isinstance(dataset, Table) or node.kind != "streaming table":
        return []
    stored = tables.repartitioned(dataset, storage.table(dataset.name, dataset.private))
    if stored is None:
        return []
    had, wanted = (", ".join(columns) or "no column" for columns in (stored, dataset.partition_cols))
    message = f"{node.name} is partitioned by {had}, and declared to be by {wanted}"
    fix = f"take it back, or rebuild the table with --full-refresh {node.name}"
    return [DeclarationError("PARTITIONING_CHANGED", message, dataset.location, fix)]


def rewritten(wanted: Sequence[Node], reset: Sequence[Node], storage: Storage) -> list[str]:
    """Notices of streaming tables whose query is another than the one that made their rows."""
    told = []
    for node in wanted:
        if node.kind != "streaming table" or node in reset:
            continue
        before = (read_json(storage.progress(node.name)) or {}).get("queries", {})
        changed = [f.flow.name for f in node.flows if before.get(f.flow.name, f.query) != f.query]
        for flow in changed:
            told.append(
                f"The query of flow `{flow}` has changed: it makes new rows of {node.name}; those that are there stay "
                f"as they are, unless it is rebuilt with --full-refresh {node.name}"
            )
    return told
