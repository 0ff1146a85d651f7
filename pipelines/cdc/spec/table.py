"""TableSpec from a table's file."""

from collections import ChainMap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cdc import names
from cdc.spec.columns import excluded_columns, physical_table_column, read_columns
from cdc.spec.connector import ReadConnector, topic_of
from cdc.spec.durations import seconds
from cdc.spec.expectations import actions, conditions
from cdc.spec.history import has_history, targets_of, tracked_targets
from cdc.spec.model import ColumnSpec, ConnectorSpec, TableSpec
from cdc.spec.policies import layered
from cdc.spec.reading import Reading
from cdc.spec.reserved import added_by_gold, check_computed, check_dataset_name, check_targets
from cdc.spec.stability import check_stability
from cdc.spec.table_faults import check_table


@dataclass(frozen=True)
class ReadTable:
    """A table, as far as its file could be read: what other tables are compared with, and its spec."""

    reading: Reading
    name: str | None
    topic: str | None
    datasets: tuple[str, ...]
    """Full names of the datasets that the table writes."""
    columns: tuple[ColumnSpec, ...]
    """Its columns, without the excluded ones."""
    spec: TableSpec | None
    """None if its file or its connector's file has faults."""


@dataclass(frozen=True)
class _Identity:
    """What a table is called and where its records come from."""

    connector: ConnectorSpec
    name: str
    topic: str


@dataclass(frozen=True)
class _Columns:
    """The columns of a table, without the excluded ones."""

    by_source: Mapping[str, ColumnSpec]
    router: ColumnSpec | None
    """The column with the physical table of a routed topic's rows, if the spec asks for one."""

    @property
    def all(self) -> tuple[ColumnSpec, ...]:
        """Every column, in the spec's order, the router's last."""
        return (*self.by_source.values(), *self._routed)

    def key(self, source_names: Sequence[str]) -> tuple[str, ...]:
        """Target names of the key columns; the router's is part of the key."""
        return tuple(column.target for column in (*self.listed(source_names), *self._routed))

    def listed(self, source_names: Sequence[str]) -> tuple[ColumnSpec, ...]:
        """The columns of these names, in this order."""
        return tuple(self.by_source[name] for name in source_names)

    @property
    def _routed(self) -> tuple[ColumnSpec, ...]:
        return (self.router,) if self.router else ()


def read_table(reading: Reading, connector: ReadConnector, defaults: Mapping[str, Any]) -> ReadTable:
    """The table of a file that has been checked against its schema; checks what a schema cannot express."""
    fields = ChainMap(reading.data, dict(defaults))
    layers = layered(reading.data, connector.policies, defaults)
    columns = _Columns(read_columns(reading, layers, fields.get("key", ())), physical_table_column(reading))
    name, topic = _name(fields), _topic(fields, connector)
    check_table(reading, fields, columns.by_source)
    added = added_by_gold(with_history=has_history(fields), keeps_deleted=fields.get("deletes") == "soft")
    check_targets(reading, columns.all, added)
    check_computed(reading, columns.all, added)
    check_stability(reading, fields, {each.target.casefold() for each in columns.all})
    check_dataset_name(reading, name)
    spec = None
    if reading.is_sound and connector.spec and name and topic:
        spec = _spec(reading, fields, columns, _Identity(connector.spec, name, topic))
    return ReadTable(reading, name, topic, _datasets(fields, name), columns.all, spec)


def _spec(reading: Reading, fields: Mapping[str, Any], columns: _Columns, identity: _Identity) -> TableSpec:
    """The spec of a table without faults."""
    gold = fields.get("gold", {})
    return TableSpec(
        source=fields["table"],
        name=identity.name,
        connector=identity.connector,
        topic=identity.topic,
        key=columns.key(fields.get("key", ())),
        columns=columns.all,
        history=has_history(fields),
        track=tracked_targets(fields, columns.by_source),
        expectations=conditions(fields),
        actions=actions(fields),
        filter=fields.get("filter"),
        computed=dict(fields.get("computed", {})),
        deletes=fields.get("deletes", "hard"),
        comment=fields.get("comment"),
        tombstone_retention_seconds=seconds(fields.get("tombstone_retention", "2 days")),
        excluded=excluded_columns(reading),
        append_only=fields.get("append_only", False),
        shared_topic=fields.get("shared_topic", False),
        cluster_by=targets_of(fields.get("cluster_by", ()), columns.by_source),
        gold=gold.get("table"),
        gold_history=gold.get("history"),
        defined_at=str(reading.document.place(("table",), of_key=True)).rpartition(":")[0],
    )


def _name(fields: Mapping[str, Any]) -> str | None:
    """Base name of the datasets; None if the file names neither them nor the source table."""
    if "name" in fields:
        return str(fields["name"])
    return str(fields["table"]).rpartition(".")[2].lower() if "table" in fields else None


def _topic(fields: Mapping[str, Any], connector: ReadConnector) -> str | None:
    if "topic" in fields:
        return str(fields["topic"])
    return topic_of(connector.spec, fields["table"]) if connector.spec and "table" in fields else None


def _datasets(fields: Mapping[str, Any], name: str | None) -> tuple[str, ...]:
    """Full names of the table's datasets; none if its name is unknown."""
    if name is None:
        return ()
    gold = fields.get("gold", {})
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
    of_rejects = (names.replays_dataset, names.open_rejects_dataset, names.drift_records_dataset)
    of_rows = () if fields.get("append_only") else (names.versions_dataset, names.rows_dataset)
    of_versions = (names.history_dataset,) if has_history(fields) else ()
    return tuple(dataset(table) for dataset in (*of_changes, *of_rejects, *of_rows, *of_versions))
