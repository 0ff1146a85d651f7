"""Silver: a connector's own events: schema changes, transactions, heartbeats, notifications, signals."""

from pyspark import pipelines as dp

from cdc import ConnectorSpec, EventKind, event_kinds, load_connectors, properties, retention
from cdc.names import event_records_dataset, events_dataset


def declare(connector: ConnectorSpec, kind: EventKind) -> None:
    """Declare silver.<connector>_<kind>."""

    @dp.table(
        name=events_dataset(connector, kind.name),
        comment=f"Events of topic {kind.topic(connector)}",
        table_properties=properties.of_connector(connector, "silver"),
    )
    def typed_events():
        records = event_records_dataset(connector, kind.name)
        return kind.read(retention.stream(spark, records))


for connector in load_connectors(spark):
    for kind in event_kinds(connector):
        declare(connector, kind)
