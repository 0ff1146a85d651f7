"""TableSpec from a table's file."""

from collections import ChainMap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cdc import names
from cdc.spec.columns import excluded_columns, physical_table_column, read_columns
from cdc.spec.connector import ReadConnector, topic_of
from cdc.spec.durations import seconds
from cdc.spec.expectations import actions, conditions
from cdc.spec.history import has_history, targets_of, tracked_targets
from cdc.spec.into import default_name, into_of, source_column
from cdc.spec.layers import TableProperties, TargetSchemas, target_schemas_in
from cdc.spec.model import ColumnSpec, ConnectorSpec, Into, TableSpec
from cdc.spec.policies import layered
from cdc.spec.reading import Reading
from cdc.spec.reserved import added_by_gold, check_computed, check_dataset_name, check_targets
from cdc.spec.retention import Retention
from cdc.spec.stability import check_stability
from cdc.spec.table_faults import check_name, check_table
from cdc.spec.table_properties import check_properties, properties_in

_OF_RECORDS = (
    names.records_dataset,
    names.decoded_dataset,
    names.changes_dataset,
    names.rejects_dataset,
    names.replays_dataset,
    names.open_rejects_dataset,
    names.drift_records_dataset,
)
"""The datasets that every table has for itself; versions, rows and history may be those of several tables."""


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
    target_schemas: TargetSchemas = field(default_factory=TargetSchemas)
    into: Into | None = None
    """The target that it shares with tables of other sources."""

    @property
    def own_datasets(self) -> tuple[str, ...]:
        """The datasets that it shares with no other table."""
        return self.datasets[: len(_OF_RECORDS)]


@dataclass(frozen=True)
class _Identity:
    """What a table is called, where its records come from and its datasets go."""

    connector: ConnectorSpec
    name: str
    topic: str
    target_schemas: TargetSchemas
    table_properties: TableProperties
    retention: Retention


@dataclass(frozen=True)
class _Columns:
    """The columns of a table, without the excluded ones."""

    by_source: Mapping[str, ColumnSpec]
    router: ColumnSpec | None
    """The column with the physical table of a routed topic's rows, if the spec asks for one."""
    source: ColumnSpec | None
    """The column with the source of the rows, if the table flows into a target with tables of other sources."""

    @property
    def all(self) -> tuple[ColumnSpec, ...]:
        """Every column, in the spec's order, then the router's and the source's."""
        return (*self.by_source.values(), *self._routed, *self._of_source)

    def key(self, source_names: Sequence[str]) -> tuple[str, ...]:
        """Target names of the key columns; the source's and the router's are part of the key."""
        return tuple(column.target for column in (*self._of_source, *self.listed(source_names), *self._routed))

    def listed(self, source_names: Sequence[str]) -> tuple[ColumnSpec, ...]:
        """The columns of these names, in this order."""
        return tuple(self.by_source[name] for name in source_names)

    @property
    def _routed(self) -> tuple[ColumnSpec, ...]:
        return (self.router,) if self.router else ()

    @property
    def _of_source(self) -> tuple[ColumnSpec, ...]:
        return (self.source,) if self.source else ()


def read_table(reading: Reading, connector: ReadConnector, defaults: Mapping[str, Any]) -> ReadTable:
    """The table of a file that has been checked against its schema; checks what a schema cannot express."""
    fields = ChainMap(reading.data, dict(defaults))
    layers = layered(reading.data, connector.policies, defaults)
    into = into_of(reading.data)
    columns = _Columns(
        read_columns(reading, layers, fields.get("key", ()), connector.kind, partial=connector.has_partial_updates),
        physical_table_column(reading),
        source_column(into) if into else None,
    )
    check_name(reading, connector.kind)
    name, topic = _name(fields), _topic(fields, connector)
    check_table(reading, fields, columns.by_source, connector.kind)
    added = added_by_gold(with_history=has_history(fields), keeps_deleted=fields.get("deletes") == "soft")
    check_targets(reading, columns.all, added)
    check_computed(reading, columns.all, added)
    check_stability(reading, fields, {each.target.casefold() for each in columns.all})
    check_dataset_name(reading, name)
    check_properties(reading)
    schemas = connector.target_schemas.over(target_schemas_in(reading.data))
    spec = None
    if reading.is_sound and connector.spec and name and topic:
        properties = connector.table_properties.over(properties_in(reading.data))
        retention = connector.retention.over(reading.data)
        spec = _spec(reading, fields, columns, _Identity(connector.spec, name, topic, schemas, properties, retention))
    return ReadTable(reading, name, topic, _datasets(fields, name, schemas), columns.all, spec, schemas, into)


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
        target_schemas=identity.target_schemas,
        into=into_of(fields),
        table_properties=identity.table_properties,
        retention=identity.retention,
        defined_at=str(reading.document.place(("table",), of_key=True)).rpartition(":")[0],
    )


def _name(fields: Mapping[str, Any]) -> str | None:
    """Base name of the datasets; None if the file names neither them nor the source table."""
    if "name" in fields:
        return str(fields["name"])
    if into := into_of(fields):
        return default_name(into)
    return str(fields["table"]).rpartition(".")[2].lower() if "table" in fields else None


def _topic(fields: Mapping[str, Any], connector: ReadConnector) -> str | None:
    if "topic" in fields:
        return str(fields["topic"])
    return (topic_of(connector.spec, fields["table"]) or None) if connector.spec and "table" in fields else None


def _datasets(fields: Mapping[str, Any], name: str | None, schemas: TargetSchemas) -> tuple[str, ...]:
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
        target_schemas=schemas,
        into=into_of(fields),
    )
    of_rows = () if fields.get("append_only") else (names.versions_dataset, names.rows_dataset)
    of_versions = (names.history_dataset,) if has_history(fields) else ()
    return tuple(dataset(table) for dataset in (*_OF_RECORDS, *of_rows, *of_versions))
