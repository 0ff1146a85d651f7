"""Selects the datasets of an update, and those of them that are fully refreshed."""

from dataclasses import dataclass

from dlt_local.declarations.elements import Table
from dlt_local.errors import DeclarationError, LocalPipelineError, did_you_mean
from dlt_local.graph.graph import Graph, Node
from dlt_local.names import TableName, table_name

_RESET_ALLOWED = "pipelines.reset.allowed"


@dataclass(frozen=True)
class SelectedDatasets:
    """What an update runs."""

    run: tuple[Node, ...]
    """All datasets that run, in dependency order."""
    reset: tuple[Node, ...]
    """The datasets that lose their rows and state first."""

    @property
    def kept(self) -> tuple[Node, ...]:
        """The datasets that run on top of their stored rows and state."""
        return tuple(node for node in self.run if node not in self.reset)


@dataclass(frozen=True)
class Selection:
    """The datasets that a user asks an update to run, by name."""

    refresh: tuple[str, ...] = ()
    """Run only these and those of ``full_refresh``; if both are empty, run all."""
    full_refresh: tuple[str, ...] = ()
    full_refresh_all: bool = False

    def resets(self, name: TableName, schema: str) -> bool:
        """True if a full refresh of the dataset is asked for; unqualified names are in ``schema``."""
        return self.full_refresh_all or name in {table_name(each, schema) for each in self.full_refresh}

    def of(self, graph: Graph, schema: str) -> SelectedDatasets:
        """The selected datasets of a graph.

        Raises:
            LocalPipelineError: a name matches no dataset.
            DeclarationError: a dataset that is named for a full refresh does not allow one.
        """
        if self.full_refresh_all:
            reset = tuple(node for node in graph.tables if _may_reset(node))
        else:
            reset = tuple(_find(graph, name, schema) for name in self.full_refresh)
        for node in reset:
            _check_reset(node)
        if not self.refresh and not self.full_refresh:
            return SelectedDatasets(graph.tables, reset)
        names = {_find(graph, name, schema).name for name in (*self.refresh, *self.full_refresh)}
        return SelectedDatasets(tuple(node for node in graph.tables if node.name in names), reset)


def _find(graph: Graph, name: str, schema: str) -> Node:
    full = str(table_name(name, schema)).lower()
    node = next((n for n in graph.tables if n.name.lower() in (full, name.lower())), None)
    if node is None:
        message = f"the pipeline has no dataset {name}{did_you_mean(name, [n.name for n in graph.tables])}"
        raise LocalPipelineError(message)
    return node


def _may_reset(node: Node) -> bool:
    if not isinstance(node.dataset, Table):
        return True
    return node.dataset.table_properties.get(_RESET_ALLOWED, "true").strip().lower() != "false"


def _check_reset(node: Node) -> None:
    if not _may_reset(node):
        message = f"{node.name} has {_RESET_ALLOWED}=false, because a full refresh could lose rows"
        fix = "leave it out of the selection, or remove the property"
        raise DeclarationError("RESET_NOT_ALLOWED", message, node.dataset.location, fix)
