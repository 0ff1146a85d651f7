"""A second opinion on the graph: open-source `spark-pipelines` declares the same datasets with the same inputs."""

import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.pipeline.test_events import CONNECTOR
from tests.runtimes.test_rows import ROOT, in_place
from tests.support.conf_folder import write_conf
from tools.runtimes import RUNTIMES, Runtime

from dlt_local import LocalPipeline

pytestmark = pytest.mark.runtimes

PROGRAM = Path(__file__).with_name("graph_program.py")
PIPELINES = ROOT / "pipelines"
WITH_PIPELINES = [runtime for runtime in RUNTIMES if runtime.spark.startswith("4.1.")]
"""Spark has its own declarative pipelines from 4.1 on."""
EVERYTHING = {
    "cdc.connector": "shop",
    "cdc.drift": "true",
    "cdc.findings": "true",
    "cdc.gaps": "true",
    "cdc.least_counts": "true",
    "cdc.replay_rejects": "first",
}
"""Settings by which every dataset that there can be is declared."""
Datasets = dict[str, tuple[str, frozenset[str]]]
"""Name -> kind, and the names of the tables that it reads."""


@pytest.fixture(scope="session")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    folder = tmp_path_factory.mktemp("graph")
    tables = {f"tables/shop/{file.name}": file.read_text() for file in (ROOT / "conf/tables/shop").glob("*.yml")}
    conf = write_conf(folder / "conf", {"connectors/shop.yml": CONNECTOR, **tables})
    return {"cdc.conf": str(conf), "cdc.source": f"capture:{ROOT / 'demo/captures'}", **EVERYTHING}


@pytest.mark.parametrize("runtime", WITH_PIPELINES, ids=lambda runtime: runtime.name)
def test_spark_pipelines_resolves_the_same_graph(
    spark: SparkSession, settings: Mapping[str, str], tmp_path: Path, runtime: Runtime
) -> None:
    (tmp_path / "settings.json").write_text(json.dumps(settings))
    environment = {**os.environ, "SPARK_TESTING": "1", "PYTHONPATH": str(PIPELINES)}
    command = [in_place(runtime).program, PROGRAM, PIPELINES, tmp_path / "settings.json", tmp_path / "graph.json"]
    ran = subprocess.run(
        command, capture_output=True, text=True, check=False, env=environment, timeout=600, cwd=tmp_path
    )
    assert ran.returncode == 0, ran.stderr[-5000:]
    found = json.loads((tmp_path / "graph.json").read_text())
    assert any("COMPLETED" in event for event in found["events"])
    theirs = {name: (each["kind"], frozenset(each["reads"])) for name, each in found["datasets"].items()}
    ours = engine_graph(spark, settings, tmp_path / "storage")
    assert without_views(theirs) == without_views(ours)
    assert len(ours) > 40


def engine_graph(spark: SparkSession, settings: Mapping[str, str], storage: Path) -> Datasets:
    """The graph that the engine resolves."""
    sources = [PIPELINES / layer / "**" for layer in ("bronze", "silver", "gold")]
    pipeline = LocalPipeline(
        name="shop", sources=sources, storage=storage, configuration=settings, root_path=PIPELINES, spark=spark
    )
    nodes = pipeline.dry_run().nodes
    return {node.name: (node.kind, frozenset(map(str, node.inputs))) for node in nodes}


def without_views(graph: Datasets) -> Datasets:
    """The graph of its tables, each with the tables that it reads, through views or not."""
    views = {name: reads for name, (kind, reads) in graph.items() if kind == "view"}

    def tables(reads: frozenset[str]) -> frozenset[str]:
        return frozenset(each for name in reads for each in (tables(views[name]) if name in views else {name}))

    return {name: (kind, tables(reads)) for name, (kind, reads) in graph.items() if kind != "view"}
