"""Gold: views of a connector's events: definitions of columns over time, liveness of the connector."""

from pyspark import pipelines as dp

from cdc import ConnectorSpec, EventKind, event_kinds, load_connectors, properties
from cdc.names import event_view_dataset, events_dataset


def declare(connector: ConnectorSpec, kind: EventKind, view: str) -> None:
    """Declare gold.<connector>_<view>."""

    @dp.materialized_view(
        name=event_view_dataset(connector, view),
        comment=f"{view.capitalize()} of connector {connector.name}, from its {kind.name}",
        table_properties=properties.of_connector(connector, "gold"),
    )
    def event_view():
        return kind.views[view](spark.read.table(events_dataset(connector, kind.name)))


for connector in load_connectors(spark):
    for kind in event_kinds(connector):
        for view in kind.views:
            declare(connector, kind, view)
