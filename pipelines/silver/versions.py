"""Silver: every version of each row (without history: the current row), made by APPLY CHANGES."""

from pyspark import pipelines as dp

from cdc import TableSpec, load_tables, names, properties, retention, row_conditions, row_tracking, sequence, targets
from cdc.least_counts import wants_least_counts, with_least_counts


def declare_source(table: TableSpec) -> str:
    """Declare what the flow reads, a view of silver.<table>_changes."""

    @dp.temporary_view(name=names.applied_changes_view(table))
    def applied_changes():
        dataset = names.changes_dataset(table)
        stream = retention.stream(spark, dataset)
        if wants_least_counts(spark, table):
            return with_least_counts(stream, spark.read.table(dataset), table)
        return stream

    return names.applied_changes_view(table)


def declare(sources: tuple[TableSpec, ...]) -> None:
    """Declare silver.<table>, and the flows that apply the changes: one for each table that flows into it."""
    table, named = sources[0], ", ".join(each.source for each in sources)
    dp.create_streaming_table(
        name=names.versions_dataset(table),
        comment=table.comment or f"Versions of {named}",
        cluster_by=list(table.cluster_by) or None,
        table_properties={
            **row_tracking(spark),
            **properties.of_versions(sources),
            **retention.of_silver(*sources),
            "pipelines.cdc.tombstoneGCThresholdInSeconds": str(table.tombstone_retention_seconds),
        },
    )
    for each in sources:
        dp.create_auto_cdc_flow(
            target=names.versions_dataset(each),
            name=names.versions_flow(each),
            source=declare_source(each),
            keys=list(each.key),
            sequence_by=sequence(each),
            apply_as_deletes=row_conditions.removes_row(each),
            apply_as_truncates=row_conditions.removes_every_row(each),
            columns_to_update=names.COLUMNS_TO_UPDATE if each.has_partial_changes else None,
            column_list=list(names.version_columns(each)),
            stored_as_scd_type=2 if each.history else 1,
            track_history_column_list=list(names.tracked_columns(each)) or None,
        )


for sources in targets(load_tables(spark)):
    declare(sources)
