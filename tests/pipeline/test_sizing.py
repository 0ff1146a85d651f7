"""Large data runs with settings of its own, and is written with small dictionaries."""

import re
from collections import Counter
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession
from tests.support.delta_history import commits
from tests.support.executions import recorded
from tests.support.small_pipeline import SmallPipeline

from dlt_local.delta import plain_files
from dlt_local.flows import incremental_refresh, table_batch
from dlt_local.spark import tuning

WHOLE_STAGE, PARTITIONS = "spark.sql.codegen.wholeStage", "spark.sql.shuffle.partitions"
FACTORY = "spark.sql.codegen.factoryMode"
ALL_KINDS = """
    import dlt

    rows = spark.conf.get("rows")
    schema = "id INT, name STRING"

    @dlt.table
    def raw():
        return spark.readStream.schema(schema).json(rows)

    dlt.create_streaming_table("twice")

    @dlt.append_flow(target="twice", once=True)
    def past():
        return spark.read.schema(schema).json(rows)

    @dlt.append_flow(target="twice")
    def present():
        return spark.readStream.table("raw")

    @dlt.view
    def newest():
        return spark.read.table("raw").groupBy("id").agg({"name": "max"}).withColumnRenamed("max(name)", "name")

    dlt.create_streaming_table("history")
    dlt.apply_changes_from_snapshot(target="history", source="newest", keys=["id"], stored_as_scd_type=1)

    @dlt.table
    @dlt.expect_or_drop("named", "name IS NOT NULL")
    def followed():
        return spark.read.table("history")
"""


def test_every_kind_of_flow_runs_with_the_settings_for_large_data(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tuning, "_LARGE_BYTES", 1)
    monkeypatch.setattr(incremental_refresh, "LARGE", 0)
    monkeypatch.setattr(incremental_refresh, "CHANGED_SHARE", float("inf"))
    small = SmallPipeline(tmp_path, spark, ALL_KINDS)
    # What is large is not read by its files; and a streaming query describes its batches.
    small.pipeline.configuration |= {plain_files.SETTING: "false", table_batch.SETTING: "false"}
    small.drop({"id": 1, "name": "a"}, {"id": 2, "name": "b"}, {"id": 1, "name": "c"}, {"id": 4})
    with recorded(spark) as executions:
        small.pipeline.run()
        small.drop({"id": 2, "name": "d"})
        small.pipeline.run()
        small.drop({"id": 3, "name": "e"})
        small.pipeline.run()
    newest = [{"id": 1, "name": "c"}, {"id": 2, "name": "d"}, {"id": 3, "name": "e"}]
    assert small.table("followed") == newest
    assert small.table("history") == [*newest, {"id": 4, "name": None}]
    assert [row["id"] for row in small.table("twice")] == [1, 1, 1, 1, 2, 2, 2, 3, 4, 4]
    # An incremental refresh is a MERGE.
    assert commits(tmp_path / "storage" / "tables" / "default" / "followed")[-1]["operation"] == "MERGE"
    settings = {WHOLE_STAGE, FACTORY, PARTITIONS}
    large = [each for each in executions if settings <= each.conf.keys()]
    commands = [each for each in large if re.search(r"Execute (SaveIntoDataSource|MergeInto)Command", each.plan)]
    # One write of each flow per update; of the flow that runs once, in the first only.
    written = Counter(re.findall(r"tables/default/(\w+)", each.plan)[0] for each in commands)
    assert written == {"twice": 1, "history": 3, "followed": 3}
    # A micro-batch that appends is written without a command: an execution with the batch's number and its rows' plan.
    batches = Counter(found[1] for each in large if (found := re.search(r"batch = (\d+)$", each.description)))
    assert batches == {"0": 2, "1": 2, "2": 2}


def test_the_settings_are_seen_by_no_other_query(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = spark.newSession()
    session.range(10).write.parquet(str(tmp_path / "rows"))
    session.read.parquet(str(tmp_path / "rows")).createOrReplaceTempView("ten")
    frame = session.read.table("ten")
    assert tuning.tuned(frame) is frame
    monkeypatch.setattr(tuning, "_LARGE_BYTES", 1)
    large = tuning.tuned(frame)
    assert large.sparkSession.conf.get(WHOLE_STAGE) == "true"
    assert session.conf.get(WHOLE_STAGE) == "false"
    assert sorted(large.collect()) == sorted(frame.collect())


def test_single_expressions_are_compiled_before_whole_queries_are(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = spark.newSession()
    session.range(10).write.parquet(str(tmp_path / "rows"))
    frame = session.read.parquet(str(tmp_path / "rows"))
    monkeypatch.setattr(tuning, "_MEDIUM_BYTES", 1)
    assert tuning.settings_for(frame) == {FACTORY: "FALLBACK"}
    session.conf.set(FACTORY, "CODEGEN_ONLY")
    assert tuning.settings_for(frame) == {}
    monkeypatch.setattr(tuning, "_LARGE_BYTES", 1)
    assert tuning.settings_for(frame).keys() == {WHOLE_STAGE, PARTITIONS}


def test_what_a_user_has_set_stays(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    session = spark.newSession()
    session.range(10).write.parquet(str(tmp_path / "rows"))
    monkeypatch.setattr(tuning, "_LARGE_BYTES", 1)
    session.conf.set(PARTITIONS, "7")
    large = tuning.tuned(session.read.parquet(str(tmp_path / "rows"))).sparkSession
    assert (large.conf.get(PARTITIONS), large.conf.get(WHOLE_STAGE)) == ("7", "true")


@pytest.mark.parametrize(("configured", "is_left"), [({}, True), ({"parquet.dictionary.page.size": "1048576"}, False)])
def test_a_column_of_many_values_soon_leaves_its_dictionary(
    spark: SparkSession, tmp_path: Path, configured: dict[str, str], is_left: bool
) -> None:
    source = """
        import dlt

        @dlt.table
        def numbers():
            return spark.range(0, 100_000, 1, 1).selectExpr("(id div 2) % 30000 AS many", "id % 5 AS few")
    """
    small = SmallPipeline(tmp_path, spark, source)
    small.pipeline.configuration |= configured
    small.pipeline.run()
    (file,) = (tmp_path / "storage" / "tables" / "default" / "numbers").glob("*.parquet")
    group = pq.ParquetFile(file).metadata.row_group(0)
    columns = {group.column(number).path_in_schema: group.column(number) for number in range(group.num_columns)}
    assert {name: "PLAIN" in column.encodings for name, column in columns.items()} == {"many": is_left, "few": False}
