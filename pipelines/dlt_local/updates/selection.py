"""Selects the datasets of an update, and those of them that are fully refreshed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dlt_local.declarations.elements import RESET_ALLOWED, Sink, Table
from dlt_local.errors import DeclarationError, SetupError, did_you_mean
from dlt_local.graph.graph import Graph, Node
from dlt_local.names import TableName, table_name


@dataclass(frozen=True)
class SelectedDatasets:
    """What an update runs."""

    run: tuple[Node, ...]
    """All datasets that run, in dependency order."""
    reset: tuple[Node, ...]
    """The datasets that lose their rows and state first, in dependency order."""
    rebuilt: tuple[Node, ...] = ()
    """The datasets that are built anew beside their stored rows, which they replace in the end."""

    @property
    def kept(self) -> tuple[Node, ...]:
        """The datasets that run on top of their stored rows and state."""
        anew = {node.name for node in (*self.reset, *self.rebuilt)}
        return tuple(node for node in self.run if node.name not in anew)


@dataclass(frozen=True)
class Selection:
    """The datasets that a user asks an update to run, by name."""

    refresh: tuple[str, ...] = ()
    """Run only these and those of ``full_refresh``; if both are empty, run all."""
    full_refresh: tuple[str, ...] = ()
    full_refresh_all: bool = False
    rebuild: tuple[str, ...] = ()
    """Build these, what they are made from, and what is made from that anew. A name without a schema means every
    dataset of that name."""

    def resets(self, name: TableName, schema: str) -> bool:
        """True if a full refresh of the dataset is asked for; unqualified names are in ``schema``."""
        return self.full_refresh_all or name in {table_name(each, schema) for each in self.full_refresh}

    def continued(self) -> "Selection":
        """What is still to run of an update that was cut short: what it was to reset is reset."""
        if self.rebuild:
            return self
        return Selection(refresh=() if self.full_refresh_all else (*self.refresh, *self.full_refresh))

    def of(self, graph: Graph, schema: str) -> SelectedDatasets:
        """The selected datasets of a graph.

        Raises:
            SetupError: a name matches no dataset.
            DeclarationError: a dataset that is named for a full refresh or rebuilt does not allow it.
        """
        if self.full_refresh_all:
            reset = tuple(node for node in graph.tables if _may_reset(node))
        else:
            named = {_find(graph, name, schema).name for name in self.full_refresh}
            reset = tuple(node for node in graph.tables if node.name in named)
        for node in reset:
            _check_reset(node)
        rebuilt = self.rebuilt(graph)
        if not self.refresh and not self.full_refresh and not self.rebuild:
            return SelectedDatasets(graph.tables, reset)
        names = {_find(graph, name, schema).name for name in (*self.refresh, *self.full_refresh)}
        names |= {node.name for node in rebuilt}
        return SelectedDatasets(tuple(node for node in graph.tables if node.name in names), reset, rebuilt)

    def rebuilt(self, graph: Graph) -> tuple[Node, ...]:
        """The datasets that ``rebuild`` builds anew, in order.

        They are the named ones and all that they are made from within the pipeline, then everything that is made from
        any of those. A table that reads outside the pipeline, where rows may be gone, is rebuilt only if it is named.

        Raises:
            SetupError: a name matches no dataset.
            DeclarationError: nothing that may be rebuilt has the name, or a sink would get all rows again.
        """
        chosen: set[str] = set()
        by_name = {node.name: node for node in graph.tables}
        for name in self.rebuild:
            named = _named(graph, name)
            if isinstance(named[0].dataset, Sink):
                message = f"{named[0].name} is a sink, which has no rows to build beside others"
                fix = f"send it everything again with --full-refresh {named[0].name}"
                raise DeclarationError("SINK_NOT_REBUILT", message, named[0].dataset.location, fix)
            allowed = [node for node in named if _may_reset(node)]
            for node in named if not allowed else filter(_is_made_within, named):
                _check_reset(node)
            chosen |= {each for node in allowed for each in _made_from(node, by_name)}
        for node in graph.tables:
            if any(str(source) in chosen for source in node.inputs) and node.name not in chosen:
                _check_rebuild(node, self.full_refresh)
                chosen.add(node.name)
        return tuple(node for node in graph.tables if node.name in chosen and not isinstance(node.dataset, Sink))


def _made_from(node: Node, by_name: Mapping[str, Node]) -> set[str]:
    """A dataset and all that it is made from within the pipeline, up to tables that do not allow a full refresh."""
    inputs = [by_name[str(name)] for name in node.inputs if str(name) in by_name]
    within = [each for each in inputs if _may_reset(each) and _is_made_within(each)]
    return {node.name}.union(*(_made_from(each, by_name) for each in within))


def _is_made_within(node: Node) -> bool:
    """True if the dataset reads nothing outside the pipeline."""
    return all(flow.inputs for flow in node.flows)


def _named(graph: Graph, name: str) -> list[Node]:
    wanted = name.lower()
    found = [node for node in graph.tables if wanted in (node.name.lower(), node.name.lower().rpartition(".")[2])]
    if not found:
        raise _unknown(graph, name)
    return found


def _check_rebuild(node: Node, full_refresh: Sequence[str]) -> None:
    if isinstance(node.dataset, Sink) and node.name not in full_refresh:
        message = f"sink {node.name} reads a dataset that is rebuilt, and would be sent all of its rows again"
        raise DeclarationError(
            "REBUILD_REACHES_SINK", message, node.dataset.location, f"accept that with --full-refresh {node.name}"
        )
    if not _may_reset(node):
        message = f"{node.name} reads a dataset that is rebuilt, and has {RESET_ALLOWED}=false"
        fix = "remove the property, or have it read a table that is not rebuilt"
        raise DeclarationError("RESET_NOT_ALLOWED", message, node.dataset.location, fix)


def _find(graph: Graph, name: str, schema: str) -> Node:
    full = str(table_name(name, schema)).lower()
    node = next((n for n in graph.tables if n.name.lower() in (full, name.lower())), None)
    if node is None:
        raise _unknown(graph, name)
    return node


def _unknown(graph: Graph, name: str) -> SetupError:
    known = [alias for node in graph.tables for alias in (node.name, node.name.rpartition(".")[2])]
    message = f"the pipeline has no dataset {name}{did_you_mean(name, known)}"
    return SetupError("UNKNOWN_DATASET", "", message, "name a dataset as `python -m dlt_local graph` lists it")


def _may_reset(node: Node) -> bool:
    return not isinstance(node.dataset, Table) or node.dataset.may_reset


def _check_reset(node: Node) -> None:
    if not _may_reset(node):
        message = f"{node.name} has {RESET_ALLOWED}=false, because a full refresh could lose rows"
        fix = "leave it out of the selection, or remove the property"
        raise DeclarationError("RESET_NOT_ALLOWED", message, node.dataset.location, fix)
