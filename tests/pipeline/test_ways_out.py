"""What the messages of refused edits tell to type is typed, and ends with the rows of a build from scratch."""

import re
from pathlib import Path

from pyspark.sql import SparkSession
from tests.support.small_pipeline import SmallPipeline

from dlt_local import UpdateFailed

SOURCE = """
import dlt

COLUMNS = "id INT, other INT, name STRING, at INT"

@dlt.table
def raw():
    return spark.readStream.schema(COLUMNS).json(spark.conf.get("rows"))

def target(name, **given):
    arguments = {"source": "raw", "keys": ["id"], "sequence_by": "at", "stored_as_scd_type": 2, **given}
    dlt.create_streaming_table(name)
    dlt.create_auto_cdc_flow(target=name, **arguments)

target("keys", keys=KEYS)
target("type", stored_as_scd_type=TYPE)
target("sequence", sequence_by=SEQUENCE, stored_as_scd_type=1)
target("tracked", track_history_column_list=TRACKED)
target("nulls", ignore_null_updates=NULLS)
target("nested", source="with_struct", stored_as_scd_type=1)

@dlt.view
def with_struct():
    return spark.readStream.table("raw").selectExpr("id", "at", "STRUCT AS both")

dlt.create_sink("out", "delta", {"path": "OUT"})

@dlt.append_flow(target="out")
def sent():
    return spark.readStream.table("raw").select("id")
"""
BEFORE = {
    "KEYS": "['id']",
    "TYPE": "2",
    "SEQUENCE": "'at'",
    "TRACKED": "['name']",
    "NULLS": "False",
    "STRUCT": "named_struct('name', name, 'other', other)",
}
AFTER = {
    "KEYS": "['id', 'other']",
    "TYPE": "1",
    "SEQUENCE": "'cast(at AS BIGINT)'",
    "TRACKED": "['name', 'other']",
    "NULLS": "True",
    "STRUCT": "named_struct('name', name)",
}
REFUSED = {
    "keys": "AUTOCDC_INVALID_STATE.KEY_SCHEMA_DRIFT",
    "type": "AUTOCDC_INVALID_STATE.SCD_TYPE_DRIFT",
    "sequence": "AUTOCDC_INVALID_STATE.SEQUENCING_TYPE_DRIFT",
    "tracked": "AUTOCDC_INVALID_STATE.TRACK_HISTORY_DRIFT",
    "nulls": "AUTOCDC_INVALID_STATE.IGNORE_NULL_UPDATES_DRIFT",
    "nested": "INCOMPATIBLE_DATA_FOR_TABLE.CANNOT_FIND_DATA",
}
"""Dataset -> the condition of its edit."""
ROWS = (
    {"id": 1, "other": 1, "name": "ann", "at": 1},
    {"id": 1, "other": 2, "name": None, "at": 2},
    {"id": 2, "other": 1, "name": "bob", "at": 3},
)


def edited(values: dict[str, str], folder: Path) -> str:
    return re.sub("|".join([*values, "OUT"]), lambda match: {**values, "OUT": f"{folder}/out"}[match[0]], SOURCE)


def test_each_edit_is_refused_and_its_way_out_ends_with_the_right_rows(spark: SparkSession, tmp_path: Path) -> None:
    small = SmallPipeline(tmp_path, spark, edited(BEFORE, tmp_path))
    small.drop(*ROWS)
    small.pipeline.run()
    before = {name: small.table(name) for name in REFUSED}
    small.write(edited(AFTER, tmp_path))
    told = typed(small)
    assert {name: small.table(name) for name in before} == before, "a refused table was written"
    small.pipeline.run(rebuild=told)

    fresh = SmallPipeline(tmp_path / "fresh", spark, edited(AFTER, tmp_path / "fresh"))
    fresh.drop(*ROWS)
    fresh.pipeline.run()
    assert {name: small.table(name) for name in REFUSED} == {name: fresh.table(name) for name in REFUSED}

    sink = refused(small, rebuild=["out"])
    assert sink.startswith("SINK_NOT_REBUILT") and sink.endswith("--full-refresh out")
    small.pipeline.run(full_refresh=["out"])
    assert spark.read.format("delta").load(f"{tmp_path}/out").count() == 2 * len(ROWS)


def typed(small: SmallPipeline) -> list[str]:
    """The names for --rebuild in the messages of an update that refuses every edit."""
    try:
        small.pipeline.run()
    except UpdateFailed as failed:
        assert failed.update is not None
        errors = {each.name.removeprefix("default."): str(each.error) for each in failed.update.datasets if each.error}
        assert {name: text.split()[0] for name, text in errors.items()} == REFUSED
        return [found for text in errors.values() for found in re.findall(r"--rebuild (\S+)$", text)]
    raise AssertionError


def refused(small: SmallPipeline, rebuild: list[str]) -> str:
    try:
        small.pipeline.run(rebuild=rebuild)
    except UpdateFailed as failed:
        return str(failed)
    raise AssertionError
