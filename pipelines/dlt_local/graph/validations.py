"""Rules that a pipeline's datasets and flows must meet once their queries are analysed."""

from collections.abc import Iterator

from pyspark.sql import DataFrame
from pyspark.sql.types import StructType

from dlt_local.auto_cdc.args import ChangeArgs
from dlt_local.declarations.elements import Flow, QueryFlow, Table, View
from dlt_local.declarations.registry import Registry
from dlt_local.declarations.spark_errors import line_of
from dlt_local.errors import DeclarationError, did_you_mean
from dlt_local.graph.graph import Node, ResolvedFlow
from dlt_local.graph.schemas import missing_nested


def unknown_targets(registry: Registry) -> Iterator[DeclarationError]:
    """A fault for each flow whose target is not declared."""
    known = {str(name).lower() for name in (*registry.tables, *registry.sinks)}
    for flow in registry.flows:
        if str(flow.target).lower() not in known:
            near = did_you_mean(str(flow.target), [str(name) for name in registry.tables])
            message = f"flow `{flow.name}` writes to {flow.target}, which is not declared{near}"
            fix = "declare it: create_streaming_table(...) before the flow"
            yield DeclarationError("TARGET_NOT_FOUND", message, flow.location, fix)


def check_flows(table: Table, kind: str, flows: tuple[ResolvedFlow, ...]) -> None:
    """Refuse a mix of append and AUTO CDC flows, and queries that do not fit the kind of table.

    Raises:
        DeclarationError: with the table or flow at fault.
    """
    query_flows = [flow for flow in flows if isinstance(flow.flow, QueryFlow)]
    if 0 < len(query_flows) < len(flows):
        message = f"{table.name} has append flows and AUTO CDC flows; a table can have only one kind"
        raise DeclarationError("MIXED_FLOWS", message, table.location, "declare another table for the append flows")
    if len(flows) > 1 and (rewriting := next((flow for flow in flows if flow.is_rewritten), None)):
        name = rewriting.flow.name
        message = f"flow `{name}` rewrites {table.name}, as it aggregates without a watermark, and others append to it"
        fix = "give the aggregation a watermark, or a table of its own"
        raise DeclarationError("MIXED_FLOWS", message, rewriting.flow.location, fix)
    for resolved in query_flows:
        flow = resolved.flow
        is_once = isinstance(flow, QueryFlow) and flow.once
        if kind == "streaming table" and not resolved.streaming and not is_once:
            message = f"flow `{flow.name}` of streaming table {table.name} is a batch query"
            fix = "read its source with spark.readStream (in SQL: STREAM(name)), or set once=True"
            raise DeclarationError("BATCH_QUERY_FOR_STREAMING_TABLE", message, flow.location, fix)
        if kind == "materialized view" and resolved.streaming:
            message = f"materialized view {table.name} has a streaming query"
            fix = "read its sources with spark.read, or declare it with @table"
            raise DeclarationError("STREAMING_QUERY_FOR_MATERIALIZED_VIEW", message, flow.location, fix)


def check_streamed_from(flow: Flow, source: Node) -> None:
    """Refuse a stream from a table whose rows are updated or replaced.

    Raises:
        DeclarationError: ``source`` is such a table.
    """
    if source.is_changed_in_place:
        what = "the target of an AUTO CDC flow"
        if source.kind == "materialized view":
            what = "a materialized view"
        elif source.flows[0].is_rewritten:
            what = "an aggregation without a watermark"
        message = f"flow `{flow.name}` streams from {source.name}, {what}: its rows are not append-only"
        fix = f"read {source.name} with spark.read.table in a materialized view"
        raise DeclarationError("STREAMING_READ_OF_CHANGING_TABLE", message, flow.location, fix)


def check_nested_fields(flow: Flow, changes: ChangeArgs, stored: StructType) -> None:
    """Refuse a source that lacks nested fields of its SCD type 1 target.

    An update of an SCD type 1 row sets whole columns, so the values of those fields would be lost.

    Raises:
        DeclarationError: names the fields.
    """
    if changes.scd_type == 2:
        return
    new = {field.name.lower(): field.dataType for field in changes.source_columns.fields}
    old = {field.name.lower(): field.dataType for field in stored.fields}
    missing = [path for name in new if name in old for path in missing_nested(old[name], new[name], name)]
    if missing:
        message = f"target {changes.target} has {', '.join(missing)}, missing from the source of flow `{flow.name}`"
        fix = f"add the field to the source (null where unknown), or rebuild with --rebuild {changes.target}"
        raise DeclarationError("INCOMPATIBLE_DATA_FOR_TABLE.CANNOT_FIND_DATA", message, flow.location, fix)


def check_expectations(dataset: Table | View, frame: DataFrame) -> None:
    """Refuse expectations that are not conditions on the frame's columns.

    Raises:
        DeclarationError: the first such expectation.
    """
    for expectation in dataset.expectations:
        try:
            frame.select(expectation.column.cast("boolean")).schema  # noqa: B018
        except Exception as error:
            message = f"expectation `{expectation.name}` of {dataset.name} ({expectation.text}): {line_of(error)}"
            fix = "write a condition over the columns of the dataset"
            raise DeclarationError("EXPECTATION_NOT_VALID", message, dataset.location, fix) from error
