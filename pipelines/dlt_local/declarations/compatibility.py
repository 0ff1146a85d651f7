"""What of Delta Live Tables runs here, what is accepted without effect, what is refused: one table, and its page.

`docs/engine/compatibility.md` is this table printed (`python -m dlt_local compatibility`).
"""

from dataclasses import dataclass
from typing import Literal

State = Literal["runs", "accepted", "refused"]


@dataclass(frozen=True)
class Feature:
    """One name of Databricks' surface and what becomes of it here."""

    group: str
    name: str
    """As a source file writes it: a function, an argument, a table property, a statement."""
    state: State
    note: str


_FUNCTIONS = "Functions and decorators"
_ARGUMENTS = "Arguments"
_PROPERTIES = "Table properties"
_READING = "Reading"
_SQL = "SQL"
_UPDATES = "Updates"

FEATURES = (
    Feature(
        _FUNCTIONS, "table", "runs", "a streaming query makes a streaming table, a batch query a materialized view"
    ),
    Feature(
        _FUNCTIONS, "materialized_view", "runs", "worked out whole; left alone when neither query nor inputs changed"
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
    Feature(_FUNCTIONS, "foreach_batch_sink", "runs", "the function gets each batch and its number, in this process"),
    Feature(_FUNCTIONS, "create_auto_cdc_flow", "runs", "SCD types 1 and 2; see [the rules](../apply-changes.md)"),
    Feature(
        _FUNCTIONS, "apply_changes", "runs", "older name of `create_auto_cdc_flow`; `where` chooses among the changes"
    ),
    Feature(_FUNCTIONS, "create_auto_cdc_from_snapshot_flow", "runs", "a dataset, or a function that gives snapshots"),
    Feature(_FUNCTIONS, "apply_changes_from_snapshot", "runs", "older name of `create_auto_cdc_from_snapshot_flow`"),
    *(
        Feature(_FUNCTIONS, name, "runs", "SQL text or a `Column`; null counts as not met")
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
        "is called with each event; what it raises is told and never stops an update",
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
    Feature(_ARGUMENTS, "path", "accepted", "every table lies under the storage folder"),
    Feature(_ARGUMENTS, "row_filter", "accepted", "open-source Delta has no row filters: everybody sees all rows"),
    Feature(_ARGUMENTS, "cluster_by_auto", "accepted", "give `cluster_by` to cluster"),
    Feature(
        _ARGUMENTS,
        "refresh_policy",
        "accepted",
        "always as `auto`: a large view follows the keys that changed where it can, or is worked out whole",
    ),
    Feature(_ARGUMENTS, "max_allowable_consecutive_failures", "accepted", "a hook that fails goes on being called"),
    Feature(
        _ARGUMENTS, "private, temporary", "runs", "the table is kept under `system/private`, out of people's sight"
    ),
    Feature(_ARGUMENTS, "format", "runs", "open-source Spark's; `delta` and nothing else"),
    Feature(_ARGUMENTS, "schema", "runs", "DDL or StructType, with comments, NOT NULL and generated columns"),
    Feature(
        _ARGUMENTS, "partition_cols, cluster_by", "runs", "as the Delta table is made; a change needs a full refresh"
    ),
    Feature(_ARGUMENTS, "comment, table_properties", "runs", "of the Delta table; brought up to date with each update"),
    Feature(_ARGUMENTS, "spark_conf", "runs", "set while the dataset's flows start"),
    Feature(_ARGUMENTS, "system_sequence_by, stored_as_scd_type='bitemporal'", "refused", "bitemporal targets"),
    Feature(_PROPERTIES, "pipelines.reset.allowed", "runs", "`false` keeps a table out of every full refresh"),
    Feature(_PROPERTIES, "pipelines.cdc.tombstoneGCThresholdInSeconds", "runs", "172800 by default"),
    Feature(_PROPERTIES, "pipelines.applyChanges.tombstoneGCThresholdInSeconds", "runs", "older name of the one above"),
    Feature(
        _PROPERTIES,
        "pipelines.autoOptimize.managed",
        "runs",
        "true by default: OPTIMIZE after 64 new small files, VACUUM once a day, at the end of an update; in a "
        "pipeline's configuration it holds for all its tables",
    ),
    Feature(_PROPERTIES, "pipelines.autoOptimize.zOrderCols", "runs", "for that OPTIMIZE; better, use `cluster_by`"),
    Feature(
        _PROPERTIES, "pipelines.trigger.interval", "accepted", "`run --continuous --trigger-interval` holds for all"
    ),
    Feature(
        _PROPERTIES, "delta.*", "runs", "as open-source Delta has them; one that it does not know is refused by Delta"
    ),
    Feature(
        _READING, "spark.read.table, spark.readStream.table, spark.table, spark.sql", "runs", "of pipeline datasets"
    ),
    Feature(_READING, "LIVE.name", "runs", "the same as `name`"),
    Feature(_READING, "catalog.schema.name", "runs", "the catalog is the storage folder: its name is passed over"),
    Feature(
        _READING, "format('cloudFiles')", "refused", "Auto Loader is Databricks' own; read the folder by its format"
    ),
    Feature(
        _SQL, "CREATE OR REFRESH STREAMING TABLE, MATERIALIZED VIEW, LIVE TABLE", "runs", "and CREATE [OR REPLACE]"
    ),
    Feature(_SQL, "CREATE PRIVATE, CREATE TEMPORARY [LIVE] VIEW", "runs", ""),
    Feature(_SQL, "CONSTRAINT name EXPECT (condition) [ON VIOLATION DROP ROW | FAIL UPDATE]", "runs", ""),
    Feature(_SQL, "COMMENT, PARTITIONED BY, CLUSTER BY, TBLPROPERTIES", "runs", ""),
    Feature(_SQL, "CREATE FLOW name AS INSERT INTO [ONCE] ... BY NAME", "runs", ""),
    Feature(_SQL, "CREATE FLOW name AS AUTO CDC INTO, APPLY CHANGES INTO", "runs", "with all clauses of both"),
    Feature(_SQL, "STREAM(name), STREAM name", "runs", ""),
    Feature(_SQL, "SET key = value", "runs", "for the statements behind it in the file; `${key}` is replaced"),
    Feature(
        _SQL, "WITH ROW FILTER, LOCATION, SCHEDULE, CLUSTER BY AUTO, MASK", "accepted", "no effect, as the arguments"
    ),
    Feature(_SQL, "read_files, cloud_files", "refused", "Databricks' own; declare the read in a Python source file"),
    Feature(_UPDATES, "triggered, continuous, dry run, selective and full refresh", "runs", ""),
    Feature(_UPDATES, "event log", "runs", "a Delta table with Databricks' columns at `system/event_log`"),
)
"""The table, in the order of the page."""

_TITLES: dict[State, str] = {"runs": "runs", "accepted": "accepted, no effect", "refused": "refused by name"}

_HEAD = """# What of Delta Live Tables runs here

Made from the table in `pipelines/dlt_local/declarations/compatibility.py`. *Accepted* means: the declaration loads, one
notice says that it has no effect on this machine, and on Databricks it keeps its meaning.
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
    """What is told of an argument or property that is accepted without effect; None for any other."""
    found = next((f for f in FEATURES if f.state == "accepted" and f.name == name), None)
    return None if found is None else f"`{name}` has no effect locally: {found.note}"


def refused_functions() -> dict[str, str]:
    """Function -> why it is refused."""
    return {f.name: f.note for f in FEATURES if f.group == _FUNCTIONS and f.state == "refused"}


def functions() -> tuple[str, ...]:
    """The functions that run."""
    return tuple(f.name for f in FEATURES if f.group == _FUNCTIONS and f.state == "runs")
