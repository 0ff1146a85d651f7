"""Bronze: every record of a table's topic, exactly as delivered."""

from pyspark import pipelines as dp

from cdc import TableSpec, load_tables, properties, read_records, retention, secret_reader
from cdc.names import records_dataset


def declare(table: TableSpec) -> None:
    """Declare bronze.<table>; expired records cannot be read from Kafka again, so a full refresh is not allowed."""

    @dp.table(
        name=records_dataset(table),
        comment=f"Records of topic {table.topic} as delivered",
        table_properties={
            **properties.of_dataset(table, "bronze", "records"),
            **retention.of_records(table),
            "pipelines.reset.allowed": "false",
        },
    )
    def records():
        return read_records(spark, table, secret_reader(globals()))


for table in load_tables(spark):
    declare(table)
