"""All error conditions of the engine: when each comes, and what to do about it.

docs/troubleshooting.md is made from this list. tests/unit/test_conditions.py compares it with the source, in both
directions: what the engine raises is listed here, and what is listed here is raised.
"""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Condition:
    """An error condition, as the first word of a message names it."""

    name: str
    when: str
    """When it comes; a clause without a full stop."""
    way_out: str
    """What to do, in sentences; a command in backticks can be typed as it is once its names are filled in."""


MACHINE = (
    Condition(
        "JAVA_MISSING",
        "Spark cannot start: there is no Java 17 or newer on PATH, nor below JAVA_HOME",
        "Install one as the message says, or let JAVA_HOME point at it.",
    ),
    Condition(
        "JARS_NOT_FETCHED",
        "the jars of Spark's Delta and Kafka connectors could not be downloaded, which is done once",
        "Check the network or the Maven mirror of Ivy's settings, then try `python -m dlt_local jars`.",
    ),
    Condition(
        "CLASS_ARCHIVE_NOT_WRITTEN",
        "`dlt-local class-archive` could not make the archive that has Spark start faster; nothing else needs it",
        "Run `java -Xshare:dump` as the user who installed Java, then `dlt-local class-archive`.",
    ),
    Condition(
        "NO_DELTA_LAKE",
        "the Spark session that was passed to `LocalPipeline(spark=...)` has no Delta Lake",
        "Build the session with the two settings of the message, or leave `spark` out.",
    ),
    Condition(
        "NO_PIPELINE_GIVEN",
        "a command has neither `--source` nor a bundle nor a spark-pipeline.yml",
        "Run it in the bundle's folder, or pass `--bundle FOLDER`, or `--source 'FOLDER/**' --storage FOLDER`.",
    ),
    Condition(
        "NO_STORAGE_GIVEN",
        "a command with `--source` does not say where the tables are",
        "Pass `--storage FOLDER`; the folder is made if it does not exist.",
    ),
    Condition(
        "SECRET_NOT_READABLE",
        "the bundle's configuration refers to a secret of a workspace, which this machine cannot look up",
        "Pass the value with `--set KEY=VALUE`, or choose a target without secrets with `--target`.",
    ),
    Condition(
        "NO_UPDATE",
        "`events` is asked about a storage folder on which no update has run",
        "Correct `--storage`, or run the pipeline first.",
    ),
    Condition(
        "UNKNOWN_DATASET",
        "`--refresh`, `--full-refresh` or `--rebuild` names a dataset that the pipeline does not have",
        "Correct the name; `python -m dlt_local graph` lists all of them.",
    ),
    Condition(
        "UNKNOWN_TABLE",
        "`pipeline.table(...)`, or `show` in the shell, names a table that is not in the storage",
        "Correct the name, or run the pipeline first.",
    ),
)

BUNDLE = (
    Condition(
        "NO_BUNDLE", "a folder has no databricks.yml", "Give the folder that contains it with `--bundle FOLDER`."
    ),
    Condition(
        "UNREADABLE_FILE",
        "a file of the bundle cannot be read, or is not UTF-8",
        "Correct its permissions or its encoding.",
    ),
    Condition(
        "BROKEN_YAML",
        "a file of the bundle, or of the conf folder, is not valid YAML, or has a key twice",
        "Correct the line of the message or the one above it: indentation, or a quote, bracket or colon.",
    ),
    Condition(
        "WRONG_SHAPE",
        "a file or variable of the bundle has a plain value where a mapping is expected",
        "Write it as the message says.",
    ),
    Condition(
        "UNKNOWN_FIELD",
        "a spark-pipeline.yml has a field that Spark does not know",
        "Correct the name: the message has the nearest one.",
    ),
    Condition(
        "MISSING_INCLUDE",
        "`include:` names a file that does not exist",
        "Correct the path; it is relative to the folder of databricks.yml.",
    ),
    Condition(
        "CANNOT_MERGE",
        "two files, or the bundle and its target, give one setting values of different kinds",
        "Make both a mapping, both a list, or both a single value.",
    ),
    Condition(
        "NO_TARGET",
        "no target is given, and none of several has `default: true`",
        "Choose one with `--target NAME`, or mark one as the default.",
    ),
    Condition("UNKNOWN_TARGET", "`--target` names a target that the bundle does not have", "Choose one that it has."),
    Condition(
        "NO_PIPELINE",
        "the bundle has no pipeline or several, or a source file was started by plain Python",
        "Choose one with `--pipeline NAME`; run a file with `python -m dlt_local run --source FILE --storage FOLDER`.",
    ),
    Condition(
        "UNKNOWN_PIPELINE", "`--pipeline` names a pipeline that the bundle does not have", "Choose one that it has."
    ),
    Condition(
        "UNKNOWN_VARIABLE",
        "`${var.name}`, `--var` or a target names a variable that is not declared",
        "Declare it under `variables:`, or correct its name.",
    ),
    Condition(
        "VARIABLE_NOT_SET",
        "a variable has neither a value nor a default",
        "Set it in the target, or pass `--var NAME=VALUE`, or set BUNDLE_VAR_NAME in the environment.",
    ),
    Condition(
        "UNKNOWN_REFERENCE", "a reference such as `${bundle.name}` leads nowhere", "Correct the part that is named."
    ),
    Condition("REFERENCE_CYCLE", "references lead back to themselves", "Give one of them a literal value."),
    Condition(
        "NOT_A_TEXT",
        "a reference inside a text leads to a list or a mapping",
        "Refer to one value inside of it.",
    ),
    Condition(
        "KNOWN_IN_WORKSPACE_ONLY",
        "a setting of the pipeline needs a value that only a workspace has, such as the id of a resource",
        "Use a variable in its place, with a value in the target that runs here.",
    ),
    Condition("MISSING_FOLDER", "`root_path` is not a folder", "Correct the path; it is relative to its file."),
    Condition(
        "DUPLICATE_RESOURCE_KEY",
        "two resources of the bundle have one key, whatever their kinds, which the Databricks CLI refuses",
        "Give one of the two another key.",
    ),
    Condition(
        "DEVELOPMENT_IN_PRODUCTION",
        "a target with `mode: production` has a pipeline with `development: true`",
        "Remove `development: true`.",
    ),
    Condition(
        "NOT_A_PACKAGE",
        "a requirement in a pipeline's environment is written so that the Databricks CLI takes it for a local file",
        "Write `NAME==VERSION`, with `-` in place of a dot in the name.",
    ),
    Condition("NO_LIBRARIES", "a pipeline has no source files", "Add `libraries: [{glob: {include: FOLDER/**}}]`."),
    Condition(
        "LIBRARY_NOT_RUN_HERE",
        "a library is a jar or a wheel, which this engine does not run",
        "Leave it out of the target that runs here; install a wheel locally.",
    ),
)

SOURCE_FILES = (
    Condition(
        "NO_SOURCE_FILES",
        "a pattern of source files matches no Python or SQL file",
        "Give a file, or a folder as `'FOLDER/**'` (quoted, so that the shell leaves it as it is).",
    ),
    Condition(
        "NOT_A_NOTEBOOK",
        "a file that ends in `.ipynb` is not a notebook",
        "Save it again as a notebook, or in Databricks' source format as `.py`.",
    ),
    Condition(
        "NOTEBOOK_NOT_FOUND",
        "a `%run` or a bundle names a notebook that is not there",
        "Correct the path. That of a `%run` is relative to the notebook, that of a bundle to the file it stands in.",
    ),
    Condition(
        "NO_TABLES_IN_PIPELINE",
        "the source files load without an error and declare neither a table nor a sink",
        'Declare one. What stands below `if __name__ == "__main__":` does not run: a pipeline imports its files.',
    ),
    Condition(
        "SOURCE_FILE_FAILED",
        "a source file raised an error while it was loaded",
        "Correct the line of the message. A faulty conf folder is reported like this too: its faults follow, each"
        " with a condition of its own.",
    ),
    Condition(
        "SQL_NOT_UNDERSTOOD",
        "a statement of an SQL file is none that a pipeline can have",
        "Correct it at the line of the message; docs/engine/sql.md has the statements.",
    ),
    Condition(
        "NO_SUCH_VALUE",
        "an SQL file uses `${name}`, which no SET statement and no configuration defines",
        "Pass it with `--set NAME=VALUE`, or set it in the pipeline's configuration.",
    ),
    Condition(
        "NOT_SUPPORTED_LOCALLY",
        "a source file uses a function that only Databricks has",
        "Do what the message says in its place; docs/engine/compatibility.md lists all of them.",
    ),
    Condition(
        "INVALID_DATASET_NAME",
        "the name of a dataset or flow is empty, has nothing but dots, or has a control character",
        "Write `table` or `schema.table`, and quote a part that has a dot in it.",
    ),
    Condition(
        "CATALOGS_NOT_SEPARATE",
        "two datasets differ only in their catalogs, which are one here: the storage folder",
        "Give them different schemas, for this pipeline at least.",
    ),
    Condition("DUPLICATE_DATASET", "two datasets have the same name; case does not count", "Rename one of them."),
    Condition(
        "DUPLICATE_FLOW",
        "two flows have the same name",
        "Give one of them another name with `name=` (`flow_name=` of apply_changes). A flow's checkpoint is found by"
        " its name: keep the name of the one that has run.",
    ),
    Condition(
        "NOT_A_FUNCTION",
        "a decorator was given something other than the query function, most often a name without `name=`",
        "Write `@dlt.table(name=...)`.",
    ),
    Condition("MISSING_TARGET", "an append flow does not say into which table it writes", "Give `target=`."),
    Condition(
        "ACCESS_NOT_ENFORCED",
        "a table is declared with a row filter or a column mask, and every reader of local storage would see all of it",
        "Where everyone may see it, as in a test, accept that with `--set dlt_local.accept_unenforced=TABLE`.",
    ),
    Condition("FORMAT_NOT_SUPPORTED", "a table is declared in a format other than Delta", "Leave `format` out."),
    Condition(
        "BAD_SCHEMA",
        "the columns of a table, as DDL text, cannot be parsed, or one of them has a DEFAULT",
        "Correct the text; set a default value in the query.",
    ),
    Condition(
        "EXPECTATION_NOT_A_CONDITION",
        "the condition of an expectation is neither SQL text nor a column",
        "Write it as SQL text.",
    ),
    Condition(
        "EXPECTATION_NOT_VALID",
        "the condition of an expectation does not fit the columns of its dataset",
        "Correct the condition; the message has Spark's reason.",
    ),
    Condition(
        "ROW_DEFINITION_NOT_VALID",
        "the table property `rows.definition` is not a JSON object of texts and lists of texts, or `rows.concerned`"
        " is not a condition on the table's columns",
        "Correct the property. Tables of `cdc` have one that is right.",
    ),
)

AUTO_CDC_DECLARATIONS = (
    Condition("AUTOCDC_MISSING_TARGET", "`target` is empty", "Name the table that the flow writes."),
    Condition("AUTOCDC_MISSING_SOURCE", "`source` is empty, or is no source", "Name the dataset that it reads."),
    Condition("AUTOCDC_EMPTY_KEYS", "`keys` is empty", "Name the columns of the primary key."),
    Condition("AUTOCDC_MISSING_SEQUENCE_BY", "`sequence_by` is missing", "Name the column that orders the events."),
    Condition("AUTOCDC_NOT_A_LIST", "an argument is one column where a list is expected", "Put it in brackets."),
    Condition("AUTOCDC_DUPLICATE_COLUMN", "a list names a column twice", "Remove one of the two."),
    Condition(
        "AUTOCDC_NON_COLUMN_IDENTIFIER",
        "a list of columns has an expression or an empty name in it",
        "Compute the expression in a view, and have the flow read that.",
    ),
    Condition(
        "AUTOCDC_MULTIPART_COLUMN_IDENTIFIER",
        "a list of columns names a nested field, or a column with its table",
        "Name a top-level column; take a nested field out of its struct in a view.",
    ),
    Condition("AUTOCDC_UNKNOWN_SCD_TYPE", "`stored_as_scd_type` is neither 1 nor 2", "Store as 1 or 2."),
    Condition("AUTOCDC_BITEMPORAL_NOT_SUPPORTED", "a bitemporal target is asked for", "Store as SCD type 1 or 2."),
    Condition(
        "AUTOCDC_TRUNCATE_NOT_SUPPORTED_FOR_SCD2",
        "`apply_as_truncates` is given for a target of SCD type 2",
        "Store as 1, or leave it out: a history keeps the versions from before the truncate.",
    ),
    Condition(
        "AUTOCDC_TRACK_HISTORY_NOT_SUPPORTED_FOR_SCD1",
        "tracked columns are given for a target of SCD type 1, which has no history",
        "Store as 2, or leave them out.",
    ),
    Condition(
        "AUTOCDC_BOTH_COLUMN_LIST_AND_EXCEPT_COLUMN_LIST",
        "both the columns to take and those to leave out are given",
        "Keep one of the two lists.",
    ),
    Condition(
        "AUTOCDC_BOTH_TRACK_HISTORY_COLUMN_LIST_AND_TRACK_HISTORY_EXCEPT_COLUMN_LIST",
        "both the columns to track and those not to track are given",
        "Keep one of the two lists.",
    ),
    Condition(
        "AUTOCDC_BOTH_IGNORE_NULL_UPDATES_COLUMN_LIST_AND_IGNORE_NULL_UPDATES_EXCEPT_COLUMN_LIST",
        "both the columns whose nulls are ignored and those whose nulls are not are given",
        "Keep one of the two lists.",
    ),
    Condition(
        "AUTOCDC_CONFLICTING_IGNORE_NULL_UPDATES_OPTIONS",
        "`ignore_null_updates=True` is given together with a list of columns for it",
        "Keep the list.",
    ),
    Condition(
        "AUTOCDC_BOTH_COLUMNS_TO_UPDATE_AND_IGNORE_NULL_UPDATES",
        "`columns_to_update` is given together with `ignore_null_updates`",
        "Keep one of the two.",
    ),
    Condition(
        "AUTOCDC_COLUMNS_NOT_FOUND_IN_SCHEMA",
        "a column that the flow names is not in its source, or not among the target's columns",
        "Correct the name, or select the column.",
    ),
    Condition(
        "AUTOCDC_KEY_NOT_IN_SELECTED_SCHEMA",
        "a key column is not among the columns of the target",
        "Put it into `column_list`, or take it out of `except_column_list`.",
    ),
    Condition(
        "AUTOCDC_KEY_IN_IGNORE_NULL_UPDATES",
        "a key column is among those whose nulls are ignored",
        "Leave the keys out of the list.",
    ),
    Condition(
        "AUTOCDC_NON_BOOLEAN_CONDITION",
        "`apply_as_deletes` or `apply_as_truncates` is neither true nor false",
        "Write a comparison, such as `op = 'd'`.",
    ),
    Condition(
        "AUTOCDC_RESERVED_COLUMN_NAME_PREFIX_CONFLICT",
        "a column of the source begins like the columns that the engine or Spark adds on the way",
        "Rename the column in the source, or leave it out with `except_column_list`.",
    ),
    Condition(
        "AUTOCDC_MICROBATCH_VALIDATION.NON_ORDERABLE_SEQUENCE",
        "the type of `sequence_by` has no order: a map, or a struct with one in it",
        "Order by another column.",
    ),
    Condition(
        "AUTOCDC_SOURCE_NOT_STREAMING",
        "the source of the flow is a view with a batch query",
        "Read with `spark.readStream` in the view, or set `once=True`.",
    ),
    Condition(
        "NO_SNAPSHOT",
        "the function of a snapshot flow returned None, though no snapshot has been applied before",
        "Return the first snapshot when the function is called with None.",
    ),
)

GRAPH = (
    Condition(
        "DATASET_NOT_FOUND",
        "a query reads a dataset that no source file declares and no folder of this machine has",
        "Correct the name, or declare the dataset; `python -m dlt_local graph` lists what is declared. For a table"
        " outside of the pipeline, put its files into `external/<catalog>/<schema>/<table>` of the storage folder.",
    ),
    Condition(
        "CATALOG_NOT_KNOWN",
        "queries read tables of several catalogs, and nothing says which of them is the pipeline's own",
        "Name the pipeline's catalog with `--catalog`; tables of the others are outside of the pipeline.",
    ),
    Condition(
        "CATALOG_NAMED_AS_A_SCHEMA",
        "a query names a catalog, but a schema of the pipeline has the same name",
        "Leave out the catalog: `name.table` then means the schema's table.",
    ),
    Condition(
        "QUERY_FAILED",
        "Spark cannot analyse a query: a column does not exist, types do not fit, the SQL has an error",
        "Correct the query at the line of the message.",
    ),
    Condition(
        "PATH_NOT_MAPPED",
        "a query reads a path that only Databricks has, such as `/Volumes/...` or `s3://...`",
        "Say which local folder stands for it: `--map PATH=FOLDER`.",
    ),
    Condition(
        "AUTO_LOADER_OPTIONS",
        "a read by Auto Loader has options that are unknown, wrong, or cannot be honoured here",
        "Correct each as its line says; docs/engine/auto-loader.md lists all.",
    ),
    Condition(
        "CF_EMPTY_DIR_FOR_SCHEMA_INFERENCE",
        "Auto Loader has to infer the columns of a folder that has no files yet",
        "Put a first file there, or give the columns.",
    ),
    Condition("NOT_A_DATAFRAME", "a query function returns something else than a DataFrame", "Return the DataFrame."),
    Condition("CIRCULAR_DEPENDENCY", "datasets read each other in a circle", "Let one of them read another source."),
    Condition(
        "TARGET_NOT_FOUND",
        "a flow writes to a table that is not declared",
        "Declare it with `create_streaming_table(...)`.",
    ),
    Condition("NO_FLOW", "a streaming table has no flow that writes it", "Add an append flow or an AUTO CDC flow."),
    Condition(
        "TRIGGER_INTERVAL_NOT_VALID",
        "`pipelines.trigger.interval` is not a duration",
        "Write it like `10 seconds` or `2 minutes`.",
    ),
    Condition(
        "MIXED_FLOWS",
        "a table has both append flows and flows that change its rows: AUTO CDC, or an aggregation without a watermark",
        "Declare another table for the append flows.",
    ),
    Condition(
        "BATCH_QUERY_FOR_STREAMING_TABLE",
        "the query of a streaming table reads its source as a batch",
        "Read it with `spark.readStream`, in SQL with `STREAM(name)`, or set `once=True`.",
    ),
    Condition(
        "STREAMING_QUERY_FOR_MATERIALIZED_VIEW",
        "the query of a materialized view reads its source as a stream",
        "Read it with `spark.read`, or declare a streaming table.",
    ),
    Condition(
        "STREAM_NOT_SUPPORTED",
        "a streaming query sorts, joins or aggregates in a way that Spark supports for batches only",
        "Give an aggregation or join a watermark, or read with `spark.read` in a materialized view.",
    ),
    Condition(
        "STREAMING_READ_OF_CHANGING_TABLE",
        "a stream reads a table whose rows are updated: a materialized view, a target of AUTO CDC, or an aggregation"
        " without a watermark",
        "Read it with `spark.read.table` in a materialized view; or stream from its source.",
    ),
    Condition(
        "SCHEMA_MISMATCH",
        "a query has a column that the table's declared schema does not have",
        "Add it to `schema`, or leave it out of the query.",
    ),
)

RUN = (
    Condition(
        "FRAME_OF_AN_EARLIER_CALL",
        "a query function returns a frame that it made while the update was planned, when tables have no rows",
        "Make all frames anew in each call of the function: keep none with `@lru_cache`, or in a global.",
    ),
    Condition(
        "FLOW_FAILED",
        "Spark failed while a flow wrote; the message ends with the root cause",
        "Correct the cause, then run again: batches that were committed stay, and nothing is written twice.",
    ),
    Condition(
        "SOURCE_NOT_BUILT",
        "`--refresh` or `--rebuild` selects a dataset, but not a table that it reads and that no update has built yet",
        "Add that table to the run with `--refresh TABLE`, or run all datasets.",
    ),
    Condition(
        "SOURCE_NOT_UPDATED",
        "`--refresh` selects a dataset, but not a table that it reads and that does not have a new column yet",
        "Add that table to the run with `--refresh TABLE`, or run all datasets.",
    ),
    Condition(
        "EXPECTATION_FAILED",
        "a row does not meet an `expect_or_fail`",
        "Correct the source, or relax the expectation to `expect_or_drop`. Nothing of the batch was written.",
    ),
    Condition(
        "TOO_MANY_REJECTS",
        "an update with `--fail-on-rejects` added more rejects than allowed; its tables are complete",
        "Look at `silver.TABLE_rejects` and correct what the reasons say, or allow more: `--fail-on-rejects=N`.",
    ),
    Condition(
        "AUTOCDC_MICROBATCH_VALIDATION.NULL_KEY",
        "events of a batch have a null in their key; the batch is refused and the target is unchanged",
        "Give the key a value in the source, or leave such rows out with `where` or an expectation.",
    ),
    Condition(
        "AUTOCDC_MICROBATCH_VALIDATION.NULL_SEQUENCE",
        "events of a batch have a null in their sequence; the batch is refused and the target is unchanged",
        "Give every part of the sequence a value (`coalesce`), or leave such rows out.",
    ),
    Condition(
        "AUTOCDC_SNAPSHOT_KEY_NOT_UNIQUE",
        "a snapshot has several rows with one key; the target is unchanged",
        "Make the source return one row for each key.",
    ),
    Condition(
        "INPUT_FILE_CHANGED",
        "a file was changed after a stream had read it, which reads each file once",
        "Type what the message says: `mv` gives the file a new name and has it read whole; `touch -d` gives it back"
        " its time, if its content is as it was.",
    ),
    Condition(
        "UNKNOWN_FIELD_EXCEPTION",
        "files that Auto Loader reads have columns that are not in the schema",
        "With `addNewColumns` the columns are recorded, and the engine starts another update by itself. With"
        " `failOnNewColumns`, add them to the schema or take the file out of the folder.",
    ),
    Condition(
        "DISK_FULL",
        "the disk of the storage folder is full",
        "Make room, then run again: the next update finishes what this one started, and writes nothing twice.",
    ),
    Condition(
        "STORAGE_IN_USE",
        "another update is running on the same storage folder",
        "Wait for it to end, or use another storage folder. A process that was killed does not hold the lock.",
    ),
    Condition(
        "EVENT_LOG_NOT_WRITTEN",
        "the tables are as the update left them, but its events could not be added to the event log",
        "Correct the cause. The events are kept; the next update adds them.",
    ),
)

KAFKA = (
    Condition(
        "KAFKA_UNREACHABLE",
        "no broker answers",
        "Start it, or correct `kafka.bootstrap.servers`. If it is up, check that this machine reaches the addresses"
        " that it advertises, and that `kafka.security.protocol` is that of its listener.",
    ),
    Condition(
        "KAFKA_TOPIC_MISSING",
        "the broker does not have the topic; other tables are updated",
        "Correct the topic's name, or create the topic, then run again.",
    ),
    Condition(
        "KAFKA_RECORDS_MISSING",
        "the topic no longer has records that follow those in the table: expired, or the topic was created again",
        "Choose one of the two ways of the message. To go on with what there is and have the gap recorded, run once"
        " with `--set dlt_local.accept_gaps=TABLE`. To have no gap, let the source send its rows again (a new"
        " snapshot), then go on like that.",
    ),
    Condition(
        "KAFKA_AUTHENTICATION_FAILED",
        "the broker refused the login",
        "Correct `kafka.security.protocol`, `kafka.sasl.*` and `kafka.ssl.*`.",
    ),
    Condition(
        "KAFKA_NOT_AUTHORIZED",
        "the client may not read the topic",
        "Grant it DESCRIBE and READ on the topic, and READ on its consumer group.",
    ),
    Condition(
        "KAFKA_SETTINGS_REFUSED",
        "Kafka's client does not accept one of its settings",
        "Correct the option of the stream that the message names.",
    ),
)

_DRIFT = "Undo the edit, or rebuild the table with `--rebuild TABLE`."

CHANGES = (
    Condition(
        "ROW_DEFINITION_CHANGED",
        "a spec was edited so that existing rows would differ: a type, a name, a mask, the key, the order;"
        " docs/change-a-table.md lists the edits, and `python -m cdc plan` shows them before the run",
        _DRIFT + " All other tables are updated.",
    ),
    Condition(
        "TABLE_MOVED",
        "a table of records got another name, and would read its source again from what is still there",
        "Restore the name, or accept that with `--set dlt_local.accept_moves=TABLE`.",
    ),
    Condition(
        "AUTOCDC_INVALID_STATE.KEY_SCHEMA_DRIFT",
        "the keys of an AUTO CDC flow, or their types, are not those that its target was built with",
        _DRIFT,
    ),
    Condition(
        "AUTOCDC_INVALID_STATE.SCD_TYPE_DRIFT",
        "`stored_as_scd_type` is not the one that the target was built with",
        _DRIFT,
    ),
    Condition(
        "AUTOCDC_INVALID_STATE.SEQUENCING_TYPE_DRIFT",
        "the type of `sequence_by` is not the one that the target was built with, as after an edit of"
        " `within_transaction`",
        _DRIFT,
    ),
    Condition(
        "AUTOCDC_INVALID_STATE.TRACK_HISTORY_DRIFT",
        "the tracked columns are not those that the target was built with",
        _DRIFT,
    ),
    Condition(
        "AUTOCDC_INVALID_STATE.IGNORE_NULL_UPDATES_DRIFT",
        "`ignore_null_updates` or `columns_to_update` was added to a flow, or removed",
        _DRIFT,
    ),
    Condition(
        "CANNOT_MERGE_INCOMPATIBLE_DATA_TYPE",
        "a column has another type than in the stored table, or in another flow of the table",
        "Cast it to the table's type, or rebuild the table with `--rebuild TABLE`.",
    ),
    Condition(
        "INCOMPATIBLE_DATA_FOR_TABLE.CANNOT_FIND_DATA",
        "the source of an SCD type 1 target no longer has a nested field that the target has",
        "Add the field to the source, null where it is unknown, or rebuild with `--rebuild TABLE`.",
    ),
    Condition(
        "PARTITIONING_CHANGED",
        "the partition columns of a table are not those that it is stored with",
        "Restore the old ones, or rebuild the table with `--rebuild TABLE`.",
    ),
    Condition(
        "SCHEMA_CHANGED",
        "the schema of a materialized view has changed, and has NOT NULL or generated columns",
        "Rebuild it with `--rebuild TABLE`.",
    ),
    Condition(
        "SOURCE_REPLACED",
        "a stream's source table was deleted and made again, so where to continue in it is unknown",
        "Rebuild what reads it with `--rebuild TABLE`, or bring the old table back.",
    ),
    Condition(
        "RESET_NOT_ALLOWED",
        "a rebuild or full refresh reaches a table with `pipelines.reset.allowed=false`",
        "Leave the table out of the selection, or remove the property if its rows can be read again. Tables of a spec"
        " with `retention` have the property: take that setting out for the rebuild.",
    ),
    Condition(
        "ROWS_EXPIRED",
        "a table would be built, or built anew, from another one of which rows have expired (`retention`)",
        "Undo the edit, which keeps what is stored. Or have the source send all of its rows again (a new snapshot),"
        " then run once with `--set dlt_local.accept_expired=TABLE`, the table of the message from which it is built.",
    ),
    Condition(
        "SINK_NOT_REBUILT",
        "`--rebuild` names a sink, which has no rows to build beside others",
        "Send it everything again with `--full-refresh SINK`.",
    ),
    Condition(
        "REBUILD_REACHES_SINK",
        "a sink reads a table that is rebuilt, and would be sent all rows again",
        "Accept that by adding `--full-refresh SINK`.",
    ),
)

_RESTORE_OR_REBUILD = (
    "Restore the folders that the message names from a copy as old as the table, or rebuild the table with"
    " `--rebuild TABLE`."
)

STORAGE = (
    Condition("NO_STORAGE_FOLDER", "`doctor` is given a folder in which no update has run", "Correct `--storage`."),
    Condition(
        "STORAGE_FILE_DAMAGED",
        "a JSON file of the engine is cut, overwritten or empty",
        "Do what the message says; it differs from file to file. `python -m dlt_local doctor --storage FOLDER` lists"
        " everything that is damaged.",
    ),
    Condition(
        "SCHEMA_LOG_DAMAGED",
        "a file in which Auto Loader keeps the columns of a folder's files is cut or overwritten",
        "Restore it, or delete it: the columns are inferred again, or are those of the version before.",
    ),
    Condition(
        "CHECKPOINT_MISSING",
        "the checkpoint of a stream is gone, though its table has rows",
        "Restore it, or rebuild the table with `--rebuild TABLE`.",
    ),
    Condition(
        "CHECKPOINT_DAMAGED",
        "the checkpoint of a stream is an older copy, or that of another stream",
        "Restore it, or rebuild the table with `--rebuild TABLE`.",
    ),
    Condition(
        "TARGET_MISSING",
        "a table is gone, though its stream has written it",
        "Restore the table as the last update left it, or rebuild it with `--rebuild TABLE`.",
    ),
    Condition(
        "TARGET_REPLACED",
        "another table has taken the place of the one that the last update left",
        "Restore the table as the last update left it, or rebuild it with `--rebuild TABLE`.",
    ),
    Condition(
        "TARGET_OUTDATED",
        "a table is an older copy of what the last update left, or was restored to an older version",
        "Restore the table as the last update left it, or rebuild it with `--rebuild TABLE`.",
    ),
    Condition(
        "TARGET_CHANGED",
        "rows of an AUTO CDC target were changed by something other than an update",
        "Undo it by the RESTORE statement of the message, or rebuild the table with `--rebuild TABLE`.",
    ),
    Condition(
        "AUTOCDC_INVALID_STATE.MISSING",
        "auxiliary state of an AUTO CDC target is gone, and cannot be made again from its rows",
        _RESTORE_OR_REBUILD,
    ),
    Condition(
        "AUTOCDC_INVALID_STATE.DAMAGED",
        "a file of the auxiliary state of an AUTO CDC target is cut or overwritten",
        _RESTORE_OR_REBUILD,
    ),
    Condition(
        "AUTOCDC_INVALID_STATE.OUTDATED",
        "the auxiliary state of an AUTO CDC target is an older copy than its table",
        _RESTORE_OR_REBUILD,
    ),
)

GROUPS: Mapping[str, tuple[Condition, ...]] = {
    "The machine and the command line": MACHINE,
    "The bundle": BUNDLE,
    "Source files": SOURCE_FILES,
    "Queries and datasets": GRAPH,
    "AUTO CDC declarations": AUTO_CDC_DECLARATIONS,
    "While it runs": RUN,
    "Kafka": KAFKA,
    "After a change of spec or source": CHANGES,
    "The storage": STORAGE,
}
"""Heading -> its conditions; before a run, during it, after a change."""

CONDITIONS: Mapping[str, Condition] = {each.name: each for group in GROUPS.values() for each in group}
