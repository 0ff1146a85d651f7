"""Gold: what is remarkable in the changes: ties, inversions, LSNs running backwards, fields that no spec knows."""

from itertools import groupby

from pyspark import pipelines as dp

from cdc import ConnectorSpec, TableSpec, findings, load_tables, wants_findings
from cdc.names import changes_dataset, findings_dataset


def declare(connector: ConnectorSpec, tables: list[TableSpec]) -> None:
    """Declare gold.<connector>_findings."""

    @dp.materialized_view(
        name=findings_dataset(connector),
        comment=f"What is remarkable in the changes of connector {connector.name}, by table",
    )
    def remarkable():
        return findings({table: spark.read.table(changes_dataset(table)) for table in tables})


if wants_findings(spark):
    every = load_tables(spark)
    for connector, tables in groupby(every, key=lambda table: table.connector):
        declare(connector, list(tables))
