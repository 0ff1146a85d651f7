"""Every kind of declaration takes effect: names in every form, descriptions, constraints, conf, hooks, sinks."""

import json
from pathlib import Path

import pytest
from deltalake import DeltaTable
from pyspark.sql import SparkSession
from tests.support.small_pipeline import SmallPipeline

from dlt_local import UpdateFailed
from dlt_local.delta import delta_log
from dlt_local.observability.progress import Silent

ROWS = 'spark.readStream.schema("id INT, name STRING, at TIMESTAMP").json(spark.conf.get("rows"))'
TWO = ({"id": 1, "name": "a", "at": "2026-01-01T10:00:00Z"}, {"id": 2, "name": "b", "at": "2026-01-02T10:00:00Z"})


class Notices(Silent):
    """Keeps what an update shows."""

    def __init__(self) -> None:
        self.given: list[str] = []

        self.planned: list[tuple[str, int]] = []

    def notice(self, text: str) -> None:
        self.given.append(text)

    def planning(self, title: str, datasets: int) -> None:
        self.planned.append((title, datasets))


def published(small: SmallPipeline, name: str) -> DeltaTable:
    """A table as any other Delta reader sees it."""
    return DeltaTable(str(small.pipeline.storage.root / "tables" / name.replace(".", "/")))


def test_a_dataset_is_read_by_each_of_its_names(spark: SparkSession, tmp_path: Path) -> None:
    small = SmallPipeline(
        tmp_path,
        spark,
        f"""
        import dlt

        @dlt.table(name="silver.orders")
        def orders():
            return {ROWS}.drop("at")

        @dlt.view
        def few():
            return dlt.read("LIVE.orders_too").where("id < 2")

        @dlt.table
        def orders_too():
            return spark.readStream.table("main.silver.orders")

        @dlt.table
        def by_live():
            return spark.sql("SELECT f.id, o.name FROM LIVE.few AS f JOIN LIVE.orders_too AS o USING (id)")

        @dlt.table
        def by_live_stream():
            return spark.readStream.table("LIVE.orders_too")

        @dlt.table
        def by_read_stream():
            return dlt.read_stream("live.orders_too")

        @dlt.table
        def by_table():
            return spark.table("SILVER.Orders").join(spark.table("main.silver.orders").select("id"), "id")

        @dlt.table
        def by_sql_stream():
            return spark.sql("SELECT * FROM STREAM(LIVE.orders_too)")

        @dlt.table
        def by_read():
            return spark.read.table("LIVE.few")
        """,
    )
    small.drop(*({k: row[k] for k in ("id", "name")} for row in TWO))
    update = small.pipeline.run()
    both = [{"id": 1, "name": "a"}, {"id": 2, "name": "b"}]
    for name in ("by_live_stream", "by_read_stream", "by_table", "by_sql_stream"):
        assert small.table(name) == both, name
    assert small.table("by_live") == small.table("by_read") == both[:1]
    inputs = {node.name: [str(name) for name in node.inputs] for node in update.graph.tables}
    assert inputs["default.by_live"] == ["default.orders_too"]
    assert inputs["default.by_table"] == ["silver.orders"]
    again = small.pipeline.run()
    assert {dataset.state for dataset in again.datasets if dataset.name.startswith("default.by_")} == {"IDLE"}


def test_table_declarations_reach_delta(spark: SparkSession, tmp_path: Path) -> None:
    small = SmallPipeline(
        tmp_path,
        spark,
        f"""
        import dlt
        from pyspark.sql.functions import col

        SCHEMA = '''
            id INT NOT NULL COMMENT 'the key',
            name STRING,
            at TIMESTAMP,
            day DATE GENERATED ALWAYS AS (CAST(at AS DATE)),
            CONSTRAINT named CHECK (name <> ''),
            CONSTRAINT pk PRIMARY KEY (id)
        '''

        @dlt.table(
            comment="First words",
            table_properties={{"quality": "silver", "delta.appendOnly": "true"}},
            partition_cols=["day"],
            schema=SCHEMA,
            path="/elsewhere",
        )
        @dlt.expect("early", col("at") < "2026-01-02")
        def people():
            return {ROWS}

        @dlt.table(cluster_by=["id"], schema="id INT COMMENT 'kept', n BIGINT")
        def counted():
            return spark.read.table("people").groupBy("id").agg({{"*": "count"}}).toDF("id", "n")

        @dlt.table(spark_conf={{"own.setting": "seen"}})
        def configured():
            return spark.range(1).selectExpr("'" + spark.conf.get("own.setting", "default") + "' AS setting")
        """,
    )
    small.drop(*TWO)
    update = small.pipeline.run()
    people = published(small, "default.people")
    assert people.metadata().description == "First words"
    assert people.metadata().partition_columns == ["day"]
    configuration = people.metadata().configuration
    assert (configuration["quality"], configuration["delta.constraints.named"]) == ("silver", "name <> ''")
    key = json.loads(people.schema().to_json())["fields"][0]
    assert (key["nullable"], key["metadata"]["comment"]) == (False, "the key")
    assert [str(row["day"]) for row in small.table("people")] == ["2026-01-01", "2026-01-02"]
    assert update["default.people"].flows["default.people"].failed == {"early": 1}
    assert small.table("configured") == [{"setting": "seen"}]

    notices = [row.message for row in small.pipeline.event_log().where("level = 'WARN'").collect()]
    assert sum("`path` has no effect" in notice for notice in notices) == 1
    assert sum("`pk` of default.people is informational" in notice for notice in notices) == 1

    small.write(small.file.read_text().replace("First words", "It's new").replace('"silver"', '"gold"'))
    small.drop({"id": 3, "name": "c", "at": "2026-01-02T10:00:00Z"})
    small.pipeline.run()
    people = published(small, "default.people")
    assert people.metadata().description == "It's new"
    assert people.metadata().configuration["quality"] == "gold"
    counted = json.loads(published(small, "default.counted").schema().to_json())["fields"]
    assert counted[0]["metadata"]["comment"] == "kept"
    assert len(small.table("counted")) == 3

    small.write(small.file.read_text().replace('["day"]', '["name"]'))
    with pytest.raises(UpdateFailed, match=r"PARTITIONING_CHANGED(.|\n)*by day, .* by name(.|\n)*--rebuild"):
        small.pipeline.run()
    small.pipeline.run(rebuild=["people"])
    assert published(small, "default.people").metadata().partition_columns == ["name"]


def test_a_batch_that_violates_a_declared_constraint_fails(spark: SparkSession, tmp_path: Path) -> None:
    small = SmallPipeline(
        tmp_path,
        spark,
        f"""
        from pyspark import pipelines as dp

        dp.create_streaming_table("strict", schema="id INT NOT NULL, name STRING")

        @dp.append_flow(target="strict")
        def all_rows():
            return {ROWS}.select("id", "name")
        """,
    )
    small.drop({"id": None, "name": "a"})
    with pytest.raises(
        UpdateFailed, match=r"FLOW_FAILED(.|\n)*`all_rows` .*NOT NULL constraint violated for column: id"
    ):
        small.pipeline.run()
    assert small.table("strict") == []


def test_sinks_and_event_hooks(spark: SparkSession, tmp_path: Path) -> None:
    small = SmallPipeline(
        tmp_path,
        spark,
        f"""
        from pyspark import pipelines as dp

        dp.create_sink("outside", "delta", {{"path": "{tmp_path}/outside"}})

        dp.create_sink("named", "delta", {{"tableName": "main.outside.ids"}})

        @dp.append_flow(target="named")
        def to_named():
            return {ROWS}.select("id")

        @dp.foreach_batch_sink(name="files")
        def files(df, batch_id):
            df.write.mode("overwrite").json(f"{tmp_path}/batches/{{batch_id}}")

        @dp.append_flow(target="outside")
        def to_delta():
            return {ROWS}.select("id")

        @dp.append_flow(target="files")
        def to_files():
            return {ROWS}.select("id")

        @dp.on_event_hook
        def listen(event):
            with open("{tmp_path}/heard", "a") as heard:
                heard.write(event["event_type"] + "\\n")
            if event["event_type"] == "update_progress" and event["details"]["update_progress"]["state"] == "COMPLETED":
                raise ValueError("not mine")

        @dp.on_event_hook(max_allowable_consecutive_failures=2)
        def faulty(event):
            raise KeyError(spark.conf.get("a.secret.password"))
        """,
    )
    small.pipeline.configuration["a.secret.password"] = "hunter2!"
    shown = Notices()
    small.pipeline.progress = shown
    small.drop(*TWO)
    update = small.pipeline.run()
    assert update["files"].flows["to_files"].num_output_rows == 2
    assert spark.read.format("delta").load(f"{tmp_path}/outside").count() == 2
    assert spark.read.json(f"{tmp_path}/batches/0").count() == 2
    assert len(small.table("outside.ids")) == 2
    heard = (tmp_path / "heard").read_text().split()
    assert heard.count("flow_progress") == 3 and heard[-1] == "update_progress"
    place = f"{small.file}:"
    events = small.pipeline.event_log().where("event_type = 'hook_progress'").collect()
    assert [json.loads(event.details)["hook_progress"] for event in events] == [
        {"name": "faulty", "status": "FAILED", "num_consecutive_failures": 1},
        {"name": "faulty", "status": "DISABLED", "num_consecutive_failures": 2},
        {"name": "listen", "status": "FAILED", "num_consecutive_failures": 1},
    ]
    told = [line.partition(place)[0] for line in shown.given if "hook" in line]
    assert told == [event.message.partition(place)[0] for event in events]
    assert told[0].startswith("Event hook 'faulty' failed: KeyError: ") and "hunter2!" not in "".join(told)
    assert told[2] == "Event hook 'listen' failed: ValueError: not mine ("
    assert "it is not called again, after 2 failures one after the other" in events[1].message


FAULTS = {
    "invalid DDL": ('@dlt.table(schema="id INTT")', "BAD_SCHEMA", "INTT"),
    "a name in place of the function": ('@dlt.table("people")', "NOT_A_FUNCTION", "@table(name=...)"),
    "another format": ('@dlt.table(format="parquet")', "FORMAT_NOT_SUPPORTED", "leave `format` out"),
    "expectation": ('@dlt.table\n@dlt.expect("x", 3)', "EXPECTATION_NOT_A_CONDITION", "got 3"),
    "refused function": ('@dlt.update_flow(target="x")', "NOT_SUPPORTED_LOCALLY", "create_auto_cdc_flow"),
}


def test_a_faulty_declaration_is_reported_with_its_reason_and_location(spark: SparkSession, tmp_path: Path) -> None:
    small = SmallPipeline(tmp_path, spark, "")
    for number, (decorator, *_) in enumerate(FAULTS.values()):
        text = f"import dlt\n\n{decorator}\ndef t{number}():\n    return spark.range(1)\n"
        (tmp_path / f"t{number}.py").write_text(text)
    small.pipeline.sources = (str(tmp_path / "t?.py"),)
    with pytest.raises(UpdateFailed) as failed:
        small.pipeline.dry_run()
    for number, (_, condition, detail) in enumerate(FAULTS.values()):
        error = next(str(e) for e in failed.value.errors if f"t{number}.py:" in str(e))
        assert error.startswith(condition) and detail in error
        assert error.splitlines()[0].endswith((":3", ":4"))


def test_a_failing_query_is_reported_at_its_own_line(spark: SparkSession, tmp_path: Path) -> None:
    small = SmallPipeline(
        tmp_path,
        spark,
        """
        import dlt

        @dlt.table
        def divided():
            least = spark.range(3)
            return least.where(f"id > {1 / 0}")

        @dlt.table
        def misspelt():
            rows = spark.range(3)
            return rows.select("idd")
        """,
    )
    with pytest.raises(UpdateFailed) as failed:
        small.pipeline.dry_run()
    first, second = map(str, failed.value.errors)
    assert f"{small.file}:7\n" in first and "ZeroDivisionError: division by zero" in first
    assert f"{small.file}:12\n" in second and "`idd`" in second


VIEWS = """
import dlt

@dlt.table(cluster_by=["id"])
def clustered():
    return spark.range(3).selectExpr("id", "1 AS n")

@dlt.table(schema="id BIGINT COMMENT 'the key', n INT")
def described():
    return spark.range(3).selectExpr("id", "1 AS n")

@dlt.table(schema="id BIGINT NOT NULL, n INT")
def strict():
    return spark.range(3).selectExpr("id", "1 AS n")
"""


def test_the_schema_of_a_materialized_view_may_change(spark: SparkSession, tmp_path: Path) -> None:
    small = SmallPipeline(tmp_path, spark, VIEWS)
    small.pipeline.run()
    small.write(VIEWS.replace("1 AS n", "'x' AS n").replace("n INT", "n STRING"))
    with pytest.raises(UpdateFailed, match=r"SCHEMA_CHANGED  default\.strict(.|\n)*--rebuild default\.strict"):
        small.pipeline.run()
    small.pipeline.run(rebuild=["strict"])
    for name in ("clustered", "described", "strict"):
        assert {row["n"] for row in small.table(name)} == {"x"}, name
    fields = json.loads(published(small, "default.described").schema().to_json())["fields"]
    assert [field["metadata"].get("comment") for field in fields] == ["the key", None]
    small.pipeline.run()
    tables = small.pipeline.storage.root / "tables/default"
    assert delta_log.clustering_columns(tables / "clustered") == ("id",)


def test_planning_is_reported_and_is_no_notice(spark: SparkSession, tmp_path: Path) -> None:
    small = SmallPipeline(tmp_path, spark, f"import dlt\n\n@dlt.table\ndef one():\n    return {ROWS}\n")
    small.pipeline.progress = shown = Notices()
    small.pipeline.dry_run()
    assert (shown.planned, shown.given) == ([(small.pipeline.name, 1)], [])
