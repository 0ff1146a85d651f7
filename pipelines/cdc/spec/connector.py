"""ConnectorSpec from a connector's file."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cdc.spec.document import Document
from cdc.spec.model import ConnectorSpec
from cdc.spec.policies import POLICIES, check_zone, policies_in
from cdc.spec.reading import Reading


@dataclass(frozen=True)
class ReadConnector:
    """A connector, as far as its file could be read."""

    name: str
    reading: Reading
    spec: ConnectorSpec | None
    """None if the file has faults."""
    policies: Mapping[str, Any]
    """Column policies that it sets for all of its tables."""

    @classmethod
    def absent(cls, name: str) -> "ReadConnector":
        """A connector without a file, so that its tables can still be checked; the folder's faults report it."""
        return cls(name, Reading(Document(name)), None, {})


def read_connector(name: str, reading: Reading) -> ReadConnector:
    """The connector of a file that has been checked against its schema."""
    check_zone(reading, reading.data)
    spec = _spec(name, reading.data) if reading.is_sound else None
    return ReadConnector(name, reading, spec, policies_in(reading.data))


def topic_of(connector: ConnectorSpec, source: str) -> str:
    """The topic of a source table, by the connector's naming pattern.

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


def _topic(stated: str | bool | None, default_name: str) -> str | None:
    """A topic's name: as stated, or the connector's default name for `true`; None if it is not to be read."""
    if isinstance(stated, str):
        return stated
    return default_name if stated else None
