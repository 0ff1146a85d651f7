"""Silver: the outcome of each record (change, reject or ignored); the only place where JSON is parsed."""

from pyspark import pipelines as dp

from cdc import TableSpec, decode, definition, load_tables, notes_of_drift, properties, retention
from cdc.names import decoded_dataset, records_dataset


def declare(table: TableSpec) -> None:
    """Declare silver.<table>_decoded, private to this pipeline."""

    @dp.table(
        name=decoded_dataset(table),
        comment=f"Outcome of each record of {table.topic}",
        table_properties={
            **properties.of_dataset(table, "silver", "outcomes"),
            **retention.of_outcomes(table),
            **properties.of_outcomes(table),
            **notes_of_drift(table),
            **definition.of_changes(table),
        },
        private=True,
    )
    def decoded():
        return decode(retention.stream(spark, records_dataset(table)), table)


for table in load_tables(spark):
    declare(table)
