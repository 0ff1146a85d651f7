"""Gold: every version of each source row, with its validity interval."""

from pyspark import pipelines as dp

from cdc import TableSpec, history, load_tables, properties, targets
from cdc.names import history_dataset, versions_dataset


def declare(sources: tuple[TableSpec, ...]) -> None:
    """Declare gold.<table>_history."""
    table, named = sources[0], ", ".join(each.source for each in sources)

    @dp.materialized_view(
        name=history_dataset(table),
        comment=f"Every version of each row of {named}, with its validity interval",
        table_properties=properties.of_dataset(table, "gold", "history"),
        cluster_by=list(table.cluster_by) or None,
    )
    def versions():
        return history(spark.read.table(versions_dataset(table)), table)


for sources in targets(load_tables(spark)):
    if sources[0].history:
        declare(sources)
