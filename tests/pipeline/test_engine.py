"""The engine through its public interface: declarations in a file, rows in, tables out."""

import sys
import threading
from pathlib import Path
from typing import Any

import pyspark
import pytest
from pyspark.sql import SparkSession
from tests.support.small_pipeline import SmallPipeline

from dlt_local import LocalPipeline, UpdateFailed

ROWS = 'spark.readStream.schema("id INT, name STRING").json(spark.conf.get("rows"))'


def test_a_pipeline_of_every_kind_of_dataset(spark: SparkSession, tmp_path: Path) -> None:
    small = SmallPipeline(
        tmp_path,
        spark,
        f"""
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
        """,
    )
    small.drop({"id": 1, "name": "a"}, {"id": 2, "name": "a"}, {"id": None, "name": "b"}, {"id": 3, "name": None})
    update = small.pipeline.run()
    assert update.state == "COMPLETED"
    assert small.table("gold.names") == [{"name": None, "n": 1}, {"name": "a", "n": 2}]
    assert [row["id"] for row in small.table("all_ids")] == [-1, 1, 2, 3]
    assert not (small.pipeline.storage.root / "tables/default/hidden").exists()
    assert len(small.table("hidden")) == 3

    people = update["silver.people"].flows["silver.people"]
    assert (people.num_output_rows, people.dropped_rows, people.failed) == (3, 1, {"has_id": 1, "has_name": 1})
    assert update["default.all_ids"].flows["constant"].failed == {"positive": 1}

    before = small.versions()
    again = small.pipeline.run()
    assert small.versions() == before
    assert again["gold.names"].state == "IDLE"

    small.drop({"id": 4, "name": "b"})
    small.pipeline.run()
    assert [row["id"] for row in small.table("all_ids")] == [-1, 1, 2, 3, 4]
    assert {"name": "b", "n": 1} in small.table("gold.names")


def test_the_older_names_of_dlt_work(spark: SparkSession, tmp_path: Path) -> None:
    small = SmallPipeline(
        tmp_path,
        spark,
        f"""
        import dlt
        from pyspark.sql.functions import col, expr

        @dlt.view(name="incoming")
        def rows():
            return {ROWS}

        @dlt.table
        @dlt.expect_or_drop("named", "name IS NOT NULL")
        def people():
            return dlt.read_stream("incoming")

        dlt.create_streaming_live_table("current")
        dlt.apply_changes(
            target="current",
            source="people",
            keys=["id"],
            sequence_by=col("name"),
            where="id < 10",
            stored_as_scd_type=1,
        )

        @dlt.table
        def counted():
            return dlt.read("people").groupBy().count()
        """,
    )
    small.drop({"id": 1, "name": "a"}, {"id": 1, "name": "b"}, {"id": 11, "name": "c"}, {"id": 2, "name": None})
    small.pipeline.run()
    assert small.table("current") == [{"id": 1, "name": "b"}]
    assert small.table("counted") == [{"count": 3}]


def test_expect_or_fail_rolls_back_and_stops_only_what_depends_on_it(spark: SparkSession, tmp_path: Path) -> None:
    small = SmallPipeline(
        tmp_path,
        spark,
        f"""
        from pyspark import pipelines as dp

        @dp.table
        @dp.expect_or_fail("positive", "id > 0")
        def strict():
            return {ROWS}

        @dp.table
        def behind():
            return spark.readStream.table("strict")

        @dp.table
        def beside():
            return {ROWS}
        """,
    )
    small.drop({"id": 1, "name": "a"}, {"id": -7, "name": "bad"})
    with pytest.raises(UpdateFailed, match=r"expectation `positive` \(id > 0\).*-7") as failed:
        small.pipeline.run()
    update = failed.value.update
    assert update is not None
    states = {dataset.name: dataset.state for dataset in update.datasets}
    assert states == {"default.strict": "FAILED", "default.behind": "SKIPPED", "default.beside": "COMPLETED"}
    assert small.table("strict") == []
    assert len(small.table("beside")) == 2

    small.write(small.file.read_text().replace('"id > 0"', '"id > -10"'))
    small.pipeline.run()
    assert len(small.table("strict")) == len(small.table("behind")) == 2


FAULTS = {
    "near match": ('spark.read.table("silver.order")', "DATASET_NOT_FOUND", "did you mean `silver.orders`"),
    "circle": ('spark.read.table("loop")', "CIRCULAR_DEPENDENCY", "default.loop <- default.loop"),
    "column": ('spark.read.table("silver.orders").select("nam")', "QUERY_FAILED", "nam"),
    "stream of a view": ('spark.readStream.table("total")', "STREAMING_READ_OF_CHANGING_TABLE", "materialized view"),
}


@pytest.mark.parametrize(("query", "condition", "told"), FAULTS.values(), ids=list(FAULTS))
def test_a_faulty_graph_is_refused_before_anything_is_written(
    query: str, condition: str, told: str, spark: SparkSession, tmp_path: Path
) -> None:
    small = SmallPipeline(
        tmp_path,
        spark,
        f"""
        from pyspark import pipelines as dp

        @dp.table(name="silver.orders")
        def orders():
            return {ROWS}

        @dp.materialized_view
        def total():
            return spark.read.table("silver.orders").groupBy().count()

        @dp.table
        def loop():
            return {query}

        @dp.table(name="Silver.ORDERS")
        def twice():
            return {ROWS}
        """,
    )
    with pytest.raises(UpdateFailed) as failed:
        small.pipeline.run()
    message = str(failed.value)
    assert len(failed.value.errors) == 2
    assert condition in message
    assert told in message
    assert "DUPLICATE_DATASET" in message
    assert f"{small.file}:" in message
    assert not (small.pipeline.storage.root / "tables").exists()


CDC_FAULTS = {
    "keys=[]": "AUTOCDC_EMPTY_KEYS",
    "stored_as_scd_type='bitemporal'": "AUTOCDC_BITEMPORAL_NOT_SUPPORTED",
    "stored_as_scd_type=3": "AUTOCDC_UNKNOWN_SCD_TYPE",
    "column_list=['id'], except_column_list=['name']": "AUTOCDC_BOTH_COLUMN_LIST_AND_EXCEPT_COLUMN_LIST",
    "keys=['nid']": "did you mean `id`",
    "keys=['a.id']": "AUTOCDC_MULTIPART_COLUMN_IDENTIFIER",
    "column_list=['name']": "AUTOCDC_KEY_NOT_IN_SELECTED_SCHEMA",
    "sequence_by='nothing'": "AUTOCDC_COLUMNS_NOT_FOUND_IN_SCHEMA",
    "stored_as_scd_type=2, apply_as_truncates='id = 0'": "AUTOCDC_TRUNCATE_NOT_SUPPORTED_FOR_SCD2",
    "ignore_null_updates=True, columns_to_update='name'": "AUTOCDC_BOTH_COLUMNS_TO_UPDATE_AND_IGNORE_NULL_UPDATES",
    "target='elsewhere'": "TARGET_NOT_FOUND",
}


def test_what_auto_cdc_refuses_is_refused_with_its_name_and_place(spark: SparkSession, tmp_path: Path) -> None:
    for number, (arguments, told) in enumerate(CDC_FAULTS.items()):
        defaults = {"target": "'t'", "source": "'incoming'", "keys": "['id']", "sequence_by": "'name'"}
        given = [part.split("=")[0].strip() for part in arguments.split(", ")]
        rest = ", ".join(f"{name}={value}" for name, value in defaults.items() if name not in given)
        small = SmallPipeline(
            tmp_path / str(number),
            spark,
            f"""
            from pyspark import pipelines as dp

            @dp.table
            def incoming():
                return {ROWS}

            dp.create_streaming_table("t")
            dp.create_auto_cdc_flow({arguments}, {rest})
            """,
        )
        with pytest.raises(UpdateFailed) as failed:
            small.pipeline.dry_run()
        assert told in str(failed.value), arguments
        assert f"{small.file}:9" in str(failed.value) or "elsewhere" in arguments, arguments


def test_full_and_selective_refresh(spark: SparkSession, tmp_path: Path) -> None:
    small = SmallPipeline(
        tmp_path,
        spark,
        f"""
        from pyspark import pipelines as dp

        @dp.table(table_properties={{"pipelines.reset.allowed": "false"}})
        def raw():
            return {ROWS}

        @dp.table
        def one():
            return spark.readStream.table("raw").withColumn("version", dp_version)

        @dp.table
        def two():
            return spark.readStream.table("raw")
        """.replace("dp_version", "__import__('pyspark').sql.functions.lit(1)"),
    )
    small.drop({"id": 1, "name": "a"})
    small.pipeline.run()
    small.drop({"id": 2, "name": "b"})
    small.pipeline.run(refresh=["raw", "one"])
    assert (len(small.table("one")), len(small.table("two"))) == (2, 1)

    small.write(small.file.read_text().replace("lit(1)", "lit(2)"))
    small.pipeline.run(full_refresh=["one"])
    assert [row["version"] for row in small.table("one")] == [2, 2]
    with pytest.raises(UpdateFailed, match="RESET_NOT_ALLOWED"):
        small.pipeline.run(full_refresh=["raw"])
    small.pipeline.run(full_refresh_all=True)
    assert [len(small.table(name)) for name in ("raw", "one", "two")] == [2, 2, 2]


def test_a_view_follows_a_table_that_is_built_anew_up_to_the_same_version(spark: SparkSession, tmp_path: Path) -> None:
    source = f"""
        from pyspark import pipelines as dp

        @dp.table
        def raw():
            return {ROWS}.where("id > 0")

        @dp.materialized_view
        def copied():
            return spark.read.table("raw")
        """
    small = SmallPipeline(tmp_path, spark, source)
    small.drop({"id": 1, "name": "a"}, {"id": 2, "name": "b"})
    small.pipeline.run()
    before = small.versions()["default/raw"]
    small.write(source.replace("id > 0", "id > 1"))
    small.pipeline.run(full_refresh=["raw"])
    assert small.versions()["default/raw"] == before
    small.pipeline.run()
    assert [row["id"] for row in small.table("copied")] == [2]


def test_a_deleted_checkpoint_is_told_and_not_passed_over(spark: SparkSession, tmp_path: Path) -> None:
    import shutil

    small = SmallPipeline(tmp_path, spark, f"import dlt\n\n@dlt.table\ndef raw():\n    return {ROWS}\n")
    small.drop({"id": 1, "name": "a"})
    small.pipeline.run()
    shutil.rmtree(small.pipeline.storage.checkpoints("default.raw"))
    with pytest.raises(UpdateFailed, match=r"CHECKPOINT_MISSING(.|\n)*--full-refresh default\.raw"):
        small.pipeline.run()
    assert len(small.table("raw")) == 1


def test_loading_leaves_the_process_as_it_was(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "root").mkdir()
    (tmp_path / "root/shared_by_files.py").write_text("import dlt\n\ndef name():\n    return dlt.__name__\n")
    source = (
        f"import shared_by_files\nimport dlt\n\n@dlt.table(name=shared_by_files.name())\ndef t():\n    return {ROWS}\n"
    )
    small = SmallPipeline(tmp_path, spark, source)
    small.pipeline.root_path = tmp_path / "root"
    modules, path, conf = dict(sys.modules), list(sys.path), dict(spark.conf.getAll)
    had = hasattr(pyspark, "pipelines")
    databases = [database.name for database in spark.catalog.listDatabases()]
    graph = small.pipeline.dry_run()
    assert [node.name for node in graph.nodes] == ["default.dlt"]
    assert {name for name in sys.modules if name not in modules} <= {"pyspark.pipelines"} - {"pyspark.pipelines"}
    assert (sys.path, dict(spark.conf.getAll), hasattr(pyspark, "pipelines")) == (path, conf, had)
    assert [database.name for database in spark.catalog.listDatabases()] == databases


def test_two_pipelines_at_once_do_not_mix_and_one_storage_takes_one_update(spark: SparkSession, tmp_path: Path) -> None:
    source = f"import dlt\n\n@dlt.table\ndef same():\n    return {ROWS}\n"
    both = [SmallPipeline(tmp_path / name, spark, source) for name in ("a", "b")]
    for number, small in enumerate(both):
        small.drop({"id": number, "name": "x"})
    failures: list[Any] = []

    def run(pipeline: LocalPipeline) -> None:
        try:
            pipeline.run()
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=run, args=(small.pipeline,)) for small in both]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert [small.table("same")[0]["id"] for small in both] == [0, 1]

    with both[0].pipeline.storage.locked(), pytest.raises(Exception, match="in use by process"):
        both[0].pipeline.run()


def test_the_event_log_answers_the_usual_data_quality_query(spark: SparkSession, tmp_path: Path) -> None:
    small = SmallPipeline(
        tmp_path,
        spark,
        f"""
        import dlt

        @dlt.table
        @dlt.expect("named", "name IS NOT NULL")
        def people():
            return {ROWS}
        """,
    )
    small.drop({"id": 1, "name": "a"}, {"id": 2, "name": None})
    small.pipeline.run()
    small.pipeline.event_log().createOrReplaceTempView("event_log_raw")
    found = spark.sql(
        """
        SELECT expectation.name, expectation.dataset, sum(expectation.passed_records) AS passed,
               sum(expectation.failed_records) AS failed
        FROM (
            SELECT explode(from_json(details:flow_progress:data_quality:expectations,
                'array<struct<name:string, dataset:string, passed_records:int, failed_records:int>>')) AS expectation
            FROM event_log_raw WHERE event_type = 'flow_progress')
        GROUP BY expectation.name, expectation.dataset
        """.replace("details:flow_progress:data_quality:expectations", _JSON_PATH)
    )
    assert [tuple(row) for row in found.collect()] == [("named", "default.people", 1, 1)]


# Databricks' `:` operator is its own; open-source Spark spells it so.
_JSON_PATH = "get_json_object(details, '$.flow_progress.data_quality.expectations')"
