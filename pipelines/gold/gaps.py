"""Gold: offsets of the topics that bronze does not have, though it has those before and after."""

from itertools import groupby

from pyspark import pipelines as dp

from cdc import ConnectorSpec, TableSpec, gaps, load_tables, properties, smallest_gap
from cdc.names import gaps_dataset, records_dataset


def declare(connector: ConnectorSpec, tables: list[TableSpec], at_least: int) -> None:
    """Declare gold.<connector>_gaps."""

    @dp.materialized_view(
        name=gaps_dataset(connector),
        comment=f"Offsets that are missing from the records of connector {connector.name}, by table and partition",
        table_properties={**properties.of_connector(connector, "gold"), "report.countBy": "table"},
    )
    def missing_offsets():
        return gaps({table: spark.read.table(records_dataset(table)) for table in tables}, at_least)


if at_least := smallest_gap(spark):
    for connector, tables in groupby(load_tables(spark), key=lambda table: table.connector):
        declare(connector, list(tables), at_least)
