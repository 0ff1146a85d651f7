"""A table's file becomes a TableSpec."""

from collections import ChainMap
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cdc import names
from cdc.spec.columns import excluded_columns, physical_table_column, read_columns
from cdc.spec.connector import ReadConnector, topic_of
from cdc.spec.durations import seconds
from cdc.spec.history import has_history, tracked_targets
from cdc.spec.model import ColumnSpec, ConnectorSpec, TableSpec
from cdc.spec.policies import layered
from cdc.spec.reading import Reading
from cdc.spec.reserved import check_dataset_name, check_targets
from cdc.spec.table_faults import check_table


@dataclass(frozen=True)
class ReadTable:
    """A table as far as its file could be read: what other tables are compared with, and its spec."""

    reading: Reading
    name: str | None
    topic: str | None
    datasets: tuple[str, ...]
    """Every dataset that the table writes, by its full name."""
    spec: TableSpec | None
    """None where its file has faults, or its connector's."""


def read_table(reading: Reading, connector: ReadConnector, defaults: Mapping[str, Any]) -> ReadTable:
    """The table of a file that its schema has seen; what a schema cannot say is checked here."""
    said = ChainMap(reading.data, dict(defaults))
    layers = layered(reading.data, connector.policies, defaults)
    columns = read_columns(reading, layers, said.get("key", ()))
    router = physical_table_column(reading)
    name, topic = _name(said), _topic(said, connector)
    check_table(reading, said, columns)
    check_targets(reading, [*columns.values(), *_present(router)], with_history=has_history(said))
    check_dataset_name(reading, name)
    spec = None
    if reading.is_sound and connector.spec and name and topic:
        spec = _spec(reading, said, columns, router, connector=connector.spec, name=name, topic=topic)
    return ReadTable(reading, name, topic, _datasets(said, name), spec)


def _spec(
    reading: Reading,
    said: Mapping[str, Any],
    columns: Mapping[str, ColumnSpec],
    router: ColumnSpec | None,
    *,
    connector: ConnectorSpec,
    name: str,
    topic: str,
) -> TableSpec:
    """The spec of a table without faults."""
    gold = said.get("gold", {})
    return TableSpec(
        source=said["table"],
        name=name,
        connector=connector,
        topic=topic,
        key=tuple(column.target for column in (*_listed(said, "key", columns), *_present(router))),
        columns=(*columns.values(), *_present(router)),
        history=has_history(said),
        track=tracked_targets(said, columns),
        expectations=dict(said.get("expectations", {})),
        comment=said.get("comment"),
        tombstone_retention_seconds=seconds(said.get("tombstone_retention", "2 days")),
        excluded=excluded_columns(reading),
        append_only=said.get("append_only", False),
        shared_topic=said.get("shared_topic", False),
        cluster_by=tuple(column.target for column in _listed(said, "cluster_by", columns)),
        gold=gold.get("table"),
        gold_history=gold.get("history"),
        defined_at=str(reading.document.place(("table",), of_key=True)).rpartition(":")[0],
    )


def _listed(said: Mapping[str, Any], field: str, columns: Mapping[str, ColumnSpec]) -> tuple[ColumnSpec, ...]:
    return tuple(columns[name] for name in said.get(field, ()))


def _present(column: ColumnSpec | None) -> tuple[ColumnSpec, ...]:
    return (column,) if column else ()


def _name(said: Mapping[str, Any]) -> str | None:
    """The datasets' name; None where the file says neither it nor the source table."""
    if "name" in said:
        return str(said["name"])
    return str(said["table"]).rpartition(".")[2].lower() if "table" in said else None


def _topic(said: Mapping[str, Any], connector: ReadConnector) -> str | None:
    if "topic" in said:
        return str(said["topic"])
    return topic_of(connector.spec, said["table"]) if connector.spec and "table" in said else None


def _datasets(said: Mapping[str, Any], name: str | None) -> tuple[str, ...]:
    """Full names of all datasets of the table, as far as its name is known."""
    if name is None:
        return ()
    gold = said.get("gold", {})
    table = TableSpec(
        source="",
        name=name,
        connector=ConnectorSpec("", ""),
        topic="",
        key=(),
        columns=(),
        append_only=True,
        gold=gold.get("table"),
        gold_history=gold.get("history"),
    )
    of_changes = (names.records_dataset, names.decoded_dataset, names.changes_dataset, names.rejects_dataset)
    of_rejects = (names.replays_dataset, names.open_rejects_dataset)
    of_rows = () if said.get("append_only") else (names.versions_dataset, names.rows_dataset)
    of_versions = (names.history_dataset,) if has_history(said) else ()
    return tuple(dataset(table) for dataset in (*of_changes, *of_rejects, *of_rows, *of_versions))
