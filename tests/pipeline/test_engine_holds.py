"""What must hold across updates: idle flows, removed datasets, changed queries, damaged checkpoints, kills, secrets."""

import json
import shutil
import time
import traceback
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.support.crash import die_at
from tests.support.small_pipeline import SmallPipeline

from dlt_local import LocalPipeline, UpdateFailed
from dlt_local.errors import FlowError

ROWS = 'spark.readStream.schema("id INT, name STRING").json(spark.conf.get("rows"))'


def jobs(spark: SparkSession) -> int:
    """Spark jobs that this process has run."""
    return int(spark.sparkContext._jsc.sc().dagScheduler().numTotalJobs())


def many(count: int) -> str:
    """``count`` times: a stream from files, one from a table, a materialized view, an AUTO CDC target."""
    return f"""
        import dlt

        def declare(number):
            @dlt.table(name=f"raw_{{number}}")
            def raw():
                return {ROWS}

            @dlt.table(name=f"copy_{{number}}")
            def copy():
                return spark.readStream.table(f"raw_{{number}}")

            @dlt.table(name=f"total_{{number}}")
            def total():
                return spark.read.table(f"copy_{{number}}").groupBy().count()

            dlt.create_streaming_table(f"latest_{{number}}")
            dlt.apply_changes(target=f"latest_{{number}}", source=f"raw_{{number}}", keys=["id"], sequence_by="name")

        for number in range({count}):
            declare(number)
    """


def test_an_append_of_new_rows_has_delta_compute_no_state_of_its_table(spark: SparkSession, tmp_path: Path) -> None:
    source = f"""
        import dlt

        @dlt.table
        def raw():
            return {ROWS}

        @dlt.table
        def copy():
            return spark.readStream.table("raw")
    """
    small = SmallPipeline(tmp_path, spark, source)
    used = []
    for number in range(4):
        small.drop({"id": number, "name": "a"})
        before = jobs(spark)
        small.pipeline.run()
        used.append(jobs(spark) - before)
    # One job writes each table's rows, and none reads its log.
    assert used[2:] == [2, 2]
    assert small.pipeline.table("copy").count() == 4


def test_a_configuration_that_has_changed_counts_in_the_next_update(spark: SparkSession, tmp_path: Path) -> None:
    source = """
        import dlt

        @dlt.table
        def greeting():
            words = [spark.conf.get(key, "none") for key in ("word", "another", "spark.sql.session.timeZone")]
            return spark.createDataFrame([words], "word STRING, another STRING, zone STRING")
    """
    small = SmallPipeline(tmp_path, spark, source)
    small.pipeline.configuration |= {"word": "hello", "spark.sql.session.timeZone": "Asia/Tokyo"}
    small.pipeline.run()
    assert small.table("greeting") == [{"word": "hello", "another": "none", "zone": "Asia/Tokyo"}]
    small.pipeline.configuration["another"] = "goodbye"
    del small.pipeline.configuration["word"], small.pipeline.configuration["spark.sql.session.timeZone"]
    small.pipeline.run()
    assert small.table("greeting") == [{"word": "none", "another": "goodbye", "zone": "UTC"}]


def test_an_idle_flow_starts_no_spark_job_and_is_logged_as_idle(spark: SparkSession, tmp_path: Path) -> None:
    small = SmallPipeline(tmp_path, spark, many(1))
    small.drop({"id": 1, "name": "a"})
    small.pipeline.run()
    used = []
    for wanted in (["raw_0"], []):
        before = jobs(spark)
        idle = small.pipeline.run(refresh=wanted)
        used.append(jobs(spark) - before)
        assert {dataset.state for dataset in idle.datasets} == {"IDLE"}
    assert len(idle.datasets) == 4 and used == [0, 0]
    last = small.pipeline.event_log().where(f"origin.update_id = '{idle.id}'").collect()
    messages = [row.message for row in last if row.event_type == "flow_progress"]
    assert len(messages) == 4 and all("IDLE" in message for message in messages)


@pytest.mark.parametrize("path", ["rows", "ro*", "file:rows"])
def test_a_stream_of_files_is_idle_until_one_comes(spark: SparkSession, tmp_path: Path, path: str) -> None:
    folder = tmp_path / "rows"
    folder.mkdir()
    (folder / "a.json").write_text('{"id": 1}')
    place = f"file:{tmp_path}/rows" if path.startswith("file:") else f"{tmp_path}/{path}"
    source = f"""
        from pyspark import pipelines as dp

        @dp.table
        def raw():
            return spark.readStream.schema("id INT").json({place!r})
    """
    pipeline = SmallPipeline(tmp_path, spark, source).pipeline
    pipeline.run()
    assert pipeline.run().datasets[0].is_idle
    (folder / "b.json").write_text('{"id": 2}')
    assert not pipeline.run().datasets[0].is_idle
    assert sorted(row["id"] for row in pipeline.table("raw").collect()) == [1, 2]


def test_planning_time_grows_with_the_number_of_datasets_and_no_faster(spark: SparkSession, tmp_path: Path) -> None:
    seconds = {}
    for count in (2, 5, 25):
        small = SmallPipeline(tmp_path / str(count), spark, many(count))
        began = time.monotonic()
        assert len(small.pipeline.dry_run().nodes) == 4 * count
        seconds[4 * count] = time.monotonic() - began
    # The first warms up the JVM. Five times the datasets may take eight times as long, not twenty-five.
    assert seconds[100] < 8 * seconds[20] + 2, seconds


def test_a_dataset_no_longer_declared_keeps_its_data_and_is_logged_as_inactive(
    spark: SparkSession, tmp_path: Path
) -> None:
    both = f"import dlt\n\n@dlt.table\ndef kept():\n    return {ROWS}\n\n@dlt.table\ndef gone():\n    return {ROWS}\n"
    small = SmallPipeline(tmp_path, spark, both)
    small.drop({"id": 1, "name": "a"})
    small.pipeline.run()
    small.write(both.rpartition("@dlt.table")[0])
    small.drop({"id": 2, "name": "b"})
    small.pipeline.run()
    assert [len(small.table(name)) for name in ("kept", "gone")] == [2, 1]
    inactive = small.pipeline.event_log().where("message LIKE '%inactive%'").collect()
    assert [row.message for row in inactive] == [
        "Dataset default.gone is no longer declared: it is inactive and keeps its data."
    ]
    assert json.loads(inactive[0].details)["dataset_definition"]["state"] == "INACTIVE"
    small.write(both)
    small.pipeline.run()
    assert len(small.table("gone")) == 2, "it continues where it had stopped"


def test_a_changed_query_makes_new_rows_and_a_notice_about_the_old_ones(spark: SparkSession, tmp_path: Path) -> None:
    source = f"""
        import dlt

        @dlt.table
        def people():
            return {ROWS}.select("id")

        @dlt.table
        def total():
            return spark.read.table("people").agg({{"id": "count"}}).toDF("n")
    """
    small = SmallPipeline(tmp_path, spark, source)
    small.drop({"id": 1, "name": "a"})
    assert small.pipeline.run().graph.notices == ()
    small.write(source.replace('select("id")', 'select("id", "name")').replace('"count"', '"sum"'))
    small.drop({"id": 2, "name": "b"})
    small.pipeline.run()
    assert small.table("people") == [{"id": 1, "name": None}, {"id": 2, "name": "b"}]
    assert small.table("total") == [{"n": 3}]
    (notice,) = [row.message for row in small.pipeline.event_log().where("level = 'WARN'").collect()]
    assert "`default.people` has changed" in notice and "--rebuild default.people" in notice
    small.write(source.replace('select("id")', 'selectExpr("CAST(id AS STRING) AS id")'))
    with pytest.raises(UpdateFailed, match=r"CANNOT_MERGE_INCOMPATIBLE_DATA_TYPE(.|\n)*--rebuild default\.people"):
        small.pipeline.run()
    small.pipeline.run(rebuild=["default.people"])
    assert small.table("people") == [{"id": "1"}, {"id": "2"}]


def test_a_checkpoint_with_parts_missing_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    small = SmallPipeline(tmp_path, spark, f"import dlt\n\n@dlt.table\ndef raw():\n    return {ROWS}\n")
    small.drop({"id": 1, "name": "a"})
    small.pipeline.run()
    checkpoint = small.pipeline.storage.checkpoint("default.raw", "default.raw")
    for part in ("offsets", "commits", "sources"):
        shutil.rmtree(checkpoint / part, ignore_errors=True)
    small.drop({"id": 2, "name": "b"})
    with pytest.raises(UpdateFailed, match=r"CHECKPOINT_DAMAGED(.|\n)*--rebuild default\.raw"):
        small.pipeline.run()
    assert len(small.table("raw")) == 1
    small.pipeline.run(rebuild=["raw"])
    assert len(small.table("raw")) == 2


def test_a_checkpoint_with_commits_but_no_offsets_adds_no_rows(spark: SparkSession, tmp_path: Path) -> None:
    small = SmallPipeline(tmp_path, spark, f"import dlt\n\n@dlt.table\ndef raw():\n    return {ROWS}\n")
    for number in range(2):
        small.drop({"id": number, "name": "a"})
        small.pipeline.run()
    shutil.rmtree(small.pipeline.storage.checkpoint("default.raw", "default.raw") / "offsets")
    small.drop({"id": 2, "name": "a"})
    with pytest.raises(UpdateFailed):
        small.pipeline.run()
    assert [row["id"] for row in small.table("raw")] == [0, 1]


def test_a_kill_while_the_first_batch_was_being_planned_does_no_harm(spark: SparkSession, tmp_path: Path) -> None:
    small = SmallPipeline(tmp_path, spark, f"import dlt\n\n@dlt.table\ndef raw():\n    return {ROWS}\n")
    small.drop({"id": 1, "name": "a"})
    offsets = small.pipeline.storage.checkpoint("default.raw", "default.raw") / "offsets"
    offsets.mkdir(parents=True)
    # Spark first writes a batch's offsets under a temporary name.
    (offsets / ".0.6f9619ff.tmp").write_text("v1")
    small.pipeline.run()
    assert [row["id"] for row in small.table("raw")] == [1]


def test_a_full_disk_is_reported_and_stops_only_the_flow_it_hits(spark: SparkSession, tmp_path: Path) -> None:
    source = f"""
        from pyspark import pipelines as dp

        @dp.table
        def raw():
            return {ROWS}

        @dp.foreach_batch_sink
        def full(df, batch_id):
            with open(spark.conf.get("device"), "w") as device:
                device.write("no room for this")

        @dp.append_flow(target="full")
        def to_full():
            return {ROWS}
    """
    small = SmallPipeline(tmp_path, spark, source)
    small.pipeline.configuration["device"] = "/dev/full"
    small.drop({"id": 1, "name": "a"})
    with pytest.raises(UpdateFailed) as failed:
        small.pipeline.run()
    (error,) = failed.value.errors
    assert isinstance(error, FlowError) and error.condition == "DISK_FULL"
    assert "No space left on device" in str(error) and "make room" in str(error)
    assert len(small.table("raw")) == 1


def test_the_event_log_is_complete_after_a_kill(spark: SparkSession, tmp_path: Path) -> None:
    source, rows = tmp_path / "s.py", tmp_path / "rows"
    rows.mkdir()
    (rows / "a.json").write_text('{"id": 1, "name": "a"}')
    source.write_text(f"import dlt\n\n@dlt.table\ndef raw():\n    return {ROWS}\n")
    die_at(source, tmp_path / "storage", "append.after", ("--set", f"rows={rows}"))
    (journal,) = (tmp_path / "storage/system/journal").glob("*.jsonl")
    with journal.open("a") as cut_off:
        cut_off.write('{"id": "a line that was being wri')
    pipeline = LocalPipeline("p", [source], tmp_path / "storage", configuration={"rows": str(rows)}, spark=spark)
    pipeline.run()
    events = pipeline.event_log().collect()
    killed = [row for row in events if row.origin.update_id == events[0].origin.update_id]
    assert (killed[0].event_type, killed[-1].event_type) == ("create_update", "update_progress")
    assert json.loads(killed[-1].details) == {"update_progress": {"state": "CANCELED"}}
    assert events[-1].message.endswith("is COMPLETED.")
    assert len({row.id for row in events}) == len(events)
    assert pipeline.table("raw").count() == 1
    assert "CANCELED" in (pipeline.storage.system / "report/index.html").read_text()


def test_settings_made_by_a_source_file_end_with_the_update(spark: SparkSession, tmp_path: Path) -> None:
    source = """
        import dlt

        seen = f"{spark.conf.get('own.key', 'unset')}, {spark.conf.get('spark.sql.shuffle.partitions')}"
        spark.conf.set("own.key", "set")
        spark.conf.set("spark.sql.shuffle.partitions", "7")

        @dlt.table
        def told():
            return spark.sql(f"SELECT '{seen}' AS before, '{spark.conf.get('own.key')}' AS meanwhile")
    """
    small = SmallPipeline(tmp_path, spark, source)
    before = dict(spark.conf.getAll)
    for _ in range(2):
        small.pipeline.run()
        assert small.table("told") == [{"before": "unset, 1", "meanwhile": "set"}]
    assert dict(spark.conf.getAll) == before


SECRETS = ("Pa55-of-jaas", "Pa55-of-a-field", "t0ken-of-the-lake", "in-a-user-option")


def test_secrets_are_written_nowhere(spark: SparkSession, tmp_path: Path) -> None:
    jaas = f'org.apache.kafka.common.security.plain.PlainLoginModule required username="u" password="{SECRETS[0]}";'
    source = f"""
        import dlt

        @dlt.table(comment="token=" + spark.conf.get("lake.token"))
        @dlt.expect_or_fail("matches", "name = '{SECRETS[1]}'")
        def refused():
            return {ROWS}

        @dlt.table
        def unreachable():
            jaas = spark.conf.get("kafka.sasl.jaas.config")
            kafka = spark.readStream.format("kafka").option("kafka.bootstrap.servers", "127.0.0.1:1")
            kafka = kafka.option("kafka.sasl.jaas.config", jaas).option("kafka.security.protocol", "SASL_NOTHING")
            return kafka.option("subscribe", "t").option("kafka.ssl.key.password", "{SECRETS[3]}").load()

        dlt.create_sink("out", "kafka", {{"topic": "t", "kafka.sasl.jaas.config": "not {SECRETS[0]}",
                                         "kafka.bootstrap.servers": "127.0.0.1:1", "password": "{SECRETS[1]}"}})

        @dlt.append_flow(target="out")
        def failing():
            return spark.readStream.table("refused").selectExpr("name AS value")

        @dlt.table
        def told():
            raise ValueError("cannot log in: password={SECRETS[3]}, jaas " + spark.conf.get("kafka.sasl.jaas.config"))
    """
    small = SmallPipeline(tmp_path, spark, source)
    small.pipeline.configuration |= {"kafka.sasl.jaas.config": jaas, "lake.token": SECRETS[2]}
    small.drop({"id": 1, "name": "x"})
    texts = []
    for _ in range(2):
        with pytest.raises(UpdateFailed) as failed:
            small.pipeline.run()
        texts += [str(failed.value), "".join(traceback.format_exception(failed.value))]
        small.write(small.file.read_text().replace("raise ValueError", "return spark.range(1) #"))
    assert failed.value.update is not None and len(failed.value.update.errors) == 2
    texts += [str(row.asDict(recursive=True)) for row in small.pipeline.event_log().collect()]
    own = [
        file for file in small.pipeline.storage.system.rglob("*") if file.is_file() and "checkpoints" not in file.parts
    ]
    texts += [file.read_bytes().decode("utf-8", "replace") for file in own if file.suffix != ".parquet"]
    leaked = [(secret, text[:3000]) for secret in SECRETS for text in texts if secret in text]
    assert leaked == []
    assert any("redacted" in text for text in texts)


def test_a_query_with_a_python_lambda_is_unchanged_in_the_next_update(spark: SparkSession, tmp_path: Path) -> None:
    small = SmallPipeline(
        tmp_path,
        spark,
        f"""
        from pyspark import pipelines as dp
        from pyspark.sql import functions as F

        def doubled(rows):
            return rows.withColumn("twice", F.transform(F.array("id"), lambda each: each * 2))

        @dp.table
        def raw():
            return doubled({ROWS})

        @dp.materialized_view
        def counted():
            return doubled(spark.read.table("raw"))
        """,
    )
    small.drop({"id": 1, "name": "a"})
    small.pipeline.run()
    again = small.pipeline.run()
    assert all(dataset.is_idle for dataset in again.datasets)
    assert small.pipeline.event_log().where("level = 'WARN'").collect() == []
