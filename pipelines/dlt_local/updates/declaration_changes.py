"""What has changed in the declarations since the last update: errors that need a full refresh, and notices."""

from collections.abc import Sequence

from dlt_local.auto_cdc import drift
from dlt_local.declarations.elements import Table
from dlt_local.delta import tables
from dlt_local.delta.storage import Storage, read_json_if_intact
from dlt_local.errors import DeclarationError
from dlt_local.graph.graph import Node, ResolvedFlow


def incompatible_changes(nodes: Sequence[Node], storage: Storage) -> list[Exception]:
    """Changes that cannot be applied to the stored tables of these datasets: one error each."""
    errors: list[Exception] = []
    for node in nodes:
        errors += _partitioning_change(node, storage)
        for flow in node.flows:
            errors += _auto_cdc_change(flow, storage)
    return errors


def _auto_cdc_change(flow: ResolvedFlow, storage: Storage) -> list[Exception]:
    if flow.changes is None:
        return []
    try:
        drift.check(flow.changes, storage.auto_cdc(flow.changes.target), flow.flow.location)
    except DeclarationError as error:
        return [error]
    return []


def _partitioning_change(node: Node, storage: Storage) -> list[Exception]:
    dataset = node.dataset
    if not isinstance(dataset, Table) or node.kind != "streaming table":
        return []
    stored = tables.repartitioned(dataset, storage.table(dataset.name, dataset.private))
    if stored is None:
        return []
    old, new = (", ".join(columns) or "no column" for columns in (stored, dataset.partition_cols))
    message = f"{node.name} is partitioned by {old}, but declared as partitioned by {new}"
    fix = f"restore the old partition columns, or rebuild the table with --full-refresh {node.name}"
    return [DeclarationError("PARTITIONING_CHANGED", message, dataset.location, fix)]


def changed_queries(nodes: Sequence[Node], storage: Storage) -> list[str]:
    """One notice for each streaming flow whose stored rows come from an earlier version of its query."""
    notices = []
    for node in nodes:
        if node.kind != "streaming table":
            continue
        last_run = (read_json_if_intact(storage.progress(node.name)) or {}).get("queries", {})
        for flow in node.flows:
            if last_run.get(flow.flow.name, flow.query) != flow.query:
                notices.append(
                    f"The query of flow `{flow.flow.name}` has changed: it applies to new rows of {node.name}; "
                    f"existing rows stay as they are unless the table is rebuilt with --full-refresh {node.name}"
                )
    return notices
