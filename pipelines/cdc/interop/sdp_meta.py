"""Functions for sdp-meta's custom transforms: it calls them with a frame and the specification of a data flow.

They need nothing of sdp-meta's: a notebook that starts its pipelines hands them over.

    tables = load_tables("/Workspace/.../conf")
    DataflowPipeline.invoke_dlt_pipeline(
        spark,
        "bronze_silver",
        bronze_custom_transform_func=decode_bronze(tables),
        silver_custom_transform_func=changes_in_silver(tables),
    )
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Protocol

from pyspark.sql import DataFrame

from cdc.debezium.decode import changes, decode
from cdc.errors import RunCondition, RunError, near_match
from cdc.spec.model import TableSpec
from cdc.spec.reading import listed


class DataflowSpec(Protocol):
    """The part of sdp-meta's specification of a data flow that tells which one it is."""

    dataFlowId: str
    """The `data_flow_id` of the onboarding file; the name is sdp-meta's."""


Transform = Callable[[DataFrame, DataflowSpec], DataFrame]
"""A custom transform of sdp-meta."""


class UnknownDataFlow(RunError):
    """A data flow that no table spec describes: its records would reach the target as they are."""

    def __init__(self, flow: str, known: Iterable[str]) -> None:
        self.flow = flow
        names = list(known)
        near = near_match(flow, names)
        meant = f" (did you mean `{near}`?)" if near else ""
        super().__init__(
            RunCondition.UNKNOWN_DATA_FLOW,
            f"data_flow_id {flow}",
            f"no table spec describes this data flow{meant}; known: {listed(names)}",
            f'name its source table: `flows={{"{flow}": "shop.dbo.orders"}}`, or None for a flow without Debezium.',
        )


def decode_bronze(tables: Iterable[TableSpec], flows: Mapping[str, str | None] | None = None) -> Transform:
    """The custom transform of bronze: Kafka's records become what `decode` makes of them.

    Grain of the result: one row per record, with its outcome.

    Args:
        tables: the specs of the flows' tables.
        flows: ``data_flow_id`` -> source table, for flows that `python -m cdc export` did not write; None: the flow
            has other records, which stay as they are.

    Raises:
        UnknownDataFlow: a source table in ``flows`` has no spec; from the function: nobody knows the flow.
    """
    return _transform(decode, tables, flows)


def changes_in_silver(tables: Iterable[TableSpec], flows: Mapping[str, str | None] | None = None) -> Transform:
    """The custom transform of silver: of the decoded records of bronze only the changes go on, as `changes` has them.

    The silver transformations that `python -m cdc export` writes do the same without it. The arguments are those of
    `decode_bronze`.
    """
    return _transform(changes, tables, flows)


def flow_ids(tables: Iterable[TableSpec]) -> dict[str, TableSpec]:
    """``data_flow_id`` -> table, as `export` writes them: ``shop_orders``."""
    found: dict[str, TableSpec] = {}
    for table in tables:
        found[next(each for each in _candidates(table) if each not in found)] = table
    return found


def _candidates(table: TableSpec) -> Iterator[str]:
    connector = table.connector.name
    for name in (table.name, f"{table.target_schemas.silver}_{table.name}", table.source):
        yield re.sub(r"\W", "_", f"{connector}_{name}")
    yield f"{connector}: {table.topic}"


def _transform(
    step: Callable[[DataFrame, TableSpec], DataFrame],
    tables: Iterable[TableSpec],
    flows: Mapping[str, str | None] | None,
) -> Transform:
    every = tuple(tables)
    of_flow: dict[str, TableSpec | None] = {**flow_ids(every), **dict(_named(every, flows or {}))}

    def transform(df: DataFrame, spec: DataflowSpec) -> DataFrame:
        flow = str(spec.dataFlowId)
        if flow not in of_flow:
            raise UnknownDataFlow(flow, of_flow)
        table = of_flow[flow]
        return df if table is None else step(df, table)

    return transform


def _named(tables: Iterable[TableSpec], flows: Mapping[str, str | None]) -> Iterator[tuple[str, TableSpec | None]]:
    by_source = {table.source: table for table in tables}
    for flow, source in flows.items():
        if source is not None and source not in by_source:
            raise UnknownDataFlow(source, by_source)
        yield flow, None if source is None else by_source[source]
