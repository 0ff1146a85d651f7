"""Maintenance: many small files become few, old ones go, nothing else changes, and nobody downstream has work by it."""

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
def kept(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SmallPipeline]:
    """A pipeline after as many updates as make maintenance due."""
    small = SmallPipeline(tmp_path_factory.mktemp("kept"), spark, _SOURCE)
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


def test_small_files_are_put_together(kept: SmallPipeline) -> None:
    assert delta_log.file_count(_path(kept, "events")) == 1
    assert delta_log.file_count(_path(kept, "left_alone")) == _MANY
    assert len(kept.table("events")) == 2 * _MANY
    told = kept.pipeline.event_log().where("event_type = 'maintenance_progress'").collect()
    assert ["OPTIMIZE of default.events: 3 files, now 1."] == [
        row["message"] for row in told if row["origin"]["dataset_name"] == "default.events"
    ]
    assert {json.loads(row["details"])["maintenance_progress"]["operation"] for row in told} == {"OPTIMIZE"}


def test_what_reads_an_optimized_table_has_nothing_to_do(kept: SmallPipeline) -> None:
    before = kept.versions()
    update = kept.pipeline.run()
    assert [each.state for each in update.datasets] == ["IDLE"] * len(update.datasets)
    assert kept.versions() == before


def test_changes_go_on_after_it(kept: SmallPipeline) -> None:
    kept.drop({"id": 1, "at": 99})
    kept.pipeline.run()
    assert len(kept.table("followers")) == len(kept.table("events")) == 2 * _MANY + 1
    assert {row["id"]: row["count"] for row in kept.table("counted")}[1] == 2
    assert {row["id"]: row["at"] for row in kept.table("current")}[1] == 99


def test_files_that_no_version_needs_go_a_day_later(kept: SmallPipeline, spark: SparkSession) -> None:
    path, mark = _path(kept, "events"), kept.pipeline.storage.maintenance("default.events")
    table = maintenance.Table("default.events", path, {})
    rows, files = kept.table("events"), _data_files(path)
    assert list(maintenance.keep_in_shape(spark, table, mark)) == []
    tomorrow = datetime.now(UTC) + timedelta(days=1)
    assert [done.operation for done in maintenance.keep_in_shape(spark, table, mark, tomorrow)] == ["VACUUM"]
    assert _data_files(path) < files
    assert kept.table("events") == rows
    assert list(maintenance.keep_in_shape(spark, table, mark, tomorrow)) == []


def test_columns_to_sort_by(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "table"
    spark.range(0, 100, 1, 4).write.format("delta").save(str(path))
    table = maintenance.Table("sorted", path, {maintenance.SORTED_BY: "id"})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(maintenance, "MANY_FILES", 2)
        done = list(maintenance.keep_in_shape(spark, table, tmp_path / "mark.json"))
    assert [(each.operation, each.files_after) for each in done] == [("OPTIMIZE", 1)]
    assert json.loads(commits(path)[-1]["operationParameters"]["zOrderBy"]) == ["id"]
