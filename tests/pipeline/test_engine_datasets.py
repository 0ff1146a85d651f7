"""One pipeline with every kind of dataset, through updates with new rows, with none, and with one more."""

from dataclasses import dataclass
from typing import Any

import pytest
from pyspark.sql import SparkSession
from tests.support.small_pipeline import ROWS, SmallPipeline

from dlt_local import Update

PIPELINE = f"""
    from pyspark import pipelines as dp

    @dp.materialized_view(name="gold.names")
    def names():
        return spark.sql("SELECT name, count(*) AS n FROM silver.people GROUP BY name")

    @dp.table(name="silver.people", comment="People")
    @dp.expect_all_or_drop({{"has_id": "id IS NOT NULL"}})
    @dp.expect("has_name", "name IS NOT NULL")
    def people():
        return spark.readStream.table("incoming")

    @dp.temporary_view
    def incoming():
        return {ROWS}

    dp.create_streaming_table("all_ids", expect_all={{"positive": "id > 0"}})

    @dp.append_flow(target="all_ids", name="first")
    def first():
        return spark.readStream.table("silver.people").select("id")

    @dp.append_flow(target="all_ids", name="constant", once=True)
    def constant():
        return spark.range(1).selectExpr("CAST(-1 AS INT) AS id")

    @dp.table(private=True)
    def hidden():
        return spark.readStream.table("silver.people")
    """
TABLES = ("gold.names", "all_ids", "hidden")


@dataclass(frozen=True)
class After:
    """An update, and what the pipeline held when it had ended."""

    update: Update
    tables: dict[str, list[dict[str, Any]]]
    versions: dict[str, int]

    def ids(self, table: str) -> list[int]:
        """The ids in a table."""
        return [row["id"] for row in self.tables[table]]


@dataclass(frozen=True)
class Run:
    """The updates with four rows, with none and with one more."""

    small: SmallPipeline
    first: After
    idle: After
    last: After


@pytest.fixture(scope="module")
def run(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Run:
    small = SmallPipeline(tmp_path_factory.mktemp("datasets"), spark, PIPELINE)

    def update() -> After:
        return After(small.pipeline.run(), {name: small.table(name) for name in TABLES}, small.versions())

    small.drop({"id": 1, "name": "a"}, {"id": 2, "name": "a"}, {"id": None, "name": "b"}, {"id": 3, "name": None})
    first, idle = update(), update()
    small.drop({"id": 4, "name": "b"})
    return Run(small, first, idle, update())


def test_a_view_aggregates_the_table_that_it_reads(run: Run) -> None:
    assert run.first.update.state == "COMPLETED"
    assert run.first.tables["gold.names"] == [{"name": None, "n": 1}, {"name": "a", "n": 2}]


def test_two_flows_append_to_one_table(run: Run) -> None:
    assert run.first.ids("all_ids") == [-1, 1, 2, 3]


def test_a_private_table_is_readable_and_not_published(run: Run) -> None:
    assert len(run.first.tables["hidden"]) == 3
    assert not (run.small.pipeline.storage.root / "tables/default/hidden").exists()


def test_rows_that_fail_an_expectation_are_counted(run: Run) -> None:
    people = run.first.update["silver.people"].flows["silver.people"]
    assert (people.num_output_rows, people.dropped_rows, people.failed) == (3, 1, {"has_id": 1, "has_name": 1})
    assert run.first.update["default.all_ids"].flows["constant"].failed == {"positive": 1}


def test_an_update_without_new_rows_writes_nothing(run: Run) -> None:
    assert run.idle.versions == run.first.versions
    assert run.idle.update["gold.names"].state == "IDLE"


def test_a_new_row_reaches_every_table_and_a_flow_declared_once_does_not_run_again(run: Run) -> None:
    assert run.last.ids("all_ids") == [-1, 1, 2, 3, 4]
    assert {"name": "b", "n": 1} in run.last.tables["gold.names"]
