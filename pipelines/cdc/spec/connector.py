"""ConnectorSpec from a connector's file."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from cdc.errors import Condition
from cdc.spec.document import Document
from cdc.spec.layers import TableProperties, TargetSchemas, target_schemas_in
from cdc.spec.model import ConnectorSpec
from cdc.spec.policies import POLICIES, check_zone, policies_in
from cdc.spec.reading import Fault, Reading
from cdc.spec.retention import Retention
from cdc.spec.table_properties import check_properties, properties_in

_RESTORED_AT = "restored_at"
_NOT_PLAIN = (*POLICIES, _RESTORED_AT, "topics", "target_schemas", "table_properties", "retention")
"""Fields of the file that are not fields of the spec, or have another form there."""


@dataclass(frozen=True)
class ReadConnector:
    """A connector, as far as its file could be read."""

    name: str
    reading: Reading
    spec: ConnectorSpec | None
    """None if the file has faults."""
    policies: Mapping[str, Any]
    """Column policies that it sets for all of its tables."""
    target_schemas: TargetSchemas = field(default_factory=TargetSchemas)
    """Where its datasets and those of its tables are, unless a table sets its own."""
    table_properties: TableProperties = field(default_factory=TableProperties)
    """Those of its datasets, and of its tables' unless a table sets its own."""
    retention: Retention = field(default_factory=Retention)
    """Of its tables, unless a table sets its own."""

    @classmethod
    def absent(cls, name: str) -> "ReadConnector":
        """A connector without a file, so that its tables can still be checked; the folder's faults report it."""
        return cls(name, Reading(Document(name)), None, {})


def read_connector(
    name: str, reading: Reading, defaults: Mapping[str, Any], deployed: Mapping[str, str]
) -> ReadConnector:
    """The connector of a file that has been checked against its schema.

    Args:
        name: its name.
        reading: its file.
        defaults: the folder's defaults.
        deployed: layer -> schema, as the pipeline's configuration sets them.
    """
    check_zone(reading, reading.data)
    _check_moments(reading)
    schemas = TargetSchemas()
    for place in (target_schemas_in(defaults), target_schemas_in(reading.data), deployed):
        schemas = schemas.over(place)
    check_properties(reading)
    properties = properties_in(defaults).over(properties_in(reading.data))
    retention = Retention().over(defaults).over(reading.data)
    of_datasets = {"target_schemas": schemas, "table_properties": properties, "retention": retention}
    spec = _spec(name, reading.data, of_datasets) if reading.is_sound else None
    return ReadConnector(name, reading, spec, policies_in(reading.data), schemas, properties, retention)


def topic_of(connector: ConnectorSpec, source: str) -> str:
    """The topic of a source table, by the connector's naming pattern.

    >>> topic_of(ConnectorSpec("shop", "shopserver"), "shop.dbo.orders")
    'shopserver.shop.dbo.orders'
    """
    database, schema, table = source.split(".")
    return connector.topic_pattern.format(prefix=connector.topic_prefix, database=database, schema=schema, table=table)


def _spec(name: str, data: Mapping[str, Any], of_datasets: Mapping[str, Any]) -> ConnectorSpec:
    plain = {field: value for field, value in data.items() if field not in _NOT_PLAIN}
    topics = data.get("topics", {})
    prefix = data["topic_prefix"]
    return ConnectorSpec(
        name,
        **plain,
        restored_at=tuple(sorted(map(datetime.fromisoformat, data.get(_RESTORED_AT, ())))),
        schema_changes_topic=_topic(topics.get("schema_changes"), prefix),
        transactions_topic=_topic(topics.get("transactions"), f"{prefix}.transaction"),
        heartbeat_topic=_topic(topics.get("heartbeat"), f"__debezium-heartbeat.{prefix}"),
        notifications_topic=topics.get("notifications"),
        signals_topic=topics.get("signals"),
        **of_datasets,
    )


def _check_moments(reading: Reading) -> None:
    """Report a moment of the right form that no calendar has."""
    for number, text in enumerate(reading.data.get(_RESTORED_AT, ())):
        try:
            datetime.fromisoformat(text)
        except ValueError:
            detail = f"`{_RESTORED_AT}` has `{text}`, a moment that no calendar has"
            fix = "write a date and time in UTC, such as 2026-05-01T12:00:00Z."
            reading.report(Fault(Condition.BAD_VALUE, (_RESTORED_AT, number), detail, fix, value=text))


def _topic(stated: str | bool | None, default_name: str) -> str | None:
    """A topic's name: as stated, or the connector's default name for `true`; None if it is not to be read."""
    if isinstance(stated, str):
        return stated
    return default_name if stated else None
