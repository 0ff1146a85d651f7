"""Gold: the current state of each source table."""

from pyspark import pipelines as dp

from cdc import TableSpec, current_rows, load_tables, properties, targets
from cdc.names import rows_dataset, versions_dataset


def declare(table: TableSpec) -> None:
    """Declare gold.<table>."""

    @dp.materialized_view(
        name=rows_dataset(table),
        comment=table.comment or f"Current rows of {table.source}",
        table_properties=properties.of_dataset(table, "gold", "rows"),
        cluster_by=list(table.cluster_by) or None,
    )
    def rows():
        return current_rows(spark.read.table(versions_dataset(table)), table)


for table, *_ in targets(load_tables(spark)):
    declare(table)
