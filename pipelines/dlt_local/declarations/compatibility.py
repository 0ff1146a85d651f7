"""Which parts of Delta Live Tables run here, are accepted without effect, or are refused: a table and its page.

`docs/engine/compatibility.md` is the output of `python -m dlt_local compatibility`.
"""

from dataclasses import dataclass
from typing import Literal

State = Literal["runs", "accepted", "refused"]


@dataclass(frozen=True)
class Feature:
    """One name of Databricks' interface and how it is handled here."""

    group: str
    name: str
    """As a source file writes it: a function, an argument, a table property, a statement."""
    state: State
    note: str


_FUNCTIONS = "Functions and decorators"
_ARGUMENTS = "Arguments"
_PROPERTIES = "Table properties"
_READING = "Reading"
_FILES = "Source files"
_SQL = "SQL"
_UPDATES = "Updates"

FEATURES = (
    Feature(
        _FUNCTIONS, "table", "runs", "a streaming query makes a streaming table, a batch query a materialized view"
    ),
    Feature(
        _FUNCTIONS,
        "materialized_view",
        "runs",
        "recomputed, a large one incrementally where possible; skipped if neither query nor inputs changed",
    ),
    Feature(_FUNCTIONS, "temporary_view", "runs", "also with expectations"),
    Feature(_FUNCTIONS, "view", "runs", "older name of `temporary_view`"),
    Feature(
        _FUNCTIONS, "create_streaming_table", "runs", "with `expect_all`, `expect_all_or_drop`, `expect_all_or_fail`"
    ),
    Feature(_FUNCTIONS, "create_target_table", "runs", "older name of `create_streaming_table`"),
    Feature(_FUNCTIONS, "create_streaming_live_table", "runs", "older name of `create_streaming_table`"),
    Feature(_FUNCTIONS, "create_table", "runs", "older name of `table`"),
    Feature(_FUNCTIONS, "create_view", "runs", "older name of `temporary_view`"),
    Feature(_FUNCTIONS, "append_flow", "runs", "into a streaming table or a sink; `once=True` for a backfill"),
    Feature(_FUNCTIONS, "create_sink", "runs", "`kafka`, `delta`, and any format that this Spark can stream to"),
    Feature(
        _FUNCTIONS,
        "foreach_batch_sink",
        "runs",
        "the function is called with each microbatch and its number, in this process",
    ),
    Feature(_FUNCTIONS, "create_auto_cdc_flow", "runs", "SCD types 1 and 2; see [the rules](../apply-changes.md)"),
    Feature(_FUNCTIONS, "apply_changes", "runs", "older name of `create_auto_cdc_flow`; `where` filters the changes"),
    Feature(
        _FUNCTIONS, "create_auto_cdc_from_snapshot_flow", "runs", "from a dataset, or a function that returns snapshots"
    ),
    Feature(_FUNCTIONS, "apply_changes_from_snapshot", "runs", "older name of `create_auto_cdc_from_snapshot_flow`"),
    *(
        Feature(_FUNCTIONS, name, "runs", "SQL text or a `Column`; null counts as a violation")
        for name in (
            "expect",
            "expect_or_drop",
            "expect_or_fail",
            "expect_all",
            "expect_all_or_drop",
            "expect_all_or_fail",
        )
    ),
    Feature(
        _FUNCTIONS,
        "on_event_hook",
        "runs",
        "called with each event, `details` as a dict; a failure is an event `hook_progress` and a line of the run's "
        "output, and never stops an update",
    ),
    Feature(_FUNCTIONS, "read", "runs", "`spark.read.table` is the newer form"),
    Feature(_FUNCTIONS, "read_stream", "runs", "`spark.readStream.table` is the newer form"),
    Feature(_FUNCTIONS, "readStream", "runs", "older name of `read_stream`"),
    Feature(
        _FUNCTIONS,
        "update_flow",
        "refused",
        "open-source Delta has no streaming update mode; use `create_auto_cdc_flow`",
    ),
    Feature(_FUNCTIONS, "foreach_sink", "refused", "needs Python workers; use `foreach_batch_sink`"),
    Feature(_ARGUMENTS, "path", "accepted", "every table is stored under the storage folder"),
    Feature(
        _ARGUMENTS,
        "row_filter",
        "refused",
        "open-source Delta enforces none; `dlt_local.accept_unenforced` names tables that everyone may read in full",
    ),
    Feature(_ARGUMENTS, "cluster_by_auto", "accepted", "use `cluster_by` to choose the clustering columns"),
    Feature(
        _ARGUMENTS,
        "refresh_policy",
        "accepted",
        "always `auto`: a large view is refreshed incrementally where possible, otherwise recomputed in full",
    ),
    Feature(
        _ARGUMENTS,
        "max_allowable_consecutive_failures",
        "runs",
        "after so many failures, one after the other, the hook is not called again in the update",
    ),
    Feature(_ARGUMENTS, "private, temporary", "runs", "the table is stored under `system/private` and not published"),
    Feature(_ARGUMENTS, "format", "runs", "an argument of open-source Spark; only `delta`"),
    Feature(_ARGUMENTS, "schema", "runs", "DDL or StructType, with comments, NOT NULL and generated columns"),
    Feature(
        _ARGUMENTS,
        "partition_cols, cluster_by",
        "runs",
        "set when the Delta table is created; a change needs a full refresh",
    ),
    Feature(
        _ARGUMENTS, "comment, table_properties", "runs", "of the Delta table; changes are applied at the next update"
    ),
    Feature(_ARGUMENTS, "spark_conf", "runs", "for the dataset's own queries"),
    Feature(
        _ARGUMENTS,
        "system_sequence_by, stored_as_scd_type='bitemporal'",
        "refused",
        "bitemporal targets are not supported",
    ),
    Feature(_PROPERTIES, "pipelines.reset.allowed", "runs", "`false` excludes the table from full refreshes"),
    Feature(_PROPERTIES, "pipelines.cdc.tombstoneGCThresholdInSeconds", "runs", "172800 by default"),
    Feature(_PROPERTIES, "pipelines.applyChanges.tombstoneGCThresholdInSeconds", "runs", "older name of the one above"),
    Feature(
        _PROPERTIES,
        "pipelines.autoOptimize.managed",
        "runs",
        "true by default: at the end of an update, OPTIMIZE after 64 new small files and VACUUM once a day; in a "
        "pipeline's configuration it applies to all its tables",
    ),
    Feature(_PROPERTIES, "pipelines.autoOptimize.zOrderCols", "runs", "for that OPTIMIZE; prefer `cluster_by`"),
    Feature(
        _PROPERTIES,
        "pipelines.trigger.interval",
        "runs",
        "of a table, or of the pipeline's configuration for all; in continuous mode, as on Databricks",
    ),
    Feature(
        _PROPERTIES, "delta.*", "runs", "the properties of open-source Delta, which refuses those it does not know"
    ),
    Feature(
        _READING,
        "spark.read.table, spark.readStream.table, spark.table, spark.sql",
        "runs",
        "for datasets of the pipeline",
    ),
    Feature(_READING, "LIVE.name", "runs", "the same as `name`"),
    Feature(
        _READING,
        "withWatermark, windows, dropDuplicates, joins of streams, applyInPandasWithState, transformWithState",
        "runs",
        "as Spark runs streams that append",
    ),
    Feature(
        _READING,
        "aggregation of a stream without a watermark",
        "runs",
        "each update rewrites the table with the whole result, so nothing can stream from it",
    ),
    Feature(
        _READING,
        "catalog.schema.name",
        "runs",
        "the pipeline's own catalog is the storage folder, and datasets that differ only in their catalog are refused; "
        "a name with another catalog is a table outside of the pipeline",
    ),
    Feature(
        _READING,
        "tables outside of the pipeline",
        "runs",
        "from `external/<catalog>/<schema>/<table>` in the storage folder, or the folder that the setting "
        "`dlt_local.table.<name>` names: a Delta table, or files of one format",
    ),
    Feature(
        _READING,
        "format('cloudFiles')",
        "runs",
        "Auto Loader on local folders: json, csv, parquet, avro, text, binaryFile; [its options](auto-loader.md)",
    ),
    Feature(
        _READING,
        "/Volumes/..., dbfs:/..., s3://..., abfss://...",
        "runs",
        "paths under a folder that `--map PATH=FOLDER` names; in Auto Loader, `load`, `json`, `csv`, `parquet`, `text`",
    ),
    Feature(
        _READING,
        "format('cloudFiles') with cloudFiles.format orc, xml",
        "refused",
        "convert the files, or read them with Spark's own reader",
    ),
    Feature(_FILES, "# Databricks notebook source, .ipynb", "runs", "cells in Python, SQL and Markdown; `%run`"),
    Feature(_FILES, "%pip, %sh, %fs", "accepted", "install what the pipeline needs into the environment that runs it"),
    Feature(_FILES, "display", "accepted", "a pipeline has no page to show it on"),
    Feature(_FILES, "displayHTML", "accepted", "a pipeline has no page to show it on"),
    Feature(
        _FILES, "dbutils.widgets", "runs", "a widget's value is the pipeline's setting of that name, else its default"
    ),
    Feature(
        _FILES,
        "dbutils.secrets",
        "runs",
        "from the environment, `DLT_LOCAL_SECRET_<SCOPE>_<KEY>`, or the JSON file that `dlt_local.secrets` names",
    ),
    Feature(_FILES, "dbutils.fs", "runs", "on the files of this machine, and below folders that `--map` names"),
    Feature(_FILES, "dbutils.notebook.exit, dbutils.library.restartPython", "runs", "the latter has nothing to do"),
    Feature(_FILES, "other parts of dbutils, %scala, %r", "refused", "by name"),
    Feature(
        _FILES,
        "SparkSession.getActiveSession(), SparkSession.builder.getOrCreate()",
        "runs",
        "while source files load and queries run, both return the pipeline's session",
    ),
    Feature(
        _FILES,
        "createOrReplaceTempView, spark.udf.register, CREATE TEMPORARY VIEW, FUNCTION",
        "runs",
        "where a source file loads, for all queries; in a query function, for that call of it",
    ),
    Feature(
        _FILES,
        "spark.conf.set, SET, in a query function",
        "runs",
        "for that function's query",
    ),
    Feature(
        _SQL, "CREATE OR REFRESH STREAMING TABLE, MATERIALIZED VIEW, LIVE TABLE", "runs", "also CREATE [OR REPLACE]"
    ),
    Feature(_SQL, "CREATE PRIVATE, CREATE TEMPORARY [LIVE] VIEW", "runs", ""),
    Feature(_SQL, "CONSTRAINT name EXPECT (condition) [ON VIOLATION DROP ROW | FAIL UPDATE]", "runs", ""),
    Feature(_SQL, "COMMENT, PARTITIONED BY, CLUSTER BY, TBLPROPERTIES", "runs", ""),
    Feature(_SQL, "CREATE FLOW name AS INSERT INTO [ONCE] ... BY NAME", "runs", ""),
    Feature(_SQL, "CREATE FLOW name AS AUTO CDC INTO, APPLY CHANGES INTO", "runs", "with all clauses of both"),
    Feature(_SQL, "STREAM(name), STREAM name, STREAM delta.`/path`", "runs", ""),
    Feature(
        _SQL, "STREAM (SELECT ...)", "runs", "of one relation, whose new rows are read; else STREAM goes before a name"
    ),
    Feature(_SQL, "AUTO CDC INTO ... FROM (SELECT ...)", "runs", "the query becomes a temporary view"),
    Feature(_SQL, "SET key = value", "runs", "for the whole file; `${key}` is replaced by the value"),
    Feature(_SQL, "SET key", "accepted", "shows a value in a notebook"),
    Feature(_SQL, "USE CATALOG, USE SCHEMA", "runs", "for the statements after it in its file"),
    Feature(_SQL, "IDENTIFIER('name')", "runs", "of strings, in the place of a table's name"),
    Feature(
        _SQL,
        "CREATE [TEMPORARY] FUNCTION",
        "runs",
        "in SQL, and in the pipeline's session only; one with a schema stands for the function of that name",
    ),
    Feature(_SQL, "CREATE SCHEMA, CREATE CATALOG", "accepted", "they are made as needed"),
    Feature(
        _SQL,
        "MASK, WITH ROW FILTER",
        "refused",
        "open-source Delta enforces neither; `dlt_local.accept_unenforced` names tables that everyone may read in full",
    ),
    Feature(_SQL, "PRIMARY KEY, FOREIGN KEY", "accepted", "informational, as on Databricks"),
    Feature(_SQL, "SHALLOW CLONE, DEEP CLONE", "refused", "no pipeline makes clones; select from the other table"),
    Feature(
        _SQL,
        "'3' / '2', implicit casts of text",
        "refused",
        "Databricks reads text as numbers in more places than Spark's ANSI mode does; cast it",
    ),
    Feature(_SQL, "ai_*, h3_*, st_* and other functions of Databricks", "refused", "declare a stand-in for local runs"),
    Feature(
        _SQL,
        "LOCATION, SCHEDULE, CLUSTER BY AUTO",
        "accepted",
        "like the arguments of the same purpose",
    ),
    Feature(_SQL, "read_files, cloud_files", "runs", "as a stream and as a batch; [its options](auto-loader.md)"),
    Feature(
        _SQL,
        "read_kafka, read_kinesis, read_pubsub, read_pulsar",
        "refused",
        "Databricks' own; declare the read in a Python source file",
    ),
    Feature(_UPDATES, "triggered, continuous, dry run, selective and full refresh", "runs", ""),
    Feature(_UPDATES, "event log", "runs", "a Delta table with Databricks' columns at `system/event_log`"),
)
"""The table, in the order of the page."""

_TITLES: dict[State, str] = {"runs": "runs", "accepted": "accepted, no effect", "refused": "refused by name"}

_HEAD = """# Which parts of Delta Live Tables run here

Generated from the table in `pipelines/dlt_local/declarations/compatibility.py`. *Accepted* means that the declaration
loads, with one notice that it has no effect on this machine; on Databricks it keeps its meaning.
"""


def page() -> str:
    """The table as Markdown."""
    parts = [_HEAD]
    for group in dict.fromkeys(feature.group for feature in FEATURES):
        parts.append(f"\n## {group}\n\n| name | here | note |\n|---|---|---|\n")
        rows = (feature for feature in FEATURES if feature.group == group)
        parts += [f"| `{_cell(row.name)}` | {_TITLES[row.state]} | {_cell(row.note)} |\n" for row in rows]
    return "".join(parts)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def notice(name: str) -> str | None:
    """The notice for an argument or property that is accepted without effect; None for any other name."""
    found = next((f for f in FEATURES if f.state == "accepted" and f.name == name), None)
    return None if found is None else f"`{name}` has no effect locally: {found.note}"


def refused_functions() -> dict[str, str]:
    """The functions that are refused, each with the reason and what to use instead."""
    return {f.name: f.note for f in FEATURES if f.group == _FUNCTIONS and f.state == "refused"}


def functions() -> tuple[str, ...]:
    """The functions that run."""
    return tuple(f.name for f in FEATURES if f.group == _FUNCTIONS and f.state == "runs")
