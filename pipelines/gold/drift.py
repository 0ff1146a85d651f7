"""Gold: everything in which a connector's records and specs differ, with the lines for the specs."""

from itertools import groupby

from pyspark import pipelines as dp

from cdc import ConnectorSpec, TableSpec, drift, load_tables, properties, wants_drift
from cdc.names import drift_dataset, drift_records_dataset, events_dataset


def declare(connector: ConnectorSpec, tables: list[TableSpec]) -> None:
    """Declare gold.<connector>_drift."""

    @dp.materialized_view(
        name=drift_dataset(connector),
        comment=f"What the records and the specs of connector {connector.name} differ in, by table and field",
        table_properties={**properties.of_connector(connector, "gold"), "report.countBy": "table, kind, field"},
    )
    def differences():
        topic = connector.schema_changes_topic
        schema_changes = spark.read.table(events_dataset(connector, "schema_changes")) if topic else None
        return drift({table: spark.read.table(drift_records_dataset(table)) for table in tables}, schema_changes)


if wants_drift(spark):
    for connector, tables in groupby(load_tables(spark), key=lambda table: table.connector):
        declare(connector, list(tables))
