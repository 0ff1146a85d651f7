"""Typed changes to one target: AUTO CDC alone."""

from pyspark import pipelines as dp
from tests.benchmarks.tables import NARROW

from cdc import sequence
from cdc.names import target_columns

folder = spark.conf.get("bench.input")
schema = spark.read.parquet(folder).schema

dp.create_streaming_table(name="target")


@dp.temporary_view
def typed_changes():
    return spark.readStream.schema(schema).parquet(folder)


dp.create_auto_cdc_flow(
    target="target",
    source="typed_changes",
    keys=["id"],
    sequence_by=sequence(NARROW),
    apply_as_deletes="_op = 'd'",
    column_list=list(target_columns(NARROW)),
    stored_as_scd_type=spark.conf.get("bench.scd_type"),
)
