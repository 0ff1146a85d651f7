"""Silver: the rejects decoded once more, for each name that `cdc.replay_rejects` is given after a fix."""

from pyspark import pipelines as dp

from cdc import TableSpec, changes_of_replays, decode, load_tables, open_rejects, replay
from cdc.names import changes_dataset, open_rejects_dataset, rejects_dataset, replays_dataset


def declare(table: TableSpec, name: str) -> None:
    """Declare silver.<table>_replays, what of it goes to the changes, and silver.<table>_rejects_open."""
    replays, rejects = replays_dataset(table), rejects_dataset(table)
    dp.create_streaming_table(name=replays, comment=f"Outcome of each reject of {table.topic} in each replay")

    @dp.append_flow(target=replays, name=f"{table.name}_replay_{name}", once=True)
    def decoded_again():
        return decode(spark.read.table(rejects), table)

    @dp.append_flow(target=changes_dataset(table), name=f"{table.name}_changes_of_replays")
    def changes_at_last():
        return changes_of_replays(spark.readStream.table(replays), table)

    @dp.materialized_view(name=open_rejects_dataset(table), comment=f"Rejects of {table.topic} still to be mended")
    def still_rejected():
        return open_rejects(spark.read.table(rejects), spark.read.table(replays))


if name := replay(spark):
    for table in load_tables(spark):
        declare(table, name)
