"""The pipeline's graph by open-source `spark-pipelines`: its datasets and what each flow reads, as JSON in a file.

A program of its own, run by the Python of Spark 4.1: `python graph_program.py <pipelines> <settings.json> <out.json>`.
Declarations go to a Spark Connect server, which resolves and validates the whole graph (a dry run). What it lacks of
Databricks' decorators is put in its place here: expectations and `private` have no effect on the graph, an AUTO CDC
flow appends, and a flow that runs once streams.
"""

import builtins
import json
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from pyspark import pipelines as dp
from pyspark.pipelines.cli import LibrariesGlob, PipelineSpec, register_definitions
from pyspark.pipelines.flow import Flow
from pyspark.pipelines.output import MaterializedView, Output, StreamingTable
from pyspark.pipelines.spark_connect_graph_element_registry import SparkConnectGraphElementRegistry
from pyspark.pipelines.spark_connect_pipeline import create_dataflow_graph, start_run
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from pyspark.sql.connect.dataframe import DataFrame

LAYERS = ("bronze", "silver", "gold")


class Recorder(SparkConnectGraphElementRegistry):
    """Registers as usual, and keeps what was registered."""

    def __init__(self, spark: SparkSession, graph: str) -> None:
        super().__init__(spark, graph)
        self.kinds: dict[str, str] = {}
        self.reads: dict[str, set[str]] = defaultdict(set)

    def register_output(self, output: Output) -> None:
        """Keep the dataset's kind."""
        kinds = {StreamingTable: "streaming table", MaterializedView: "materialized view"}
        self.kinds[output.name] = kinds.get(type(output), "view")
        super().register_output(output)

    def register_flow(self, flow: Flow) -> None:
        """Keep what the flow's query reads."""

        def query() -> Any:
            frame: Any = flow.func()
            self.reads[flow.target] |= set(_tables(frame._plan.to_proto(self._client)))
            return frame

        super().register_flow(replace(flow, func=query))


def _tables(message: Any) -> Iterator[str]:
    """The names of the tables in a plan."""
    for field, value in message.ListFields():
        if field.name == "named_table":
            yield value.unparsed_identifier.replace("`", "")
        elif field.message_type is not None:
            repeated = not hasattr(value, "ListFields")
            for each in (value.values() if hasattr(value, "values") else value) if repeated else (value,):
                if hasattr(each, "ListFields"):
                    yield from _tables(each)


def put_in_place(spark: SparkSession) -> None:
    """What open-source pipelines lack."""
    table, append_flow, own = dp.table, dp.append_flow, cast("Any", dp)

    def expectation(*_: Any) -> Any:
        return lambda query: query

    for name in ("expect", "expect_all", "expect_all_or_drop", "expect_all_or_fail"):
        setattr(own, name, expectation)

    def private_table(private: bool = False, **options: Any) -> Any:
        return table(**options)

    def flow(once: bool = False, **options: Any) -> Any:
        return lambda query: append_flow(**options)(_streaming(query, spark) if once else query)

    def create_auto_cdc_flow(
        target: str, source: str, sequence_by: Any, column_list: list[str], stored_as_scd_type: int, **options: Any
    ) -> None:
        def applied() -> Any:
            sequence = F.col(sequence_by) if isinstance(sequence_by, str) else sequence_by
            ends = ("__START_AT", "__END_AT") if stored_as_scd_type == 2 else ()
            columns = (*(F.col(f"`{name}`") for name in column_list), *(sequence.alias(name) for name in ends))
            return spark.readStream.table(source).select(*columns)

        append_flow(target=target, name=options.get("name") or target)(applied)

    own.table, own.append_flow, own.create_auto_cdc_flow = private_table, flow, create_auto_cdc_flow
    # The server analyses what is deduplicated when a flow is declared, before the datasets that it reads exist.
    DataFrame.dropDuplicates = lambda self, subset=None: self


def _streaming(query: Callable[[], Any], spark: SparkSession) -> Callable[[], Any]:
    """The query with its tables read as streams."""

    def streamed() -> Any:
        builtins.spark = SimpleNamespace(read=spark.readStream)
        try:
            return query()
        finally:
            builtins.spark = spark

    return streamed


def main(pipelines: str, settings: str, out: str) -> None:
    """Resolve the graph of the source files, and write its datasets."""
    builder = SparkSession.builder.remote("local[2]").config("spark.ui.enabled", "false")
    spark = builder.config("spark.sql.shuffle.partitions", "1").getOrCreate()
    configuration = json.loads(Path(settings).read_text())
    for name, value in configuration.items():
        spark.conf.set(name, value)
    builtins.spark = spark
    put_in_place(spark)
    sources = [LibrariesGlob(include=f"{layer}/**") for layer in LAYERS]
    storage = Path(out).parent / "storage"
    spec = PipelineSpec("shop", storage.as_uri(), "spark_catalog", "default", configuration, sources)
    graph = create_dataflow_graph(spark, spec.catalog, spec.database, configuration)
    recorder = Recorder(spark, graph)
    register_definitions(Path(pipelines) / "spark-pipeline.yml", recorder, spec, spark, graph)
    refreshed: dict[str, Any] = {"full_refresh": [], "full_refresh_all": False, "refresh": []}
    events = [str(each) for each in start_run(spark, graph, **refreshed, dry=True, storage=spec.storage)]
    found = {name: {"kind": kind, "reads": sorted(recorder.reads[name])} for name, kind in recorder.kinds.items()}
    Path(out).write_text(json.dumps({"datasets": found, "events": events}))
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
