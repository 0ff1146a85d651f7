"""Output modes of streams: rows are appended, but an aggregation without a watermark rewrites its table.

Such an aggregation may change any row with the next input, so it has nothing to append. As on Databricks, its result is
written anew by each update (https://docs.databricks.com/ldp/stateful-processing: "to ensure that queries that perform
aggregations are processed incrementally and not fully recomputed with each update, you must use watermarks").
"""

import re

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame

from dlt_local.declarations.elements import Flow
from dlt_local.declarations.spark_errors import line_of
from dlt_local.errors import DeclarationError
from dlt_local.spark import jvm

_STATE = re.compile(r"FlatMapGroupsInPandasWithState .*")


def is_rewritten(flow: Flow, frame: DataFrame, is_table: bool) -> bool:
    """True if a stream writes its whole result each time, False if it appends.

    Args:
        flow: the flow.
        frame: its query, a stream.
        is_table: True for the query of a flow into a table; nothing else can be written anew.

    Raises:
        DeclarationError: STREAM_NOT_SUPPORTED, it can do neither.
    """
    refusal = _refusal(frame, "Append")
    if refusal is None:
        _check_state(flow, frame)
        return False
    is_aggregation = _refusal(frame, "Complete") is None
    if is_aggregation and is_table:
        return True
    message = f"flow `{flow.name}` is a query that Spark cannot run as a stream: {line_of(refusal).rstrip(';')}"
    fix = "read its sources with spark.read in a materialized view"
    if is_aggregation:
        fix = f"give the aggregation a watermark and a window of it: .withWatermark(COLUMN, DELAY); or {fix}"
    raise DeclarationError("STREAM_NOT_SUPPORTED", message, flow.location, fix) from refusal


def _check_state(flow: Flow, frame: DataFrame) -> None:
    """Refuse state of `applyInPandasWithState` that Spark 4.2.0 cannot read back: it would fail in the first batch.

    Its Python worker reads the state's schema in lower case (`EvalConf.state_value_schema` in pyspark/worker.py), where
    arrays and maps have `elementType` and `keyType`.
    """
    plan = jvm.analyzed_plan(frame)
    # The text of a plan takes as long as its analysis.
    states = _STATE.findall(str(plan.toString())) if jvm.calls_python(frame.sparkSession, plan) else []
    if any("ArrayType(" in state or "MapType(" in state for state in states):
        message = (
            f"flow `{flow.name}` keeps an array or a map as state, which applyInPandasWithState of Spark 4.2.0 loses"
        )
        fix = "keep it as JSON text, or use transformWithStateInPandas; on Databricks it runs as it is"
        raise DeclarationError("STREAM_NOT_SUPPORTED", message, flow.location, fix)


def _refusal(frame: DataFrame, output_mode: str) -> AnalysisException | None:
    try:
        jvm.check_streamable(frame, output_mode)
    except AnalysisException as error:
        return error
    return None
