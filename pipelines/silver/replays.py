"""Silver: rejects decoded again after a fix, once for each name given to `cdc.replay_rejects`."""

from pyspark import pipelines as dp

from cdc import (
    TableSpec,
    changes_of_replays,
    decode,
    definition,
    load_tables,
    open_rejects,
    properties,
    replay,
)
from cdc.names import (
    changes_dataset,
    open_rejects_dataset,
    rejects_dataset,
    replay_flow,
    replayed_changes_flow,
    replays_dataset,
)


def declare(table: TableSpec, name: str) -> None:
    """Declare silver.<table>_replays, the flow of its changes, and silver.<table>_rejects_open."""
    replays, rejects = replays_dataset(table), rejects_dataset(table)
    dp.create_streaming_table(
        name=replays,
        comment=f"Outcome of each reject of {table.topic} in each replay",
        table_properties={**properties.of_dataset(table, "silver", "replays"), **definition.of_changes(table)},
    )

    @dp.append_flow(target=replays, name=replay_flow(table, name), once=True)
    def decoded_again():
        return decode(spark.read.table(rejects), table)

    @dp.append_flow(target=changes_dataset(table), name=replayed_changes_flow(table))
    def replayed_changes():
        return changes_of_replays(spark.readStream.table(replays), table)

    @dp.materialized_view(
        name=open_rejects_dataset(table),
        comment=f"Rejects of {table.topic} that no replay has resolved",
        table_properties=properties.of_dataset(table, "silver", "open rejects"),
    )
    def still_rejected():
        return open_rejects(spark.read.table(rejects), spark.read.table(replays))


if name := replay(spark):
    for table in load_tables(spark):
        declare(table, name)
