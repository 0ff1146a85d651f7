"""Silver: the first and the last record of everything in which a table's records and its spec differ."""

from pyspark import pipelines as dp

from cdc import TableSpec, drift_records, load_tables, properties, retention, wants_drift
from cdc.drift import DRIFT_COLUMNS, DRIFT_KEY, DRIFT_SEQUENCE
from cdc.names import decoded_dataset, drift_records_dataset, drift_records_view


def declare(table: TableSpec) -> None:
    """Declare silver.<table>_drift; of each kind and field it keeps two records, however many there are."""
    dp.create_streaming_table(
        name=drift_records_dataset(table),
        comment=f"Records of {table.topic} that are not as the spec says",
        table_properties={**properties.of_dataset(table, "silver", "drift"), **retention.of_silver(table)},
    )

    @dp.temporary_view(name=drift_records_view(table))
    def records_with_drift():
        return drift_records(retention.stream(spark, decoded_dataset(table)))

    dp.create_auto_cdc_flow(
        target=drift_records_dataset(table),
        source=drift_records_view(table),
        keys=list(DRIFT_KEY),
        sequence_by=DRIFT_SEQUENCE,
        column_list=list(DRIFT_COLUMNS),
        stored_as_scd_type=1,
    )


if wants_drift(spark):
    for table in load_tables(spark):
        declare(table)
