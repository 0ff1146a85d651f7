"""Maintenance compacts small files and removes old ones; no row changes, and no downstream dataset has to run."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.support.delta_history import commits
from tests.support.small_pipeline import SmallPipeline

from dlt_local.delta import delta_log, maintenance

_SOURCE = """
    from pyspark import pipelines as dp

    folder = spark.conf.get("rows")

    @dp.table(table_properties={"delta.deletedFileRetentionDuration": "interval 0 seconds"})
    def events():
        return spark.readStream.schema("id int, at int").json(folder)

    @dp.table(table_properties={"pipelines.autoOptimize.managed": "false"})
    def left_alone():
        return spark.readStream.schema("id int, at int").json(folder)

    @dp.table
    def followers():
        return spark.readStream.table("events")

    @dp.materialized_view
    def counted():
        return spark.read.table("events").groupBy("id").count()

    dp.create_streaming_table("current")
    dp.create_auto_cdc_flow(target="current", source="events", keys=["id"], sequence_by="at")
"""
_MANY = 3


@pytest.fixture(scope="module")
def maintained(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SmallPipeline]:
    """A pipeline after enough updates for an OPTIMIZE."""
    small = SmallPipeline(tmp_path_factory.mktemp("maintained"), spark, _SOURCE)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(maintenance, "MANY_FILES", _MANY)
        for number in range(_MANY):
            small.drop({"id": number, "at": number}, {"id": 0, "at": 10 + number})
            small.pipeline.run()
        yield small


def _path(small: SmallPipeline, name: str) -> Path:
    return small.folder / "storage" / "tables" / "default" / name


def _data_files(table: Path) -> int:
    return len(list(table.glob("*.parquet")))


def test_small_files_are_compacted(maintained: SmallPipeline) -> None:
    assert delta_log.file_count(_path(maintained, "events")) == 1
    assert delta_log.file_count(_path(maintained, "left_alone")) == _MANY
    assert len(maintained.table("events")) == 2 * _MANY
    events = maintained.pipeline.event_log().where("event_type = 'maintenance_progress'").collect()
    assert ["OPTIMIZE of default.events: 3 files, now 1."] == [
        row["message"] for row in events if row["origin"]["dataset_name"] == "default.events"
    ]
    assert {json.loads(row["details"])["maintenance_progress"]["operation"] for row in events} == {"OPTIMIZE"}


def test_readers_of_an_optimized_table_are_idle(maintained: SmallPipeline) -> None:
    before = maintained.versions()
    update = maintained.pipeline.run()
    assert [each.state for each in update.datasets] == ["IDLE"] * len(update.datasets)
    assert maintained.versions() == before


def test_updates_go_on_after_an_optimize(maintained: SmallPipeline) -> None:
    maintained.drop({"id": 1, "at": 99})
    maintained.pipeline.run()
    assert len(maintained.table("followers")) == len(maintained.table("events")) == 2 * _MANY + 1
    assert {row["id"]: row["count"] for row in maintained.table("counted")}[1] == 2
    assert {row["id"]: row["at"] for row in maintained.table("current")}[1] == 99


def test_unreferenced_files_are_removed_a_day_later(maintained: SmallPipeline, spark: SparkSession) -> None:
    path, mark = _path(maintained, "events"), maintained.pipeline.storage.maintenance("default.events")
    table = maintenance.Table("default.events", path, {})
    rows, files = maintained.table("events"), _data_files(path)
    assert list(maintenance.keep_in_shape(spark, table, mark)) == []
    tomorrow = datetime.now(UTC) + timedelta(days=1)
    assert [done.operation for done in maintenance.keep_in_shape(spark, table, mark, tomorrow)] == ["VACUUM"]
    assert _data_files(path) < files
    assert maintained.table("events") == rows
    assert list(maintenance.keep_in_shape(spark, table, mark, tomorrow)) == []


def test_a_table_is_sorted_by_its_z_order_columns(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "table"
    spark.range(0, 100, 1, 4).write.format("delta").save(str(path))
    table = maintenance.Table("sorted", path, {maintenance.SORTED_BY: "id"})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(maintenance, "MANY_FILES", 2)
        done = list(maintenance.keep_in_shape(spark, table, tmp_path / "mark.json"))
    assert [(each.operation, each.files_after) for each in done] == [("OPTIMIZE", 1)]
    assert json.loads(commits(path)[-1]["operationParameters"]["zOrderBy"]) == ["id"]
