"""What to do about each fault of a spec, each error of a run, and each reason of a reject.

What they mean is said where they are defined; docs/troubleshooting.md is made of both. tests/unit/test_conditions.py
compares this list with the definitions and with the code that uses them.
"""

from collections.abc import Mapping

from cdc.debezium.rejects import Reason
from cdc.errors import Condition, RunCondition

_NAME_IT = "The message lists the names that exist; correct the one in the spec."

SPECS: Mapping[Condition, str] = {
    Condition.MISSING_CONF: "Set `cdc.conf` to the conf folder, or make it: `python -m cdc scaffold` writes one.",
    Condition.MISPLACED_FILE: "Move the file to `conf/tables/CONNECTOR/`.",
    Condition.UNKNOWN_CONNECTOR: "Correct the name, or write `conf/connectors/CONNECTOR.yml`.",
    Condition.UNKNOWN_KIND: "Write the connector's `kind:`, or run where there are records: `check --records CAPTURE`.",
    Condition.EMPTY_FILE: "Write the spec, or delete the file.",
    Condition.BROKEN_YAML: "Correct the line of the message or the one above it: indentation, or a quote or bracket.",
    Condition.DUPLICATE_YAML_KEY: "Keep one of the two.",
    Condition.UNQUOTED_COMMA: 'Put the type in quotation marks: `{total: "decimal(18,2)"}`.',
    Condition.SECRET_IN_SPEC: "Remove it, and change the secret: it may have been committed. Passwords belong in the"
    " pipeline's configuration, as a reference to a secret.",
    Condition.UNKNOWN_FIELD: "Correct the field's name; docs/table-spec.md has all fields.",
    Condition.MISPLACED_FIELD: "Remove the field, or the one that contradicts it.",
    Condition.MISSING_FIELD: "Add the field as the message shows.",
    Condition.WRONG_KIND: "Write the value as the message shows.",
    Condition.BAD_VALUE: "Use one of the values of the message.",
    Condition.BAD_TYPE: "Write the type as the source's DDL has it; docs/types.md leads to all types.",
    Condition.UNSUPPORTED_TYPE: "Remove the column, or write `{exclude: true}` as its value.",
    Condition.BAD_TABLE_NAME: "Write `table: DATABASE.SCHEMA.TABLE`.",
    Condition.BAD_DATASET_NAME: "Choose another name in the field of the message.",
    Condition.DUPLICATE_TABLE_NAME: "Give one of the two another `name:`.",
    Condition.DUPLICATE_TOPIC: "Correct `topic:` of one of the two; tables that share a topic need"
    " `shared_topic: true`.",
    Condition.DUPLICATE_SOURCE: "Give each table of the target another `source:` in `into:`.",
    Condition.SOURCES_DISAGREE: "Make the specs agree on what the message names, or give the tables targets of"
    " their own.",
    Condition.RESERVED_PROPERTY: "Remove the property; the message names the setting to use instead, if there is one.",
    Condition.BAD_COLUMN_NAME: "Give the column another name with `rename:`.",
    Condition.RESERVED_COLUMN: "Give the column another name with `rename:`.",
    Condition.DUPLICATE_COLUMN: "Give one of the two another name with `rename:`.",
    Condition.MISSING_KEY: "Name the columns of the primary key in `key:`, or write `append_only: true`.",
    Condition.UNKNOWN_KEY_COLUMN: _NAME_IT,
    Condition.EXCLUDED_KEY_COLUMN: "Keep the column, or choose another key.",
    Condition.MASKED_KEY_COLUMN: "Remove the mask; a view over gold can hide the value instead.",
    Condition.UNKNOWN_TRACKED_COLUMN: _NAME_IT,
    Condition.UNKNOWN_CLUSTER_COLUMN: _NAME_IT,
    Condition.BAD_SQL: "Write one Spark SQL expression in the column names of silver.",
    Condition.UNKNOWN_SQL_COLUMN: _NAME_IT,
    Condition.UNUSABLE_SQL_COLUMN: "Use another column, or set `unavailable: as_null` and `large_nulls: as_null`.",
    Condition.UNSTABLE_SQL: "Use only the values of the change itself, such as `_committed_at` in place of `now()`.",
    Condition.NO_COLUMN_LEFT: "Keep a column; if none is to be tracked, write `history: false`.",
    Condition.MISSING_TOPIC: "Correct `table:`, `topic:` or the connector's `topic_prefix` as the message says; the"
    " case of letters counts.",
    Condition.UNKNOWN_SETTING: "Correct the name of the setting in the pipeline's `configuration`, or remove it.",
    Condition.UNKNOWN_ZONE: "Write the name of an IANA time zone, such as `Europe/Prague`.",
    Condition.SHORT_TOMBSTONE_RETENTION: "Retain deletes for two days or more: a late record could bring back a row.",
    Condition.NO_KEY: "Add `key:` if the table has one.",
    Condition.UNREAD_TOPIC: "Add its table: `python -m cdc scaffold --connector CONNECTOR --capture FOLDER` writes"
    " the spec. If nobody needs the topic, leave it.",
    Condition.NO_TABLES: "Add a table to `conf/tables/CONNECTOR/`, or remove the connector's file.",
}
"""Faults of a conf folder -> what to do."""

RUNS: Mapping[RunCondition, str] = {
    RunCondition.SPARK_TOO_OLD: "Run the pipeline on Spark 4.0 or newer; on Databricks, on Databricks Runtime 17 or on"
    ' serverless compute with `environment_version: "4"`.',
    RunCondition.UNKNOWN_SOURCE: "Pass `--set cdc.source=kafka --set cdc.kafka.bootstrap.servers=HOST:PORT`, or"
    " `--set cdc.source=capture:FOLDER`, or write it into the pipeline's configuration.",
    RunCondition.BAD_KAFKA_OPTIONS: 'Write a JSON object of strings, such as `{"kafka.sasl.mechanism": "PLAIN"}`.',
    RunCondition.SECRET_REFUSED: "Put the secret into its scope, or grant READ on it to whoever the pipeline runs as.",
    RunCondition.BAD_SWITCH: "Write `true` or `false`.",
    RunCondition.BAD_SCHEMA_SETTING: "Write `SCHEMA`, or `CATALOG.SCHEMA`; the layers are bronze, silver and gold.",
    RunCondition.BAD_GAPS_SETTING: "Write `true`, `false`, or the least number of missing offsets that counts.",
    RunCondition.BAD_REPLAY_NAME: "Write a name that no earlier replay had, such as `after_the_fix_of_orders`.",
    RunCondition.COLUMNS_NOT_COMPARABLE: "Select the column under its name at the source or in gold, or name it in"
    " `leave_out`.",
    RunCondition.NOT_A_RECORD: "Repair or remove the line, or move the file out of the capture folder, then run again.",
    RunCondition.NOT_A_CAPTURE: "Capture records with `kcat -C -J -e -t TOPIC -b BROKER > records.jsonl`.",
    RunCondition.NOT_A_CONNECTOR_CONFIG: "Give the JSON that Kafka Connect returns for the connector.",
    RunCondition.UNKNOWN_DATA_FLOW: 'Name its source table: `decode_bronze(tables, flows={"100": "shop.dbo.orders"})`.',
    RunCondition.TABLE_NOT_EXPORTED: "Keep the table in this pipeline, or change the spec as the message says.",
    RunCondition.NOT_EXPORTED: "See in docs/guides/sdp-meta.md what becomes of it; the other tool works without.",
    RunCondition.SECRET_NOT_WRITTEN: "Use a service credential, or put the secret in where only the pipeline reads it.",
    RunCondition.TABLE_NOT_IMPORTED: "Keep the data flow in sdp-meta.",
    RunCondition.NOT_IMPORTED: "Write what the message says into the spec or the pipeline's configuration, if you need"
    " it.",
    RunCondition.FILE_NOT_FOUND: "Copy the file beside the onboarding file, then import again.",
}
"""Errors of a run or a command -> what to do."""

_REPLAY = "then replay the rejects: docs/rejects.md."

REJECTS: Mapping[Reason, str] = {
    Reason.NOT_UTF8: "Look at the connector's converter: Avro or Protobuf cannot be read, JSON can.",
    Reason.BROKEN_JSON: "Look at the connector's converter, and at who else writes to the topic.",
    Reason.NOT_AN_ENVELOPE: "Correct `shape:` in the connector spec, as the message says; " + _REPLAY,
    Reason.WRONG_CONNECTOR: "Correct `kind:` of the connector spec, or `topic:` of the table's; " + _REPLAY,
    Reason.UNKNOWN_OP: "Nothing, if another program wrote the record; otherwise report it.",
    Reason.TRUNCATED: "Write `history: false` and rebuild the table, or delete the rows at the source, instead of a"
    " truncate. Until then the rows of before stay.",
    Reason.MISSING_ROW: "Nothing, if another program wrote the record; otherwise look at the connector's transforms.",
    Reason.MISSING_KEY: "Correct `key:` of the spec, or `message.key.columns` of the connector; " + _REPLAY,
    Reason.MISSING_POSITION: "Write `reads_without_position: first` or `shape: avro_json` where the message says so; "
    + _REPLAY,
    Reason.WRONG_TYPE: "Correct the column's type in the spec, or how the connector spec says that values are"
    " written; " + _REPLAY,
    Reason.MISSING_FIELD: "Remove `on_missing: reject` if records may lack the column; " + _REPLAY,
    Reason.PARTIAL_VALUE: "Capture whole documents (`capture.mode=change_streams_update_full`), or name the parts as"
    " columns by their paths; the row is right again with the next whole document.",
    Reason.UNAVAILABLE_VALUE: "Write `unavailable: merge`, which takes the previous version's value; " + _REPLAY,
    Reason.UNEXPECTED_NULL: "Remove `not null` from the column's type; " + _REPLAY,
    Reason.FAILED_SQL: "Where null is right, use functions such as `try_divide` and `try_cast` in the spec; " + _REPLAY,
    Reason.QUARANTINED: "Correct the row at the source, or the expectation; " + _REPLAY,
}
"""Reasons of rejects -> what to do."""
