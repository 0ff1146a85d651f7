"""Silver: raw records that could not be decoded, each with the reason."""

from pyspark import pipelines as dp

from cdc import TableSpec, load_tables, properties, rejects, retention
from cdc.names import decoded_dataset, rejects_dataset


def declare(table: TableSpec) -> None:
    """Declare silver.<table>_rejects."""

    @dp.table(
        name=rejects_dataset(table),
        comment=f"Records of {table.topic} that could not be decoded, and why",
        table_properties={**properties.of_dataset(table, "silver", "rejects"), **retention.of_silver(table)},
    )
    def rejected_records():
        return rejects(retention.stream(spark, decoded_dataset(table)), table)


for table in load_tables(spark):
    declare(table)
