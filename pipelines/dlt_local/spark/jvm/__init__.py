"""Spark's JVM objects behind py4j: the only folder that touches the private attributes of pyspark.

Classic Spark only.
"""

from dlt_local.spark.jvm.catalog import (
    ExternalFolder,
    create_reserved_database,
    drop_reserved_table,
    invalidate_cached_tables,
    name_session_catalog,
    register,
    unregister,
)
from dlt_local.spark.jvm.delta import append_to_delta, forget_delta_log, replace_in_delta
from dlt_local.spark.jvm.fewer_calls import call_java_less
from dlt_local.spark.jvm.gateway import elements, entries
from dlt_local.spark.jvm.kafka import kafka_topics
from dlt_local.spark.jvm.plans import (
    analyzed_plan,
    calls_python,
    check_streamable,
    expressions,
    is_of_the_moment,
    leaves,
    parsed_plan,
    plan_json,
    plan_text,
    python_function,
)
from dlt_local.spark.jvm.relations import (
    FilesOf,
    StreamedTable,
    is_empty,
    no_rows,
    read_files,
    release_checkpoint,
    required_texts,
    sql_over_frames,
    streamed_table,
    with_files,
    with_tables_as_files,
)
from dlt_local.spark.jvm.sessions import (
    active_session,
    apply_options,
    callback_connection,
    cloned,
    close_callback_connection,
    end_java,
    in_cloned_session,
    new_session,
)

__all__ = [
    "ExternalFolder",
    "FilesOf",
    "StreamedTable",
    "active_session",
    "analyzed_plan",
    "append_to_delta",
    "apply_options",
    "call_java_less",
    "callback_connection",
    "calls_python",
    "check_streamable",
    "cloned",
    "close_callback_connection",
    "create_reserved_database",
    "drop_reserved_table",
    "elements",
    "end_java",
    "entries",
    "expressions",
    "forget_delta_log",
    "in_cloned_session",
    "invalidate_cached_tables",
    "is_empty",
    "is_of_the_moment",
    "kafka_topics",
    "leaves",
    "name_session_catalog",
    "new_session",
    "no_rows",
    "parsed_plan",
    "plan_json",
    "plan_text",
    "python_function",
    "read_files",
    "register",
    "release_checkpoint",
    "replace_in_delta",
    "required_texts",
    "sql_over_frames",
    "streamed_table",
    "unregister",
    "with_files",
    "with_tables_as_files",
]
