"""Graphs that cannot run are refused before anything is written, each error with its condition, file and line."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.support.small_pipeline import ROWS, SmallPipeline

from dlt_local import UpdateFailed

GRAPH = f"""
    from pyspark import pipelines as dp

    @dp.table(name="silver.orders")
    def orders():
        return {ROWS}

    @dp.materialized_view
    def total():
        return spark.read.table("silver.orders").groupBy().count()

    @dp.table
    def loop():
        return QUERY

    @dp.table(name="Silver.ORDERS")
    def twice():
        return {ROWS}
    """
QUERIES = {
    "misspelled dataset": ('spark.read.table("silver.order")', "DATASET_NOT_FOUND", "did you mean `silver.orders`"),
    "cycle": ('spark.read.table("loop")', "CIRCULAR_DEPENDENCY", "default.loop <- default.loop"),
    "misspelled column": ('spark.read.table("silver.orders").select("nam")', "QUERY_FAILED", "nam"),
    "stream of a view": ('spark.readStream.table("total")', "STREAMING_READ_OF_CHANGING_TABLE", "materialized view"),
}
AUTO_CDC = f"""
    from pyspark import pipelines as dp

    @dp.table
    def incoming():
        return {ROWS}

    dp.create_streaming_table("t")
    dp.create_auto_cdc_flow(ARGUMENTS)
    """
LINE_OF_THE_FLOW = 9
EMPTY = {
    'if __name__ == "__main__":\n    @dlt.table\n    def orders():\n        return spark.range(1)\n': (
        "3",
        "the source files declare no table (source.py); what stands below this `if` does not run in a pipeline, which "
        "imports the file",
        "move the declarations out of the `if`",
    ),
    "dlt.view(name='few')(lambda: spark.range(1))\n": (
        "1",
        "the source files declare views, few, and no table: nothing would be written",
        "declare one with @dp.table, or correct the source files that are named",
    ),
}
DEFAULTS = {"target": "'t'", "source": "'incoming'", "keys": "['id']", "sequence_by": "'name'"}
REFUSED_ARGUMENTS = {
    "keys=[]": "AUTOCDC_EMPTY_KEYS",
    "stored_as_scd_type='bitemporal'": "AUTOCDC_BITEMPORAL_NOT_SUPPORTED",
    "stored_as_scd_type=3": "AUTOCDC_UNKNOWN_SCD_TYPE",
    "column_list=['id'], except_column_list=['name']": "AUTOCDC_BOTH_COLUMN_LIST_AND_EXCEPT_COLUMN_LIST",
    "keys=['nid']": "did you mean `id`",
    "keys=['a.id']": "AUTOCDC_MULTIPART_COLUMN_IDENTIFIER",
    "column_list=['name']": "AUTOCDC_KEY_NOT_IN_SELECTED_SCHEMA",
    "sequence_by='nothing'": "AUTOCDC_COLUMNS_NOT_FOUND_IN_SCHEMA",
    "stored_as_scd_type=2, apply_as_truncates='id = 0'": "AUTOCDC_TRUNCATE_NOT_SUPPORTED_FOR_SCD2",
    "ignore_null_updates=True, columns_to_update='name'": "AUTOCDC_BOTH_COLUMNS_TO_UPDATE_AND_IGNORE_NULL_UPDATES",
    "target='elsewhere'": "TARGET_NOT_FOUND",
}


@pytest.mark.parametrize(("query", "condition", "hint"), QUERIES.values(), ids=list(QUERIES))
def test_all_errors_of_a_graph_are_reported_before_anything_is_written(
    query: str, condition: str, hint: str, spark: SparkSession, tmp_path: Path
) -> None:
    small = SmallPipeline(tmp_path, spark, GRAPH.replace("QUERY", query))
    with pytest.raises(UpdateFailed) as failed:
        small.pipeline.run()
    message = str(failed.value)
    assert len(failed.value.errors) == 2
    assert condition in message
    assert hint in message
    assert "DUPLICATE_DATASET" in message
    assert f"{small.file}:" in message
    assert not (small.pipeline.storage.root / "tables").exists()


@pytest.mark.parametrize("source", EMPTY)
def test_a_pipeline_without_a_table_is_refused(source: str, spark: SparkSession, tmp_path: Path) -> None:
    small = SmallPipeline(tmp_path, spark, f"import dlt\n\n{source}")
    line, message, fix = EMPTY[source]
    with pytest.raises(UpdateFailed) as failed:
        small.pipeline.run()
    assert str(failed.value) == f"NO_TABLES_IN_PIPELINE  {small.file}:{line}\n  {message}\n  fix: {fix}"


@pytest.mark.parametrize(("arguments", "reason"), REFUSED_ARGUMENTS.items(), ids=list(REFUSED_ARGUMENTS))
def test_an_auto_cdc_flow_that_cannot_run_is_refused_at_its_line(
    arguments: str, reason: str, spark: SparkSession, tmp_path: Path
) -> None:
    given = [part.split("=")[0].strip() for part in arguments.split(", ")]
    rest = ", ".join(f"{name}={value}" for name, value in DEFAULTS.items() if name not in given)
    small = SmallPipeline(tmp_path, spark, AUTO_CDC.replace("ARGUMENTS", f"{arguments}, {rest}"))
    with pytest.raises(UpdateFailed) as failed:
        small.pipeline.dry_run()
    assert reason in str(failed.value)
    assert f"{small.file}:{LINE_OF_THE_FLOW}" in str(failed.value) or reason == "TARGET_NOT_FOUND"
