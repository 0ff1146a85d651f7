"""Gold: anomalies in the changes: ties, inversions, positions running backwards, fields not in the spec."""

from itertools import groupby

from pyspark import pipelines as dp

from cdc import ConnectorSpec, TableSpec, findings, load_tables, properties, wants_findings
from cdc.names import changes_dataset, findings_dataset


def declare(connector: ConnectorSpec, tables: list[TableSpec]) -> None:
    """Declare gold.<connector>_findings."""

    @dp.materialized_view(
        name=findings_dataset(connector),
        comment=f"Anomalies in the changes of connector {connector.name}, by table",
        table_properties=properties.of_connector(connector, "gold"),
    )
    def anomalies():
        return findings({table: spark.read.table(changes_dataset(table)) for table in tables})


if wants_findings(spark):
    for connector, tables in groupby(load_tables(spark), key=lambda table: table.connector):
        declare(connector, list(tables))
