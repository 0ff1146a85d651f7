"""A connector's file becomes a ConnectorSpec."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cdc.spec.document import Document
from cdc.spec.model import ConnectorSpec
from cdc.spec.policies import POLICIES, check_zone, policies_in
from cdc.spec.reading import Reading


@dataclass(frozen=True)
class ReadConnector:
    """A connector as far as its file could be read."""

    name: str
    reading: Reading
    spec: ConnectorSpec | None
    """None where the file has faults."""
    policies: Mapping[str, Any]
    """What it says for all columns of its tables."""

    @classmethod
    def absent(cls, name: str) -> "ReadConnector":
        """A connector without a file, which is reported for the folder: its tables can be looked at still."""
        return cls(name, Reading(Document(name)), None, {})


def read_connector(name: str, reading: Reading) -> ReadConnector:
    """The connector of a file that was checked against its schema."""
    check_zone(reading, reading.data)
    spec = _spec(name, reading.data) if reading.is_sound else None
    return ReadConnector(name, reading, spec, policies_in(reading.data))


def topic_of(connector: ConnectorSpec, source: str) -> str:
    """The topic of a source table by the connector's own naming.

    >>> topic_of(ConnectorSpec("shop", "shopserver"), "shop.dbo.orders")
    'shopserver.shop.dbo.orders'
    """
    database, schema, table = source.split(".")
    return connector.topic_pattern.format(prefix=connector.topic_prefix, database=database, schema=schema, table=table)


def _spec(name: str, data: Mapping[str, Any]) -> ConnectorSpec:
    plain = {field: value for field, value in data.items() if field not in (*POLICIES, "topics")}
    topics = data.get("topics", {})
    prefix = data["topic_prefix"]
    return ConnectorSpec(
        name,
        **plain,
        schema_changes_topic=_topic(topics.get("schema_changes"), prefix),
        transactions_topic=_topic(topics.get("transactions"), f"{prefix}.transaction"),
        heartbeat_topic=_topic(topics.get("heartbeat"), f"__debezium-heartbeat.{prefix}"),
        notifications_topic=topics.get("notifications"),
        signals_topic=topics.get("signals"),
    )


def _topic(said: str | bool | None, own_name: str) -> str | None:
    """A topic that is read: by the name in the file, or by the connector's own for `true`."""
    if isinstance(said, str):
        return said
    return own_name if said else None
