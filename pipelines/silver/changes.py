"""Silver: one typed row per change, with its place in the order of the source's commits."""

from pyspark import pipelines as dp

from cdc import TableSpec, changes, load_tables
from cdc.names import changes_dataset, decoded_dataset


def declare(table: TableSpec) -> None:
    """Declare silver.<table>_changes; changes that do not meet an expectation are counted and kept."""

    @dp.table(name=changes_dataset(table), comment=f"Changes of {table.source}")
    @dp.expect_all(table.expectations)
    def typed_changes():
        return changes(spark.readStream.table(decoded_dataset(table)), table)


for table in load_tables(spark.conf.get("cdc.conf"), spark.conf.get("cdc.connector")):
    declare(table)
