"""The whole message of each error condition that comes only with Spark; tests/unit/test_messages.py has the others."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.support.messages import check_message
from tests.support.small_pipeline import ROWS, SmallPipeline

from dlt_local import UpdateFailed

RAW = f"""
import dlt

@dlt.table
def raw():
    return {ROWS}

dlt.table(name="main.people")(lambda: spark.range(1))
dlt.view(name="batch")(lambda: spark.range(1).selectExpr("id", "'a' AS name"))
dlt.view(name="reserved")(lambda: spark.readStream.table("raw").selectExpr("*", "1 AS __dlt_local_x"))
"""


def auto_cdc(target: str, **given: str) -> str:
    """An AUTO CDC target of its own, whose flow has these arguments."""
    arguments = {"source": "'raw'", "keys": "['id']", "sequence_by": "'name'", **given}
    listed = ", ".join(f"{name}={value}" for name, value in arguments.items())
    return f'dlt.create_streaming_table("{target}")\ndlt.create_auto_cdc_flow(target="{target}", {listed})'


def table(name: str, query: str, decorator: str = "@dlt.table") -> str:
    return f"{decorator}\ndef {name}():\n    return {query}"


def flow(target: str, name: str, query: str) -> str:
    return f'@dlt.append_flow(target="{target}")\ndef {name}():\n    return {query}'


STREAM = 'spark.readStream.table("raw")'
REFUSED = {
    "ACCESS_NOT_ENFORCED": table(
        "orders", STREAM, '@dlt.table(row_filter="ROW FILTER r ON (id)", schema="id INT, name STRING MASK hidden")'
    ),
    "BAD_SCHEMA": table("orders", "spark.range(1)", '@dlt.table(schema="id INTT")'),
    "EXPECTATION_NOT_VALID": table("orders", "spark.range(1)", '@dlt.table\n@dlt.expect("positive", "totl > 0")'),
    "QUERY_FAILED": table("orders", 'spark.read.table("raw").select("nmae")'),
    "NOT_A_DATAFRAME": table("orders", 'spark.read.table("raw").schema'),
    "DATASET_NOT_FOUND": table("orders", 'spark.read.table("rwa")'),
    "CATALOG_NAMED_AS_A_SCHEMA": table(
        "orders", 'spark.read.table("main.people").join(spark.table("main.default.raw"), "id")'
    ),
    "CATALOG_NOT_KNOWN": table(
        "orders", 'spark.read.table("eu.main.people").join(spark.table("us.default.raw"), "id")'
    ),
    "AUTO_LOADER_OPTIONS": table(
        "orders",
        'spark.readStream.format("cloudFiles").options(**{"cloudFiles.format": "jsn",'
        ' "cloudFiles.schemaHint": "id INT", "cloudFiles.allowOverwrites": True}).load("/landing")',
    ),
    "CF_EMPTY_DIR_FOR_SCHEMA_INFERENCE": table(
        "orders",
        'spark.readStream.format("cloudFiles").option("cloudFiles.format", "json").load(spark.conf.get("rows"))',
    ),
    "CIRCULAR_DEPENDENCY": table("orders", 'spark.read.table("orders")'),
    "TARGET_NOT_FOUND": flow("ordrs", "late", STREAM) + "\n\n" + table("orders", STREAM),
    "NO_FLOW": 'dlt.create_streaming_table("orders")',
    "MIXED_FLOWS": auto_cdc("orders") + "\n\n" + flow("orders", "late", STREAM),
    "BATCH_QUERY_FOR_STREAMING_TABLE": 'dlt.create_streaming_table("orders")\n\n'
    + flow("orders", "late", 'spark.read.table("raw")'),
    "STREAMING_QUERY_FOR_MATERIALIZED_VIEW": table("orders", STREAM, "@dlt.materialized_view"),
    "STREAMING_READ_OF_CHANGING_TABLE": table("orders", 'spark.readStream.table("main.people")'),
    "STREAM_NOT_SUPPORTED": table("orders", f'{STREAM}.orderBy("id")'),
    "SCHEMA_MISMATCH": table("orders", STREAM, '@dlt.table(schema="id INT, nam STRING")'),
    "CANNOT_MERGE_INCOMPATIBLE_DATA_TYPE": 'dlt.create_streaming_table("orders")\n\n'
    + flow("orders", "early", STREAM)
    + "\n\n"
    + flow("orders", "late", f'{STREAM}.selectExpr("id", "1 AS name")'),
    "AUTOCDC_COLUMNS_NOT_FOUND_IN_SCHEMA": auto_cdc("orders", keys="['nid']"),
    "AUTOCDC_KEY_NOT_IN_SELECTED_SCHEMA": auto_cdc("orders", column_list="['name']"),
    "AUTOCDC_KEY_IN_IGNORE_NULL_UPDATES": auto_cdc("orders", ignore_null_updates_column_list="['id']"),
    "AUTOCDC_NON_BOOLEAN_CONDITION": auto_cdc("orders", apply_as_deletes="'name'"),
    "AUTOCDC_RESERVED_COLUMN_NAME_PREFIX_CONFLICT": auto_cdc("orders", source="'reserved'"),
    "AUTOCDC_MICROBATCH_VALIDATION.NON_ORDERABLE_SEQUENCE": auto_cdc("orders", sequence_by="'map(id, name)'"),
    "AUTOCDC_SOURCE_NOT_STREAMING": auto_cdc("orders", source="'batch'"),
    "NO_SNAPSHOT": 'dlt.create_streaming_table("orders")\n'
    'dlt.create_auto_cdc_from_snapshot_flow(target="orders", source=lambda latest: None, keys=["id"], '
    "stored_as_scd_type=1)",
    "SQL_NOT_UNDERSTOOD": "CREATE STREAMING TABLE orders\nCOMENT 'all orders'\nAS SELECT * FROM STREAM(raw)",
    "NO_SUCH_VALUE": "CREATE STREAMING TABLE orders AS\nSELECT * FROM STREAM(raw) WHERE name = '${nmae}'",
}
"""Condition -> a source file that has it, beside the one with `RAW`."""


@pytest.mark.parametrize("condition", REFUSED)
def test_of_a_graph_that_cannot_run(spark: SparkSession, tmp_path: Path, condition: str) -> None:
    small = SmallPipeline(tmp_path, spark, RAW)
    source = REFUSED[condition]
    is_sql = source.startswith("CREATE")
    file = tmp_path / ("orders.sql" if is_sql else "orders.py")
    file.write_text(source if is_sql else f"import dlt\n\n{source}\n", encoding="utf-8")
    small.pipeline.sources = (str(small.file), str(file))
    with pytest.raises(UpdateFailed) as failed:
        small.pipeline.dry_run()
    (error,) = failed.value.errors
    check_message(condition, error, tmp_path)


FAILING = f"""
import functools

import dlt
from cdc.records import records_of_lines

@dlt.table
def raw():
    return {ROWS}

dlt.create_streaming_table("no_key")
dlt.create_auto_cdc_flow(target="no_key", source="raw", keys=["id"], sequence_by="name")

dlt.create_streaming_table("no_sequence")
dlt.create_auto_cdc_flow(target="no_sequence", source="raw", keys=["name"], sequence_by="id")

@dlt.view
def twice():
    return spark.sql("SELECT 1 AS id, 'a' AS name UNION ALL SELECT 1, 'b'")

dlt.create_streaming_table("of_snapshots")
dlt.create_auto_cdc_from_snapshot_flow(target="of_snapshots", source="twice", keys=["id"], stored_as_scd_type=1)

@functools.cache
def names():
    return spark.read.table("raw").select("name")

@dlt.table
def remembered():
    return names()

@dlt.table(table_properties={{"rows.definition": '{{"a": "int"}}', "rows.concerned": "PART"}})
def defined():
    return spark.readStream.table("raw")

@dlt.table
def records():
    lines = spark.readStream.format("text").load(spark.conf.get("rows"))
    return records_of_lines(lines.select("value", "_metadata.file_path"), "orders")
"""
FAILED = {
    "no_key": "AUTOCDC_MICROBATCH_VALIDATION.NULL_KEY",
    "no_sequence": "AUTOCDC_MICROBATCH_VALIDATION.NULL_SEQUENCE",
    "of_snapshots": "AUTOCDC_SNAPSHOT_KEY_NOT_UNIQUE",
    "remembered": "FRAME_OF_AN_EARLIER_CALL",
}
"""Dataset -> condition."""


def test_of_a_run(spark: SparkSession, tmp_path: Path) -> None:
    small = SmallPipeline(tmp_path, spark, FAILING)
    small.drop({"id": None, "name": "a"}, {"id": 1, "name": "b"})
    with pytest.raises(UpdateFailed) as failed:
        small.pipeline.run()
    assert failed.value.update is not None
    errors = {each.name.removeprefix("default."): each.error for each in failed.value.update.datasets if each.error}
    assert errors.keys() == {*FAILED, "records"}
    for dataset, condition in FAILED.items():
        check_message(condition, errors[dataset], tmp_path)
    # An error of a query is quoted in the one of its flow.
    _, found, message = str(errors["records"]).partition("NOT_A_RECORD")
    check_message("NOT_A_RECORD", f"{found}{message}", tmp_path)

    # A row definition whose condition is no SQL: refused once the definition changes, before anything is written.
    small.write(FAILING.replace('"a": "int"', '"a": "int", "b": "int"'))
    with pytest.raises(
        UpdateFailed, match=r"ROW_DEFINITION_NOT_VALID(.|\n)*`rows.concerned` of default.defined, `PART`"
    ):
        small.pipeline.run(refresh=["defined"])
