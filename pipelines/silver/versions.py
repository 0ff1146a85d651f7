"""Silver: every version of each row (without history: the current row), made by APPLY CHANGES."""

from pyspark import pipelines as dp

from cdc import (
    TableSpec,
    definition,
    load_tables,
    properties,
    sequence,
    targets,
    wants_least_counts,
    with_least_counts,
)
from cdc.names import (
    COLUMNS_TO_UPDATE,
    IS_DELETE,
    changes_dataset,
    least_counts_view,
    target_columns,
    versions_dataset,
    versions_flow,
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


def declare(sources: tuple[TableSpec, ...]) -> None:
    """Declare silver.<table>, and the flow that applies the changes: one for each table that flows into it."""
    table, named = sources[0], ", ".join(each.source for each in sources)
    dp.create_streaming_table(
        name=versions_dataset(table),
        comment=table.comment or f"Versions of {named}",
        cluster_by=list(table.cluster_by) or None,
        table_properties={
            **properties.of_dataset(table, "silver", "versions"),
            "pipelines.cdc.tombstoneGCThresholdInSeconds": str(table.tombstone_retention_seconds),
            **definition.of_versions(table),
            **definition.of_sources(sources),
        },
    )
    for each in sources:
        apply(each)


def apply(table: TableSpec) -> None:
    """Declare the flow that applies a table's changes."""
    dp.create_auto_cdc_flow(
        target=versions_dataset(table),
        name=versions_flow(table),
        source=source(table),
        keys=list(table.key),
        sequence_by=sequence(table),
        apply_as_deletes=IS_DELETE,
        columns_to_update=COLUMNS_TO_UPDATE if table.merges else None,
        column_list=list(target_columns(table)),
        stored_as_scd_type=2 if table.history else 1,
        track_history_column_list=list(table.track) if table.history and table.track else None,
    )


for sources in targets(load_tables(spark)):
    declare(sources)
