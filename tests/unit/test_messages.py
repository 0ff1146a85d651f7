"""The whole message of each condition that comes without Spark; tests/pipeline/test_messages.py has the others."""

import json
import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from click.testing import CliRunner
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import LongType, StringType, StructField, StructType
from tests.support.bundle_folder import SMALLEST, write_bundle
from tests.support.messages import check_message
from tests.support.tables import table
from tests.unit.test_auto_cdc_integrity import FIRST, NAME, SECOND, apply, commit
from tests.unit.test_cli_drawing import node

from cdc.__main__ import cdc as cdc_commands
from cdc.connector_check import Config
from cdc.credentials import SecretNotReadable
from cdc.gaps import BadGapsSetting
from cdc.interop.sdp_meta import UnknownDataFlow
from cdc.reconcile import ColumnsNotComparable
from cdc.records import BadKafkaOptions, UnknownSource
from cdc.replay import BadReplay
from cdc.spark_version import SparkTooOld
from cdc.spec.captures import captured_records
from cdc.spec.deployment import schemas_from_options
from cdc.switches import BadSwitch
from dlt_local import LocalPipeline
from dlt_local.auto_cdc import drift
from dlt_local.auto_cdc.args import ChangeArgs
from dlt_local.auto_cdc.integrity import StoredTarget, check_target, faults
from dlt_local.auto_loader import evolution
from dlt_local.auto_loader.schema_log import FilesSchema, SchemaLog
from dlt_local.bundle import BundleError, bundle_pipeline, read_bundle, read_spark_project
from dlt_local.cli.main import main as engine
from dlt_local.cli.settings import Options, settings
from dlt_local.declarations.elements import AutoCdcFlow, QueryFlow, Sink, Table
from dlt_local.declarations.empty_pipeline import nothing_declared
from dlt_local.declarations.notebooks import cells
from dlt_local.declarations.paths import PathMap
from dlt_local.declarations.registry import Registry
from dlt_local.declarations.source_files import load, source_files
from dlt_local.delta import tables
from dlt_local.delta.storage import Storage, read_json
from dlt_local.errors import (
    ClassArchiveNotWritten,
    FlowError,
    JarsNotFetched,
    JavaMissing,
    LocalPipelineError,
    SetupError,
    SourceLocation,
)
from dlt_local.flows import continuity, failures
from dlt_local.flows.checkpoint import Checkpoint, Position
from dlt_local.flows.context import FlowRun, UpdateContext
from dlt_local.flows.input_files import InputFiles
from dlt_local.flows.kafka import errors as kafka
from dlt_local.flows.kafka.gaps import Gap
from dlt_local.graph.graph import Graph, Node, ResolvedFlow
from dlt_local.graph.stream_sources import FileSource, KafkaSource
from dlt_local.graph.validations import check_nested_fields
from dlt_local.names import TableName
from dlt_local.observability.event_log import not_published
from dlt_local.observability.report.tallies import Tally, TooManyRejects
from dlt_local.spark import root_cause
from dlt_local.spark.isolation import isolated_session
from dlt_local.updates import expiry, moved_tables, row_definitions
from dlt_local.updates.declaration_changes import check_partitioning
from dlt_local.updates.doctor import findings
from dlt_local.updates.selection import Selection
from dlt_local.updates.trigger_intervals import intervals

HERE = SourceLocation("tables.py", 7)

TARGET = 'dlt.create_streaming_table("orders")\n'
ROWS = 'def {0}():\n    return spark.readStream.table("raw")\n'


def auto_cdc(**given: str) -> str:
    """A source file with an AUTO CDC flow that has these arguments."""
    arguments = {"target": "'orders'", "source": "'raw'", "keys": "['id']", "sequence_by": "'at'", **given}
    return f"dlt.create_auto_cdc_flow({', '.join(f'{name}={value}' for name, value in arguments.items())})"


DECLARED = {
    "SOURCE_FILE_FAILED": "least = 1 / 0",
    "NOT_SUPPORTED_LOCALLY": '@dlt.update_flow(target="orders")\n' + ROWS.format("orders"),
    "INVALID_DATASET_NAME": '@dlt.table(name="..")\n' + ROWS.format("orders"),
    "CATALOGS_NOT_SEPARATE": '@dlt.table(name="eu.sales.orders")\n'
    + ROWS.format("eu")
    + '\n@dlt.table(name="us.sales.orders")\n'
    + ROWS.format("us"),
    "DUPLICATE_DATASET": "@dlt.table\n" + ROWS.format("orders") + '\n@dlt.table(name="Orders")\n' + ROWS.format("all"),
    "DUPLICATE_FLOW": TARGET + '@dlt.append_flow(target="orders", name="late")\n' * 2 + ROWS.format("rows"),
    "NOT_A_FUNCTION": '@dlt.table("orders")\n' + ROWS.format("orders"),
    "MISSING_TARGET": "@dlt.append_flow()\n" + ROWS.format("late_orders"),
    "FORMAT_NOT_SUPPORTED": '@dlt.table(format="parquet")\n' + ROWS.format("orders"),
    "EXPECTATION_NOT_A_CONDITION": '@dlt.table\n@dlt.expect("has a total", 3)\n' + ROWS.format("orders"),
    "ROW_DEFINITION_NOT_VALID": """@dlt.table(table_properties={"rows.definition": "{'total': 'int'}"})\n"""
    + ROWS.format("orders"),
    "AUTOCDC_MISSING_TARGET": auto_cdc(target="''"),
    "AUTOCDC_MISSING_SOURCE": auto_cdc(source="''"),
    "AUTOCDC_EMPTY_KEYS": auto_cdc(keys="[]"),
    "AUTOCDC_MISSING_SEQUENCE_BY": auto_cdc(sequence_by="''"),
    "AUTOCDC_NOT_A_LIST": auto_cdc(column_list="'id'"),
    "AUTOCDC_DUPLICATE_COLUMN": auto_cdc(keys="['id', 'ID']"),
    "AUTOCDC_NON_COLUMN_IDENTIFIER": auto_cdc(keys="['']"),
    "AUTOCDC_MULTIPART_COLUMN_IDENTIFIER": auto_cdc(keys="['row.id']"),
    "AUTOCDC_UNKNOWN_SCD_TYPE": auto_cdc(stored_as_scd_type="3"),
    "AUTOCDC_BITEMPORAL_NOT_SUPPORTED": auto_cdc(stored_as_scd_type="'bitemporal'"),
    "AUTOCDC_TRUNCATE_NOT_SUPPORTED_FOR_SCD2": auto_cdc(stored_as_scd_type="2", apply_as_truncates="\"op = 't'\""),
    "AUTOCDC_TRACK_HISTORY_NOT_SUPPORTED_FOR_SCD1": auto_cdc(track_history_column_list="['total']"),
    "AUTOCDC_BOTH_COLUMN_LIST_AND_EXCEPT_COLUMN_LIST": auto_cdc(column_list="['id']", except_column_list="['op']"),
    "AUTOCDC_BOTH_TRACK_HISTORY_COLUMN_LIST_AND_TRACK_HISTORY_EXCEPT_COLUMN_LIST": auto_cdc(
        stored_as_scd_type="2", track_history_column_list="['total']", track_history_except_column_list="['note']"
    ),
    "AUTOCDC_BOTH_IGNORE_NULL_UPDATES_COLUMN_LIST_AND_IGNORE_NULL_UPDATES_EXCEPT_COLUMN_LIST": auto_cdc(
        ignore_null_updates_column_list="['total']", ignore_null_updates_except_column_list="['note']"
    ),
    "AUTOCDC_CONFLICTING_IGNORE_NULL_UPDATES_OPTIONS": auto_cdc(
        ignore_null_updates="True", ignore_null_updates_column_list="['total']"
    ),
    "AUTOCDC_BOTH_COLUMNS_TO_UPDATE_AND_IGNORE_NULL_UPDATES": auto_cdc(
        ignore_null_updates="True", columns_to_update="'columns'"
    ),
}
"""Condition -> a source file that has it. Declaring needs no session."""


@pytest.mark.parametrize("condition", DECLARED)
def test_of_a_declaration(tmp_path: Path, condition: str) -> None:
    file = tmp_path / "tables.py"
    file.write_text(f"import dlt\n\n{DECLARED[condition]}\n", encoding="utf-8")
    (fault,) = load([file], Registry("default", cast(SparkSession, None)), None)
    check_message(condition, fault, tmp_path)


def of_bundle(pipeline: str, **more: str) -> dict[str, str]:
    """A bundle with one pipeline, and more top-level settings."""
    head = "".join(f"{name}: {value}\n" for name, value in {"targets": "{dev: {}}", **more}.items())
    return {"databricks.yml": f"bundle: {{name: shop}}\n{head}resources: {{pipelines: {{shop: {pipeline}}}}}\n"}


SOURCES = "libraries: [{glob: {include: src/**}}]"
BUNDLES: Mapping[str, Mapping[str, str]] = {
    "NO_BUNDLE": {},
    "BROKEN_YAML": {"databricks.yml": "bundle: {name: shop\n"},
    "WRONG_SHAPE": {"databricks.yml": "- bundle\n"},
    "UNREADABLE_FILE": of_bundle(f"{{{SOURCES}}}", include="[folder.yml]") | {"folder.yml/file": ""},
    "MISSING_INCLUDE": of_bundle(f"{{{SOURCES}}}", include="[targts.yml]"),
    "CANNOT_MERGE": of_bundle(f"{{{SOURCES}}}", include="[more.yml]", sync="{include: [src]}")
    | {"more.yml": "sync: {include: src}\n"},
    "DUPLICATE_RESOURCE_KEY": of_bundle(f"{{{SOURCES}}}", include="[more.yml]")
    | {"more.yml": "resources: {jobs: {shop: {name: nightly}}}\n"},
    "DEVELOPMENT_IN_PRODUCTION": of_bundle(f"{{{SOURCES}, development: true}}", targets="{prod: {mode: production}}"),
    "NOT_A_PACKAGE": of_bundle(f"{{{SOURCES}, environment: {{dependencies: ['ruamel.yaml==0.19.1']}}}}"),
    "NO_TARGET": of_bundle(f"{{{SOURCES}}}", targets="{dev: {}, prod: {}}"),
    "NO_PIPELINE": {"databricks.yml": SMALLEST + "    web: {}\n"},
    "UNKNOWN_VARIABLE": of_bundle(f"{{{SOURCES}, schema: '${{var.scema}}'}}", variables="{schema: {default: s}}"),
    "VARIABLE_NOT_SET": of_bundle(f"{{{SOURCES}}}", variables="{schema: {}}"),
    "UNKNOWN_REFERENCE": of_bundle(f"{{{SOURCES}, name: '${{bundle.nam}}'}}"),
    "REFERENCE_CYCLE": of_bundle(
        f"{{{SOURCES}, name: '${{var.a}}'}}", variables="{a: {default: '${var.b}'}, b: {default: '${var.a}'}}"
    ),
    "NOT_A_TEXT": of_bundle(f"{{{SOURCES}, name: 'x${{var.all}}'}}", variables="{all: {default: [1]}}"),
    "KNOWN_IN_WORKSPACE_ONLY": of_bundle(f"{{{SOURCES}, schema: '${{resources.pipelines.shop.id}}'}}"),
    "MISSING_FOLDER": of_bundle(f"{{{SOURCES}, root_path: sorce}}"),
    "NO_LIBRARIES": of_bundle("{name: shop}"),
    "NOTEBOOK_NOT_FOUND": of_bundle("{libraries: [{notebook: {path: src/orders}}]}"),
    "LIBRARY_NOT_RUN_HERE": of_bundle("{libraries: [{jar: functions.jar}]}"),
}
"""Condition -> the files of a bundle that has it."""


@pytest.mark.parametrize("condition", BUNDLES)
def test_of_a_bundle(tmp_path: Path, condition: str) -> None:
    with pytest.raises(BundleError) as raised:
        bundle_pipeline(read_bundle(write_bundle(tmp_path, BUNDLES[condition])))
    check_message(condition, raised.value.faults[0], tmp_path)


def misspelt_field(folder: Path) -> None:
    (folder / "spark-pipeline.yml").write_text("name: shop\nstorge: file:///tmp/shop\n")
    read_spark_project(folder)


def unknown_target(folder: Path) -> None:
    read_bundle(write_bundle(folder, {"databricks.yml": SMALLEST}), "pord")


def unknown_pipeline(folder: Path) -> None:
    bundle_pipeline(read_bundle(write_bundle(folder, {"databricks.yml": SMALLEST})), "shp")


def secret_not_readable(folder: Path) -> None:
    bundle = of_bundle(f"{{{SOURCES}, configuration: {{jaas: '{{{{secrets/kafka/jaas}}}}'}}}}")
    settings(Options(bundle=write_bundle(folder, bundle))).check_secrets()


def no_storage_given(folder: Path) -> None:
    settings(Options(sources=("tables.py",))).storage_folder()


def no_pipeline_given(folder: Path) -> None:
    settings(Options())


def storage_in_use(folder: Path) -> None:
    with Storage(folder).locked():
        (folder / "system" / "lock").write_text("4711")
        with Storage(folder).locked():
            pass


def damaged_schema(folder: Path) -> None:
    log = SchemaLog(folder / "storage" / "system" / "auto_loader" / "orders-0d6f")
    log.append(FilesSchema(StructType()))
    next(folder.rglob("_schemas/0")).write_text("v1")
    log.latest()


def no_source_files(folder: Path) -> None:
    source_files([f"{folder}/src/**"])


def not_a_notebook(folder: Path) -> None:
    cells(folder / "orders.ipynb", "# Databricks notebook source\n")


def no_tables(folder: Path) -> None:
    file = folder / "orders.py"
    file.write_text('import dlt\n\nif __name__ == "__main__":\n    declare()\n')
    raise nothing_declared([file], Registry("default", cast(SparkSession, None)))


def damaged_file(folder: Path) -> None:
    file = Storage(folder).progress("silver.orders")
    file.parent.mkdir(parents=True)
    file.write_text("{")
    read_json(file)


def missing_checkpoint(folder: Path) -> None:
    Checkpoint("silver.orders", "orders", Storage(folder).checkpoint("silver.orders", "orders")).check(None)


def older_checkpoint(folder: Path) -> None:
    checkpoint = Checkpoint("silver.orders", "orders", Storage(folder).checkpoint("silver.orders", "orders"))
    (checkpoint.folder / "commits").mkdir(parents=True)
    checkpoint.check(Position("query", 3))


def target_of(folder: Path) -> StoredTarget:
    """A target after its first batch."""
    storage = Storage(folder)
    commit(storage.table(NAME), "CREATE TABLE", rows=0, id="00000000-0000-0000-0000-000000000001")
    target = StoredTarget.of(NAME, storage.table(NAME), storage)
    apply(target, FIRST)
    return target


def altered(alter: Callable[[StoredTarget], object]) -> Callable[[Path], None]:
    def check(folder: Path) -> None:
        target = target_of(folder)
        alter(target)
        for error in faults(target, 0):
            raise error

    return check


def missing_ledger(target: StoredTarget) -> None:
    target.state.begin(SECOND, None)
    (target.state.folder / "begun.json").unlink()


def replaced_table(target: StoredTarget) -> None:
    shutil.rmtree(target.table)
    commit(target.table, "CREATE TABLE", rows=0, id="00000000-0000-0000-0000-000000000002")


def outdated_state(folder: Path) -> None:
    for error in faults(target_of(folder), 9):
        raise error


ID, NAME_COLUMN = StructField("id", LongType()), StructField("name", StringType())
ROW = StructType([ID, NAME_COLUMN])
CHANGES = ChangeArgs(
    flow="orders",
    target=TableName("silver", "orders"),
    keys=("id",),
    source_columns=ROW,
    columns=ROW,
    sequence_type=LongType(),
    scd_type=2,
    tracked=("name",),
    tracks_by_default=False,
    ignore_null=(),
    columns_to_update=None,
    sequence_by="at",
    where=None,
    apply_as_deletes=None,
    apply_as_truncates=None,
)


def drifted(now: ChangeArgs) -> Callable[[Path], None]:
    def check(folder: Path) -> None:
        drift.record(CHANGES, folder)
        drift.check(now, folder, HERE)

    return check


def nested_field_gone(folder: Path) -> None:
    def place(*fields: str) -> StructType:
        return StructType([ID, StructField("place", StructType([StructField(name, StringType()) for name in fields]))])

    changes = replace(CHANGES, scd_type=1, source_columns=place("city"))
    flow = AutoCdcFlow("orders", changes.target, HERE, "raw", ("id",), "at")
    check_nested_fields(flow, changes, place("city", "street"))


def delta_table(folder: Path, configuration: Mapping[str, str]) -> Path:
    """The log of a Delta table with one row and these properties."""
    table = folder / "orders"
    commit(table, "WRITE", id="00000000-0000-0000-0000-000000000001")
    schema = StructType([ID, NAME_COLUMN]).json()
    metadata = {"configuration": configuration, "schemaString": schema, "partitionColumns": ["name"]}
    (table / "_delta_log" / f"{0:020d}.crc").write_text(json.dumps({"metadata": metadata}))
    return table


ORDERS = Table(TableName("silver", "orders"), HERE, "streaming table")


def definition_changed(folder: Path) -> None:
    before = {"rows.definition": '{"total": "decimal(9,2)", "history": "every version"}'}
    after = {"rows.definition": '{"total": "decimal(18,2)", "history": "every version"}'}
    table = replace(ORDERS, table_properties=after)
    row_definitions.check(cast(SparkSession, None), table, delta_table(folder, before))


def moved(folder: Path) -> None:
    storage, name = Storage(folder), TableName("bronze", "orders")
    kept = {"pipelines.reset.allowed": "false", "rows.origin": "records of shop.dbo.orders by connector shop"}
    table = storage.table(name)
    commit(table, "WRITE", id="00000000-0000-0000-0000-000000000001")
    (table / "_delta_log" / f"{0:020d}.crc").write_text(json.dumps({"metadata": {"configuration": kept}}))
    context = SimpleNamespace(
        storage=storage, path=storage.table, session=SimpleNamespace(conf={}), registry=SimpleNamespace(tables={})
    )
    renamed = replace(ORDERS, name=TableName("raw", "orders"), table_properties=kept)
    moved_tables.check(renamed, cast(UpdateContext, context))


def partitioning_changed(folder: Path) -> None:
    check_partitioning(replace(ORDERS, partition_cols=("id",)), delta_table(folder, {}))


def schema_changed(folder: Path) -> None:
    strict = StructType([StructField("id", LongType(), nullable=False)])
    tables.reshaping(cast(DataFrame, None), replace(ORDERS, schema=strict), strict)


def sink(name: str) -> Node:
    flow = node(f"default.{name}", "sink", ("silver.orders",)).flows[0]
    return Node(Sink(name, HERE, "kafka", {}), "sink", (flow,), StructType())


def forbidden(name: str) -> Node:
    full = TableName(*name.split("."))
    table = Table(full, HERE, "streaming table", table_properties={"pipelines.reset.allowed": "false"})
    return replace(node(name, "streaming table"), dataset=table)


GRAPH = Graph((node("bronze.orders", "streaming table"), node("silver.orders", "streaming table"), sink("out")), ())


def selected(graph: Graph, **selection: tuple[str, ...]) -> Callable[[Path], object]:
    return lambda folder: Selection(**selection).of(graph, "default")


def raising(error: Exception) -> Callable[[Path], object]:
    def fail(folder: Path) -> None:
        raise error

    return fail


FLOW = ResolvedFlow(QueryFlow("orders", ORDERS.name, HERE, lambda: cast(DataFrame, None)), (), (), True, ROW)
NODE = Node(replace(ORDERS, name=TableName("bronze", "orders")), "streaming table", (FLOW,), ROW)
BROKER = KafkaSource({"kafka.bootstrap.servers": "kafka:9092", "subscribe": "shop.dbo.orders"})
EXPECTATION = (
    'EXPECTATION_FAILED bronze.orders: expectation `positive` (total > 0) is not met by the row {"id":1,"total":-5}'
)
REPLACED = "bronze.orders, which it reads, has been replaced by another table"
TALLY = Tally(
    "silver.orders_decoded",
    "_outcome, reason",
    {"change": 40, "reject: WRONG_TYPE": 2},
    {"change": 40, "reject: WRONG_TYPE": 2},
    "reject",
)


def changed_input_file(folder: Path) -> None:
    file, log = folder / "rows" / "1.json", folder / "checkpoint" / "sources" / "0"
    for path in (file.parent, log):
        path.mkdir(parents=True)
    file.write_text("{}")
    os.utime(file, (1_772_450_000, 1_772_450_000))
    (log / "0").write_text("v1\n" + json.dumps({"path": file.as_uri(), "timestamp": 1_772_366_400_123, "batchId": 0}))
    InputFiles.of("bronze.orders", [FileSource(str(file.parent))], folder / "checkpoint").check_unchanged()


def other_capture(folder: Path) -> None:
    (folder / "records.jsonl").write_text('{"op": "c", "source": {}}\n')
    list(captured_records([folder]))


def other_config(folder: Path) -> None:
    (folder / "connector.json").write_text("[]")
    Config.read(folder / "connector.json")


def table_gone(folder: Path) -> None:
    target = target_of(folder)
    shutil.rmtree(target.table)
    check_target(target.name, target.table, target.state.ledger())


SPEC = "table: shop.dbo.orders\nkey: [id]\ndeletes: soft\ncolumns: {id: int}\n"
HARD = {"conf/tables/shop/orders.yml": SPEC.replace("deletes: soft\n", "")}
DATA_FLOW = """\
[{"data_flow_id": "1", "source_format": "kafka", "source_details": {"subscribe": "shopserver.shop.dbo.orders"},
  "bronze_database_dev": "bronze", "bronze_table": "orders"}]
"""


def reported(condition: str, files: Mapping[str, str], *options: str) -> Callable[[Path], object]:
    """The message of an export of the conf folder, or of an import of the onboarding file, among these files."""

    def check(folder: Path) -> None:
        for name, text in {"conf/connectors/shop.yml": "topic_prefix: shopserver\n", **files}.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text, encoding="utf-8")
        way = "import onboarding.json --connector shop" if "onboarding.json" in files else "export conf --write out"
        command, *arguments = way.split()
        result = CliRunner().invoke(cdc_commands, [command, "sdp-meta", *arguments, *options])
        raise ValueError(next(each for each in result.stderr.split("\n\n") if each.startswith(f"{condition}  ")))

    return check


RAISED: Mapping[str, Callable[[Path], object]] = {
    "JAVA_MISSING": raising(JavaMissing.from_absence(None)),
    "JARS_NOT_FETCHED": raising(JarsNotFetched("spark", "UNRESOLVED DEPENDENCY: io.delta#delta-spark_2.13;4.4.0")),
    "CLASS_ARCHIVE_NOT_WRITTEN": raising(ClassArchiveNotWritten(Path("share/dlt_local/classes.jsa"))),
    "NO_PIPELINE_GIVEN": no_pipeline_given,
    "NO_STORAGE_GIVEN": no_storage_given,
    "SECRET_NOT_READABLE": secret_not_readable,
    "UNKNOWN_DATASET": selected(GRAPH, rebuild=("ordrs",)),
    "UNKNOWN_TABLE": lambda folder: LocalPipeline("shop", [], folder).table("gold.orders"),
    "UNKNOWN_TARGET": unknown_target,
    "UNKNOWN_FIELD": misspelt_field,
    "UNKNOWN_PIPELINE": unknown_pipeline,
    "NO_SOURCE_FILES": no_source_files,
    "NO_TABLES_IN_PIPELINE": no_tables,
    "NOT_A_NOTEBOOK": not_a_notebook,
    "FLOW_FAILED": raising(failures.flow_failed(NODE, FLOW, ValueError("[DIVIDE_BY_ZERO] Division by zero."))),
    "EXPECTATION_FAILED": raising(failures.flow_failed(NODE, FLOW, ValueError(EXPECTATION))),
    "DISK_FULL": raising(failures.flow_failed(NODE, FLOW, OSError(28, "No space left on device"))),
    "TOO_MANY_REJECTS": raising(TooManyRejects([TALLY], 1)),
    "INPUT_FILE_CHANGED": changed_input_file,
    "PATH_NOT_MAPPED": lambda folder: PathMap().local("/Volumes/main/shop/raw/orders", HERE),
    "UNKNOWN_FIELD_EXCEPTION": raising(evolution.refused("bronze.orders", "tip in file:///data/raw/orders/7.json")),
    "SCHEMA_LOG_DAMAGED": damaged_schema,
    "STORAGE_IN_USE": storage_in_use,
    "EVENT_LOG_NOT_WRITTEN": lambda folder: raising(
        not_published(PermissionError(13, "Permission denied"), folder / "system" / "event_log")
    )(folder),
    "KAFKA_TOPIC_MISSING": raising(kafka.topic_missing("bronze.orders", FLOW, BROKER, ["shop.dbo.orders"])),
    "KAFKA_RECORDS_MISSING": lambda folder: raising(
        kafka.records_missing(
            FlowRun(cast("object", None), NODE, FLOW, cast("object", None)),  # type: ignore[arg-type]
            BROKER,
            [Gap("shop.dbo.orders", 0, 10, 11, "expired")],
            may_rebuild=False,
        )
    )(folder),
    "ROW_DEFINITION_CHANGED": definition_changed,
    "TABLE_MOVED": moved,
    "AUTOCDC_INVALID_STATE.KEY_SCHEMA_DRIFT": drifted(replace(CHANGES, keys=("name",))),
    "AUTOCDC_INVALID_STATE.SCD_TYPE_DRIFT": drifted(replace(CHANGES, scd_type=1)),
    "AUTOCDC_INVALID_STATE.SEQUENCING_TYPE_DRIFT": drifted(replace(CHANGES, sequence_type=StringType())),
    "AUTOCDC_INVALID_STATE.TRACK_HISTORY_DRIFT": drifted(replace(CHANGES, tracked=())),
    "AUTOCDC_INVALID_STATE.IGNORE_NULL_UPDATES_DRIFT": drifted(replace(CHANGES, ignore_null=("name",))),
    "INCOMPATIBLE_DATA_FOR_TABLE.CANNOT_FIND_DATA": nested_field_gone,
    "PARTITIONING_CHANGED": partitioning_changed,
    "SCHEMA_CHANGED": schema_changed,
    "SOURCE_REPLACED": raising(continuity.source_replaced("silver.orders", REPLACED)),
    "SOURCE_NOT_BUILT": lambda _: continuity.check_sources("gold.orders", ["bronze.orders", "silver.orders"]),
    "TRIGGER_INTERVAL_NOT_VALID": lambda _: intervals([NODE], {"pipelines.trigger.interval": "soon"}),
    "SOURCE_NOT_UPDATED": lambda _: continuity.check_columns("gold.orders", {"silver.orders": ["note", "tier"]}),
    "ROWS_EXPIRED": raising(expiry.rows_expired(NODE, TableName("raw", "orders"), "2026-11-22T04:05:06+00:00")),
    "RESET_NOT_ALLOWED": selected(Graph((forbidden("bronze.orders"),), ()), full_refresh=("bronze.orders",)),
    "SINK_NOT_REBUILT": selected(GRAPH, rebuild=("out",)),
    "REBUILD_REACHES_SINK": selected(GRAPH, rebuild=("silver.orders",)),
    "NO_STORAGE_FOLDER": lambda folder: findings(Storage(folder)),
    "STORAGE_FILE_DAMAGED": damaged_file,
    "CHECKPOINT_MISSING": missing_checkpoint,
    "CHECKPOINT_DAMAGED": older_checkpoint,
    "TARGET_MISSING": table_gone,
    "TARGET_REPLACED": altered(replaced_table),
    "TARGET_OUTDATED": altered(lambda at: (at.table / "_delta_log" / f"{1:020d}.json").unlink()),
    "TARGET_CHANGED": altered(lambda at: commit(at.table, "DELETE")),
    "AUTOCDC_INVALID_STATE.MISSING": altered(missing_ledger),
    "AUTOCDC_INVALID_STATE.DAMAGED": altered(lambda at: (at.state.folder / "declaration.json").write_text("{")),
    "AUTOCDC_INVALID_STATE.OUTDATED": outdated_state,
    # Of runs of cdc.
    "SPARK_TOO_OLD": raising(SparkTooOld("3.5.8", ["is_valid_utf8", "make_valid_utf8", "timestamp_add"])),
    "UNKNOWN_SOURCE": raising(UnknownSource(None)),
    "BAD_KAFKA_OPTIONS": raising(BadKafkaOptions("the value of `minPartitions` is not a string")),
    "SECRET_REFUSED": raising(SecretNotReadable("kafka", "password")),
    "BAD_SWITCH": raising(BadSwitch("cdc.drift", "yes")),
    "BAD_SCHEMA_SETTING": lambda _: schemas_from_options(["cdc.schemas.glod=marts"]),
    "BAD_GAPS_SETTING": raising(BadGapsSetting("yes")),
    "BAD_REPLAY_NAME": raising(BadReplay("after the fix")),
    "COLUMNS_NOT_COMPARABLE": raising(
        ColumnsNotComparable(table({"id": "int"}), ["status", "photo"], ["id", "Statuss", "total"])
    ),
    "NOT_A_CAPTURE": other_capture,
    "NOT_A_CONNECTOR_CONFIG": other_config,
    "UNKNOWN_DATA_FLOW": raising(UnknownDataFlow("shop_order", ["shop_orders", "shop_customers"])),
    "TABLE_NOT_EXPORTED": reported("TABLE_NOT_EXPORTED", {"conf/tables/shop/orders.yml": SPEC}),
    "NOT_EXPORTED": reported("NOT_EXPORTED", HARD, "--kafka", "bootstrap.servers=kafka:9092"),
    "SECRET_NOT_WRITTEN": reported("SECRET_NOT_WRITTEN", HARD, "--kafka", "sasl.jaas.config=password=hunter2"),
    "TABLE_NOT_IMPORTED": reported("TABLE_NOT_IMPORTED", {"onboarding.json": DATA_FLOW.replace("kafka", "delta")}),
    "NOT_IMPORTED": reported("NOT_IMPORTED", {"onboarding.json": DATA_FLOW.replace("}]", ', "bronze_sinks": [1]}]')}),
    "FILE_NOT_FOUND": reported(
        "FILE_NOT_FOUND",
        {"onboarding.json": DATA_FLOW.replace("}]", ', "silver_transformation_json_dev": "/Volumes/silver.json"}]')},
    ),
}
"""Condition -> what raises it, given a folder."""


@pytest.mark.parametrize("condition", RAISED)
def test_of_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, condition: str) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises((LocalPipelineError, ValueError)) as raised:
        RAISED[condition](tmp_path)
    check_message(condition, raised.value, tmp_path)


def test_of_a_storage_without_an_update(tmp_path: Path) -> None:
    result = CliRunner().invoke(engine, ["events", "--storage", str(tmp_path)])
    assert result.exit_code == 1
    check_message("NO_UPDATE", result.stderr.rstrip("\n"), tmp_path)


def test_of_a_session_without_delta(tmp_path: Path) -> None:
    plain = SimpleNamespace(conf={})
    with pytest.raises(SetupError) as raised:
        isolated_session(cast(SparkSession, plain), {}, tmp_path, SparkSession)
    check_message("NO_DELTA_LAKE", raised.value, tmp_path)


CAUSES = {
    "KAFKA_UNREACHABLE": ("common.errors.TimeoutException", "Timed out waiting for a node assignment."),
    "KAFKA_AUTHENTICATION_FAILED": ("common.errors.SaslAuthenticationException", "Authentication failed"),
    "KAFKA_NOT_AUTHORIZED": ("common.errors.TopicAuthorizationException", "Not authorized to access topics"),
    "KAFKA_SETTINGS_REFUSED": ("common.config.ConfigException", "Invalid value x for configuration fetch.max.bytes"),
}
"""Condition -> the class of Kafka's error, and its message."""


@pytest.mark.parametrize("condition", CAUSES)
def test_of_kafka(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, condition: str) -> None:
    cause, message = CAUSES[condition]
    monkeypatch.setattr(root_cause, "java_classes", lambda error: (f"org.apache.kafka.{cause}",))
    found = failures.flow_failed(NODE, replace(FLOW, kafka=(BROKER,)), ValueError(message))
    assert isinstance(found, FlowError)
    check_message(condition, found, tmp_path)
