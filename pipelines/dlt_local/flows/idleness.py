"""Idleness: a dataset whose inputs and queries are as its last update left them has nothing to do."""

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dlt_local.declarations.elements import QueryFlow, SnapshotCdcFlow, Table
from dlt_local.delta import delta_log
from dlt_local.flows.context import UpdateContext
from dlt_local.flows.last_update import LastUpdate
from dlt_local.graph.graph import Node
from dlt_local.graph.query_identity import FORM

InputStates = Mapping[str, str | None]
"""Table or folder -> a text that changes with its content; None where that cannot be known."""


def input_states(update: UpdateContext, node: Node) -> InputStates:
    """The present state of each table and folder that a dataset reads."""
    folders = {source.folder for flow in node.flows for source in flow.files}
    tables = {str(name): delta_log.state(update.path(name)) for name in node.inputs}
    return tables | {folder: _listing(Path(folder)) for folder in sorted(folders)}


def is_idle(node: Node, table: Path, inputs: InputStates, last: LastUpdate) -> bool:
    """True if running a table's flows would write nothing.

    Args:
        node: the dataset.
        table: its Delta table.
        inputs: their present states.
        last: its last completed update.
    """
    if last.inputs != inputs or None in inputs.values() or not delta_log.exists(table):
        return False
    is_earlier = last.fingerprint is not None and not last.fingerprint.startswith(FORM)
    # A streaming table keeps its rows when its query changes, but a flow that is new has to run. So a fingerprint that
    # is not exact will do for it, and for nothing else.
    current = _earlier_fingerprint(node) if is_earlier and node.kind == "streaming table" else fingerprint(node)
    return current is not None and last.fingerprint == current


def fingerprint(node: Node) -> str | None:
    """Fingerprint of everything besides its inputs that decides a table's rows; None where that cannot be known."""
    if not isinstance(node.dataset, Table) or any(isinstance(flow.flow, SnapshotCdcFlow) for flow in node.flows):
        return None
    queries = [flow.hashes.fingerprint for flow in node.flows]
    if None in queries or node.rules is None:
        return None
    is_view = node.kind == "materialized view"
    rules = node.rules if is_view else [[e.name, e.text, e.action] for e in node.dataset.expectations]
    flows = [flow.flow for flow in node.flows if isinstance(flow.flow, QueryFlow)]
    conf = [dict(node.dataset.spark_conf), *(dict(flow.spark_conf) for flow in flows)]
    schema = _without_comments(node.schema.jsonValue())
    return f"{FORM}{_hash([_names(node), queries, rules, conf, schema])}"


def _earlier_fingerprint(node: Node) -> str | None:
    """The fingerprint that the version of the engine before would have made."""
    if not isinstance(node.dataset, Table) or any(isinstance(flow.flow, SnapshotCdcFlow) for flow in node.flows):
        return None
    queries = [flow.earlier.hash for flow in node.flows if flow.earlier is not None and flow.earlier.is_lasting]
    if len(queries) < len(node.flows):
        return None
    rules = [[e.name, e.text, e.action] for e in node.dataset.expectations]
    return _hash([_names(node), queries, rules, node.schema.simpleString()])


def _names(node: Node) -> list[str]:
    return [flow.flow.name for flow in node.flows]


def _hash(content: object) -> str:
    # Hashed, because a condition may hold a secret, which must not be written to disk.
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()


def _without_comments(schema: Any) -> Any:
    """A schema as JSON without the comments of columns, which no row depends on."""
    if isinstance(schema, dict):
        return {key: _without_comments(each) for key, each in schema.items() if key != "comment"}
    return [_without_comments(each) for each in schema] if isinstance(schema, list) else schema


def _listing(folder: Path) -> str:
    """A text that changes when a file below the folder is added, removed or rewritten.

    Spark's file sources find new files by less than this, so a stream that has read the whole folder is idle until it
    changes.
    """
    files = [
        (file.path, status.st_mtime_ns, status.st_size)
        for path, _, _ in os.walk(folder)
        for file in os.scandir(path)
        if file.is_file() and (status := file.stat())
    ]
    return hashlib.sha256(repr(sorted(files)).encode()).hexdigest()
