"""Records to typed changes and rejects, and with `bench.scd_type` to current rows: the shape of silver and gold."""

from dataclasses import replace

from pyspark import pipelines as dp
from tests.benchmarks import tables

from cdc import changes, current_rows, decode, rejects, sequence
from cdc.names import target_columns

folder = spark.conf.get("bench.input")
schema = spark.read.parquet(folder).schema
order = tables.BY_WIDTH[spark.conf.get("bench.width")]


@dp.table(private=True)
def decoded():
    return decode(spark.readStream.schema(schema).parquet(folder), order)


@dp.table
def orders_changes():
    return changes(spark.readStream.table("decoded"), order)


@dp.table
def orders_rejects():
    return rejects(spark.readStream.table("decoded"), order)


def declare_rows(scd_type: str) -> None:
    """Declare the AUTO CDC target and its gold view."""
    dp.create_streaming_table(name="target")
    dp.create_auto_cdc_flow(
        target="target",
        source="orders_changes",
        keys=["id"],
        sequence_by=sequence(order),
        apply_as_deletes="_op = 'd'",
        column_list=list(target_columns(order)),
        stored_as_scd_type=scd_type,
    )

    @dp.materialized_view
    def orders():
        return current_rows(spark.read.table("target"), replace(order, history=scd_type == "2"))


if spark.conf.get("bench.scd_type"):
    declare_rows(spark.conf.get("bench.scd_type"))
