"""Pipelines leave the process and each other alone, and a storage accepts one update at a time."""

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyspark
import pytest
from pyspark.sql import SparkSession
from pyspark.sql.conf import RuntimeConfig
from tests.support.small_pipeline import ROWS, SmallPipeline

from dlt_local.spark.isolation import isolated_session

PIPELINE = f"import dlt\n\n@dlt.table\ndef same():\n    return {ROWS}\n"
WITH_AN_IMPORT = f"""
    import shared_by_files
    import dlt

    @dlt.table(name=shared_by_files.name())
    def t():
        return {ROWS}
    """
IMPORTED = "import dlt\n\ndef name():\n    return dlt.__name__\n"


def test_loading_source_files_leaves_the_process_as_it_was(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "root").mkdir()
    (tmp_path / "root/shared_by_files.py").write_text(IMPORTED)
    small = SmallPipeline(tmp_path, spark, WITH_AN_IMPORT)
    small.pipeline.root_path = tmp_path / "root"
    # PySpark imports some of its modules on first use, which is not what this test is about.
    SmallPipeline(tmp_path / "before", spark, PIPELINE).pipeline.dry_run()
    # With a session's first query Delta sets some of its conf.
    databases = [database.name for database in spark.catalog.listDatabases()]
    modules, path, conf = set(sys.modules), list(sys.path), dict(spark.conf.getAll)
    had_pipelines = hasattr(pyspark, "pipelines")
    graph = small.pipeline.dry_run()
    assert [node.name for node in graph.nodes] == ["default.dlt"]
    assert set(sys.modules) <= modules
    assert {"dlt", "shared_by_files"}.isdisjoint(sys.modules)
    assert (sys.path, dict(spark.conf.getAll), hasattr(pyspark, "pipelines")) == (path, conf, had_pipelines)
    assert [database.name for database in spark.catalog.listDatabases()] == databases


def test_two_pipelines_run_at_once_without_mixing_their_rows(spark: SparkSession, tmp_path: Path) -> None:
    both = [SmallPipeline(tmp_path / name, spark, PIPELINE) for name in ("a", "b")]
    for number, small in enumerate(both):
        small.drop({"id": number, "name": "x"})
    with ThreadPoolExecutor(2) as pool:
        updates = list(pool.map(lambda small: small.pipeline.run(), both))
    assert [update.state for update in updates] == ["COMPLETED", "COMPLETED"]
    assert [small.table("same")[0]["id"] for small in both] == [0, 1]


HELPER = """
from pyspark.sql import SparkSession


def asked():
    found = [SparkSession.getActiveSession(), SparkSession.active(), SparkSession.builder.appName("x").getOrCreate()]
    return [each.conf.get("which") for each in found]


def rows(name):
    return SparkSession.builder.config("spark.sql.shuffle.partitions", "3").getOrCreate().table(name)
"""
ASKING = f"""
    import helper
    from pyspark import pipelines as dp
    from pyspark.sql import functions as F

    at_load = helper.asked()

    @dp.table
    def raw():
        return {ROWS}

    @dp.materialized_view
    def answers():
        said = ",".join([*at_load, *helper.asked()])
        return helper.rows("raw").select("id", F.lit(said).alias("said"), F.lit(spark.conf.get("which")).alias("own"))

    @dp.foreach_batch_sink
    def told(batch, number):
        with open(spark.conf.get("told"), "w") as out:
            out.write(",".join(helper.asked()))

    @dp.append_flow(target="told")
    def telling():
        return spark.readStream.table("raw")
    """


def test_helpers_that_ask_for_a_session_get_that_of_their_pipeline(spark: SparkSession, tmp_path: Path) -> None:
    both = {name: SmallPipeline(tmp_path / name, spark, ASKING) for name in ("a", "b")}
    for number, (name, small) in enumerate(both.items()):
        (tmp_path / name / "helper.py").write_text(HELPER)
        small.pipeline.root_path = tmp_path / name
        small.pipeline.configuration |= {"which": name, "told": str(tmp_path / name / "told")}
        small.drop({"id": number, "name": "x"})
    before = (SparkSession.getActiveSession, SparkSession.Builder.getOrCreate, spark.conf.get("which", None))
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda small: small.pipeline.run(), both.values()))
    for number, (name, small) in enumerate(both.items()):
        said = ",".join([name] * 6)
        assert small.table("answers") == [{"id": number, "said": said, "own": name}]
        assert (tmp_path / name / "told").read_text() == ",".join([name] * 3)
    assert (SparkSession.getActiveSession, SparkSession.Builder.getOrCreate, spark.conf.get("which", None)) == before
    assert SparkSession.builder.getOrCreate().conf.get("which", None) is None


def test_a_storage_accepts_one_update_at_a_time(spark: SparkSession, tmp_path: Path) -> None:
    small = SmallPipeline(tmp_path, spark, PIPELINE)
    with small.pipeline.storage.locked(), pytest.raises(Exception, match="in use by process"):
        small.pipeline.run()


def test_the_conf_of_a_pipelines_session_is_listed_as_pyspark_lists_it(spark: SparkSession, tmp_path: Path) -> None:
    odd = {"my.arrow": "a -> b", "my.empty": "", "my.lines": "a\nb\\n\té"}
    session = isolated_session(spark, odd, tmp_path, SparkSession)
    listed = session.conf.getAll
    assert listed.items() >= odd.items()
    assert listed == RuntimeConfig(session._jsparkSession.conf()).getAll
    # What separates the entries may be part of a value, too.
    session.conf.set("my.separator", "a\x1eb -> c")
    assert session.conf.getAll == RuntimeConfig(session._jsparkSession.conf()).getAll
