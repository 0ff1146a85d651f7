"""The events of a connector that are no changes of rows, each kind with a topic of its own."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from pyspark.sql import DataFrame

from cdc.debezium.events import heartbeats, notifications, schema_changes, signals, transactions
from cdc.spec.model import ConnectorSpec


@dataclass(frozen=True)
class EventKind:
    """One kind of event: which topic has it, what its records say, and what follows from all of them."""

    name: str
    """As in the datasets' names: ``schema_changes``."""
    topic: Callable[[ConnectorSpec], str | None]
    """None where the connector's spec does not name it: then it is not read."""
    read: Callable[[DataFrame], DataFrame]
    """From records to typed events. Every record that has a value gives at least one row; what cannot be read is
    null in it, and bronze has the record."""
    views: Mapping[str, Callable[[DataFrame], DataFrame]] = field(default_factory=dict)
    """What people ask of the events, by name."""


EVENT_KINDS = (
    EventKind(
        "schema_changes",
        lambda connector: connector.schema_changes_topic,
        schema_changes.read,
        {"columns": schema_changes.columns},
    ),
    EventKind("transactions", lambda connector: connector.transactions_topic, transactions.read),
    EventKind(
        "heartbeats", lambda connector: connector.heartbeat_topic, heartbeats.read, {"liveness": heartbeats.liveness}
    ),
    EventKind("notifications", lambda connector: connector.notifications_topic, notifications.read),
    EventKind("signals", lambda connector: connector.signals_topic, signals.read),
)


def event_kinds(connector: ConnectorSpec) -> tuple[EventKind, ...]:
    """The kinds whose topics a connector's spec names."""
    return tuple(kind for kind in EVENT_KINDS if kind.topic(connector))
