"""Silver: every version of each row (without history: the current row), made by APPLY CHANGES."""

from pyspark import pipelines as dp

from cdc import TableSpec, definition, load_tables, row_tracking, sequence, wants_least_counts, with_least_counts
from cdc.names import (
    COLUMNS_TO_UPDATE,
    IS_DELETE,
    changes_dataset,
    least_counts_view,
    target_columns,
    versions_dataset,
)


def source(table: TableSpec) -> str:
    """What the flow reads: silver.<table>_changes, or a view of it that `cdc.least_counts` asks for."""
    if not wants_least_counts(spark, table):
        return changes_dataset(table)

    @dp.temporary_view(name=least_counts_view(table))
    def least_counts():
        changes = changes_dataset(table)
        return with_least_counts(spark.readStream.table(changes), spark.read.table(changes), table)

    return least_counts_view(table)


def declare(table: TableSpec) -> None:
    """Declare silver.<table> and the flow that applies the changes."""
    dp.create_streaming_table(
        name=versions_dataset(table),
        comment=table.comment or f"Versions of {table.source}",
        cluster_by=list(table.cluster_by) or None,
        table_properties={
            "pipelines.cdc.tombstoneGCThresholdInSeconds": str(table.tombstone_retention_seconds),
            **row_tracking(spark),
            **definition.of_versions(table),
        },
    )
    dp.create_auto_cdc_flow(
        target=versions_dataset(table),
        source=source(table),
        keys=list(table.key),
        sequence_by=sequence(table),
        apply_as_deletes=IS_DELETE,
        columns_to_update=COLUMNS_TO_UPDATE if table.merges else None,
        column_list=list(target_columns(table)),
        stored_as_scd_type=2 if table.history else 1,
        track_history_column_list=list(table.track) if table.history and table.track else None,
    )


for table in load_tables(spark):
    if not table.append_only:
        declare(table)
