"""A connector's events that are not changes of rows; each kind has a topic of its own."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial

from pyspark.sql import DataFrame

from cdc.debezium.events import heartbeats, notifications, schema_changes, signals, transactions
from cdc.debezium.positions import position_of
from cdc.spec.model import ConnectorSpec


@dataclass(frozen=True)
class EventKind:
    """One kind of event of a connector: its topic, its typed events, and the views derived from them."""

    name: str
    """As in the datasets' names: ``schema_changes``."""
    topic: Callable[[ConnectorSpec], str | None]
    """None if the connector's spec does not name it: then the kind is not read."""
    read: Callable[[DataFrame], DataFrame]
    """From records to typed events. Every record that has a value gives at least one row, with null for what cannot
    be read; bronze has the record."""
    views: Mapping[str, Callable[[DataFrame], DataFrame]] = field(default_factory=dict)
    """Views of the events, by name."""


def event_kinds(connector: ConnectorSpec) -> tuple[EventKind, ...]:
    """The kinds of event whose topics a connector's spec names."""
    fields = position_of(connector).event_fields
    kinds = (
        EventKind(
            "schema_changes",
            lambda connector: connector.schema_changes_topic,
            partial(schema_changes.read, position_fields=fields),
            {"columns": schema_changes.columns},
        ),
        EventKind("transactions", lambda connector: connector.transactions_topic, transactions.read),
        EventKind(
            "heartbeats",
            lambda connector: connector.heartbeat_topic,
            heartbeats.read,
            {"liveness": heartbeats.liveness},
        ),
        EventKind("notifications", lambda connector: connector.notifications_topic, notifications.read),
        EventKind("signals", lambda connector: connector.signals_topic, partial(signals.read, position_fields=fields)),
    )
    return tuple(kind for kind in kinds if kind.topic(connector))
