"""Bronze: records of a connector's other topics: schema changes, transactions, heartbeats and so on."""

from pyspark import pipelines as dp

from cdc import (
    ConnectorSpec,
    EventKind,
    event_kinds,
    load_connectors,
    properties,
    read_topic,
    retention,
    secret_reader,
)
from cdc.names import event_records_dataset


def declare(connector: ConnectorSpec, kind: EventKind) -> None:
    """Declare bronze.<connector>_<kind>; as with tables' records, a full refresh is not allowed."""
    topic = kind.topic(connector)

    @dp.table(
        name=event_records_dataset(connector, kind.name),
        comment=f"Records of topic {topic} as delivered",
        table_properties={
            **properties.of_event_records(connector, topic),
            **retention.of_records(connector),
            "pipelines.reset.allowed": "false",
        },
    )
    def event_records():
        return read_topic(spark, topic, secret_reader(globals()))


for connector in load_connectors(spark):
    for kind in event_kinds(connector):
        declare(connector, kind)
