"""Gold: the current state of each source table."""

from pyspark import pipelines as dp

from cdc import TableSpec, current_rows, load_tables, properties, targets
from cdc.names import rows_dataset, versions_dataset


def declare(sources: tuple[TableSpec, ...]) -> None:
    """Declare gold.<table>."""
    table, named = sources[0], ", ".join(each.source for each in sources)

    @dp.materialized_view(
        name=rows_dataset(table),
        comment=table.comment or f"Current rows of {named}",
        table_properties=properties.of_dataset(table, "gold", "rows"),
        cluster_by=list(table.cluster_by) or None,
    )
    def rows():
        return current_rows(spark.read.table(versions_dataset(table)), table)


for sources in targets(load_tables(spark)):
    declare(sources)
