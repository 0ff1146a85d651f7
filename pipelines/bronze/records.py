"""Bronze: every record of a table's topic, exactly as it came."""

from pyspark import pipelines as dp

from cdc import TableSpec, load_tables, read_records
from cdc.names import records_dataset


def declare(table: TableSpec) -> None:
    """Declare bronze.<table>. What Kafka has forgotten cannot be read again, so a full refresh is not allowed."""

    @dp.table(
        name=records_dataset(table),
        comment=f"Records of topic {table.topic} as they came",
        table_properties={"pipelines.reset.allowed": "false"},
    )
    def records():
        return read_records(spark, table)


for table in load_tables(spark):
    declare(table)
