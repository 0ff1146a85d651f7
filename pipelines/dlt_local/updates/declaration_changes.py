"""What has changed in the declarations since the last update: datasets that need a rebuild, and notices."""

from collections.abc import Sequence
from pathlib import Path

from dlt_local.auto_cdc import drift
from dlt_local.declarations.elements import Table
from dlt_local.declarations.row_definition import DEFINITION
from dlt_local.delta import delta_log, tables
from dlt_local.delta.storage import Storage, read_json_if_intact
from dlt_local.errors import DeclarationError
from dlt_local.flows.context import UpdateContext
from dlt_local.graph.graph import Graph, Node, ResolvedFlow
from dlt_local.graph.query_identity import FORMS
from dlt_local.updates import expiry, moved_tables, row_definitions


def refusals(nodes: Sequence[Node], graph: Graph, context: UpdateContext) -> dict[str, DeclarationError]:
    """Datasets whose stored rows do not fit their declarations any more, each with the first reason.

    Args:
        nodes: those that run on top of their stored rows.
        graph: the pipeline's graph.
        context: the update's.
    """
    refused: dict[str, DeclarationError] = {}
    for node in nodes:
        try:
            _check(node, graph, context)
        except DeclarationError as error:
            refused[node.name] = error
    return refused


def _check(node: Node, graph: Graph, context: UpdateContext) -> None:
    # First, because it says what the user edited; the others say what follows from it.
    if isinstance(node.dataset, Table) and node.kind == "streaming table":
        table, path = node.dataset, context.path(node.dataset.name)
        moved_tables.check(table, context)
        if not delta_log.exists(path):
            accepted = str(context.session.conf.get(expiry.SETTING, ""))
            expiry.Sources(context.path, accepted).check_new(node)
        row_definitions.check(context.session, table, path)
        # Whether stored values stay right in a wider type, only a row definition knows.
        if node.name in graph.widened and not row_definitions.can_compare(context.session, table, path):
            raise graph.widened[node.name]
        check_partitioning(table, path)
    if node.name in graph.refused:
        raise graph.refused[node.name]
    for flow in node.flows:
        if flow.changes is not None:
            drift.check(flow.changes, context.storage.auto_cdc(flow.changes.target), flow.flow.location)


def check_partitioning(table: Table, path: Path) -> None:
    """Compare the partition columns of a declaration with those of the stored table.

    Raises:
        DeclarationError: they are others.
    """
    stored = tables.repartitioned(table, path)
    if stored is None:
        return
    old, new = (", ".join(columns) or "no column" for columns in (stored, table.partition_cols))
    message = f"{table.name} is partitioned by {old}, but declared as partitioned by {new}"
    fix = f"restore the old partition columns, or rebuild the table with --rebuild {table.name}"
    raise DeclarationError("PARTITIONING_CHANGED", message, table.location, fix)


def changed_queries(nodes: Sequence[Node], storage: Storage) -> list[str]:
    """One notice for each streaming flow whose stored rows come from an earlier version of its query."""
    notices = []
    for node in nodes:
        if node.kind != "streaming table":
            continue
        last_run = (read_json_if_intact(storage.progress(node.name)) or {}).get("queries", {})
        for flow in node.flows:
            stored = last_run.get(flow.flow.name, flow.hashes.query)
            before = _comparable(stored, flow)
            # A row definition says whether an edit matters to the stored rows; then nothing is left to notice.
            if flow.hashes.query and stored != before and not _has_row_definition(node):
                notices.append(
                    f"The query of flow `{flow.flow.name}` has changed: it applies to new rows of {node.name}; "
                    f"existing rows stay as they are unless the table is rebuilt with --rebuild {node.name}"
                )
    return notices


def _comparable(stored: str, flow: ResolvedFlow) -> str:
    """The hash of a flow's query in the form of the stored one; the stored one itself where that form has gone."""
    if not stored.startswith(FORMS):
        return flow.hashes.query if flow.earlier is None else flow.earlier.hash
    return flow.hashes.query if flow.hashes.query.startswith(stored[:2]) else stored


def _has_row_definition(node: Node) -> bool:
    return isinstance(node.dataset, Table) and DEFINITION in node.dataset.table_properties
