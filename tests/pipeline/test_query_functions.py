"""What outlasts the call of a query function: in the session that all share, and in frames that are kept."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.support.small_pipeline import ROWS, SmallPipeline

from dlt_local import UpdateFailed

ZONE = "spark.sql.session.timeZone"
CHANGES = {
    "view": ("spark.range(number, number + 1).createOrReplaceTempView('tmp')", "SELECT * FROM tmp"),
    "global_view": (
        "spark.range(number, number + 1).createOrReplaceGlobalTempView('tmp')",
        "SELECT * FROM global_temp.tmp",
    ),
    "sql_view": (
        "spark.sql(f'/* of one call */ CREATE OR REPLACE TEMP VIEW `tmp` AS SELECT {number} AS id')",
        "SELECT * FROM tmp",
    ),
    "sql_function": (
        "spark.sql(f'CREATE OR REPLACE TEMPORARY FUNCTION tmp() RETURNS INT RETURN {number}')",
        "SELECT tmp() AS id",
    ),
    "python_function": ("spark.udf.register('tmp', lambda: str(number))", "SELECT CAST(tmp() AS INT) AS id"),
    "table_function": (
        "spark.udtf.register('tmp', udtf(one_row_of(number), returnType='id INT'))",
        "SELECT * FROM tmp()",
    ),
    "variable": ("spark.sql(f'DECLARE OR REPLACE VARIABLE tmp INT DEFAULT {number}')", "SELECT tmp AS id"),
    "conf": ("spark.conf.set(zone, zones[number])", "{hour}"),
    "sql_conf": ("spark.sql(f'SET {zone} = {zones[number]}')", "{hour}"),
    "builder": ("SparkSession.builder.config(zone, zones[number]).getOrCreate()", "{hour}"),
    "declared": ("pass", "{hour}"),
    "declared_and_set": ("spark.conf.set(zone, zones[number])", "{hour}"),
}
"""How two query functions change their session, and the query of both."""
HOUR = "SELECT CAST(SUBSTR(CAST(TIMESTAMP '2026-01-01 00:00:00Z' AS STRING), 12, 2) AS INT) AS id"
# The nth calls of both functions of a pair meet between the change and the query.
MEETING = f"""
    import threading
    from collections import Counter, defaultdict
    import dlt
    from pyspark.sql import SparkSession
    from pyspark.sql.functions import udtf

    zone = "{ZONE}"
    zones = {{0: "UTC", 1: "Etc/GMT-1", 2: "Etc/GMT-2"}}
    meetings = defaultdict(lambda: threading.Barrier(2))
    calls = Counter()

    def meet(kind, number):
        calls[kind, number] += 1
        try:
            meetings[kind, calls[kind, number]].wait(0.3)
        except threading.BrokenBarrierError:
            pass

    def one_row_of(number):
        class OneRow:
            def eval(self):
                yield (number,)

        return OneRow

    def declare(kind, number, change, query, conf):
        @dlt.table(name=f"{{kind}}_{{number}}", spark_conf=conf)
        def rows():
            change(number)
            meet(kind, number)
            return spark.sql(query)
"""
PAIR = """
    def change_{kind}(number):
        {change}

    for number in {numbers}:
        declare("{kind}", number, change_{kind}, "{query}", {conf})
"""


def test_two_query_functions_that_change_the_session_at_the_same_time_do_not_mix(
    spark: SparkSession, tmp_path: Path
) -> None:
    source = MEETING
    for kind, (change, query) in CHANGES.items():
        conf = "{zone: zones[number if kind == 'declared' else 3 - number]}" if kind.startswith("declared") else "{}"
        conf = conf.replace("kind", repr(kind))
        source += PAIR.format(kind=kind, numbers=(1, 2), change=change, query=query.format(hour=HOUR), conf=conf)
    # Beside one that has nothing of its own.
    source += PAIR.format(
        kind="none", numbers=(0, 1), change="number and spark.conf.set(zone, zones[1])", query=HOUR, conf="{}"
    )
    small = SmallPipeline(tmp_path, spark, source)
    small.pipeline.run()
    found = {kind: [small.table(f"{kind}_{number}")[0]["id"] for number in (1, 2)] for kind in CHANGES}
    assert found == {kind: [1, 2] for kind in CHANGES}
    assert [small.table(f"none_{number}")[0]["id"] for number in (0, 1)] == [0, 1]


def test_views_and_functions_of_a_call_end_with_it(spark: SparkSession, tmp_path: Path) -> None:
    """What the source file made before is there again, also for the next call and the next update."""
    source = """
        from pyspark import pipelines as dp
        spark.range(7, 8).createOrReplaceTempView("numbers")
        spark.udf.register("name", lambda: "of the file")

        @dp.materialized_view
        def a_replaces():
            spark.range(1, 2).createOrReplaceTempView("numbers")
            spark.range(2, 3).createOrReplaceTempView("numbers")
            spark.udf.register("name", lambda: "of a call")
            return spark.sql("SELECT id, name() AS name FROM numbers")

        @dp.materialized_view
        def b_reads():
            return spark.sql("SELECT id, name() AS name FROM numbers")
        """
    small = SmallPipeline(tmp_path, spark, source)
    for _ in range(2):
        small.pipeline.run()
        assert small.table("a_replaces") == [{"id": 2, "name": "of a call"}]
        assert small.table("b_reads") == [{"id": 7, "name": "of the file"}]


def test_a_view_of_another_call_is_not_found(spark: SparkSession, tmp_path: Path) -> None:
    """When the update runs, it would have the rows of the last call, or those of planning: none."""
    source = """
        from pyspark import pipelines as dp

        @dp.materialized_view
        def a_makes():
            spark.range(1).createOrReplaceTempView("tmp")
            return spark.table("tmp")

        @dp.materialized_view
        def b_reads():
            return spark.table("tmp")
        """
    with pytest.raises(UpdateFailed, match=r"(?s)DATASET_NOT_FOUND.*`default.b_reads` reads tmp.*@dp.temporary_view"):
        SmallPipeline(tmp_path, spark, source).pipeline.run()


def test_a_view_in_sql_reads_datasets_views_and_tables_outside_of_the_pipeline(
    spark: SparkSession, tmp_path: Path
) -> None:
    source = """
        from pyspark import pipelines as dp

        @dp.materialized_view
        def a_reads():
            joined = "other JOIN viewed USING (id) JOIN main.shop.people USING (id)"
            spark.sql(f"CREATE TEMP VIEW tmp AS SELECT * FROM {joined}")
            return spark.sql("SELECT * FROM tmp")

        @dp.temporary_view
        def viewed():
            return spark.sql("SELECT 1 AS id, 'of the view' AS name")

        @dp.materialized_view
        def other():
            return spark.sql("SELECT 1 AS id, 'of the table' AS other")
        """
    small = SmallPipeline(tmp_path, spark, source)
    people = small.pipeline.storage.root / "external/main/shop/people"
    spark.sql("SELECT 1 AS id, 'Ada' AS person").write.format("delta").save(str(people))
    for _ in range(2):
        small.pipeline.run()
        row = {"id": 1, "other": "of the table", "name": "of the view", "person": "Ada"}
        assert small.table("a_reads") == [row]


def test_a_dataset_that_is_resolved_in_the_middle_of_a_call_does_not_change_its_views(
    spark: SparkSession, tmp_path: Path
) -> None:
    source = """
        from pyspark import pipelines as dp

        @dp.materialized_view
        def a_reads():
            spark.range(1).selectExpr("'of a' AS name").createOrReplaceTempView("tmp")
            inner = spark.table("inner_one")
            return spark.sql("SELECT name FROM tmp").crossJoin(inner)

        @dp.materialized_view
        def inner_one():
            spark.range(1).selectExpr("5 AS number").createOrReplaceTempView("tmp")
            return spark.sql("SELECT number FROM tmp")
        """
    small = SmallPipeline(tmp_path, spark, source)
    small.pipeline.run()
    assert small.table("a_reads") == [{"name": "of a", "number": 5}]


def test_a_stream_of_a_path_in_sql_leaves_no_view_behind(spark: SparkSession, tmp_path: Path) -> None:
    """Two files with the same statement on the same line give it the same name."""
    for name in ("a", "b"):
        spark.createDataFrame([(name,)], "name STRING").write.format("delta").save(str(tmp_path / name))
        statement = f"CREATE STREAMING TABLE of_{name} AS SELECT * FROM STREAM delta.`{tmp_path / name}`"
        (tmp_path / f"{name}.sql").write_text(statement)
    source = """
        import dlt

        @dlt.table
        def z_views():
            names = [each.name for each in spark.catalog.listTables() if each.isTemporary]
            return spark.createDataFrame([(", ".join(names),)], "names STRING")
        """
    small = SmallPipeline(tmp_path, spark, source)
    small.pipeline.sources = [str(small.file), str(tmp_path / "*.sql")]
    small.pipeline.run()
    assert [small.table(f"of_{name}") for name in ("a", "b")] == [[{"name": "a"}], [{"name": "b"}]]
    small.pipeline.run(full_refresh=["z_views"])
    assert small.table("z_views") == [{"names": ""}]


def test_a_copy_knows_the_pipelines_catalog_by_its_name(spark: SparkSession, tmp_path: Path) -> None:
    source = """
        from pyspark import pipelines as dp

        @dp.materialized_view
        def orders():
            return spark.range(2)

        @dp.materialized_view
        def qualified():
            spark.range(7, 8).selectExpr("id AS other").createOrReplaceTempView("tmp")
            return spark.sql("SELECT * FROM prod.default.orders CROSS JOIN tmp")
        """
    small = SmallPipeline(tmp_path, spark, source)
    for _ in range(2):
        small.pipeline.run(full_refresh_all=True)
        assert small.table("qualified") == [{"id": 0, "other": 7}, {"id": 1, "other": 7}]


def test_a_view_may_have_the_name_of_a_dataset(spark: SparkSession, tmp_path: Path) -> None:
    """Also that of the dataset which the function is for. Other queries read the dataset."""
    source = """
        from pyspark import pipelines as dp

        @dp.temporary_view
        def raw():
            spark.range(3).createOrReplaceTempView("raw")
            return spark.sql("SELECT id FROM raw")

        @dp.materialized_view
        def orders():
            spark.table("raw").where("id > 0").createOrReplaceTempView("Orders")
            return spark.sql("SELECT * FROM orders")

        @dp.materialized_view
        def reading():
            return spark.table("orders").selectExpr("max(id) AS id")
        """
    small = SmallPipeline(tmp_path, spark, source)
    small.pipeline.run()
    assert small.table("orders") == [{"id": 1}, {"id": 2}]
    assert small.table("reading") == [{"id": 2}]


TIME = "SELECT CAST(TIMESTAMP '2026-01-01 00:00:00Z' AS STRING) AS at"


def test_declared_conf_is_that_of_views_streams_and_flows_that_run_once_and_while_planning(
    spark: SparkSession, tmp_path: Path
) -> None:
    source = f"""
        import dlt
        conf = {{"{ZONE}": "Asia/Tokyo", "own.column": "at"}}

        @dlt.table
        def raw():
            return {ROWS}

        @dlt.view(spark_conf=conf)
        def viewed():
            return spark.sql("{TIME}")

        @dlt.table
        def of_a_view():
            return spark.table("viewed")

        @dlt.table(spark_conf=conf)
        def streamed():
            named = f"CAST(TIMESTAMP '2026-01-01 00:00:00Z' AS STRING) AS {{spark.conf.get('own.column')}}"
            return spark.readStream.table("raw").selectExpr(named)

        dlt.create_streaming_table("once")

        @dlt.append_flow(target="once", once=True, spark_conf=conf)
        def first():
            return spark.sql("{TIME}")
        """
    small = SmallPipeline(tmp_path, spark, source)
    for number in (1, 2):
        small.drop({"id": number, "name": "a"})
        small.pipeline.run()
        tokyo = {"at": "2026-01-01 09:00:00"}
        assert [small.table(name) for name in ("of_a_view", "once", "streamed")] == [[tokyo], [tokyo], [tokyo] * number]
    assert small.pipeline.spark.conf.get(ZONE) == "UTC"


def test_queries_with_conf_of_their_own_have_the_functions_of_their_update(spark: SparkSession, tmp_path: Path) -> None:
    """Also in their expectations; and the sessions that they run in do not pile up."""
    source = f"""
        import dlt
        spark.udf.register("is_wanted", lambda number: number % 2 == REST, "boolean")

        @dlt.table(spark_conf={{"{ZONE}": "Asia/Tokyo"}})
        @dlt.expect_or_drop("wanted", "is_wanted(id)")
        def wanted():
            return {ROWS}
        """
    small = SmallPipeline(tmp_path, spark, source.replace("REST", "0"))
    listeners = []
    for first in (1, 3, 5):
        small.drop({"id": first, "name": "a"}, {"id": first + 1, "name": "a"})
        small.pipeline.run()
        listeners.append(spark.sparkContext._jsc.sc().listenerBus().listeners().size())
        small.write(source.replace("REST", "1"))
    assert [row["id"] for row in small.table("wanted")] == [2, 3, 5]
    assert listeners[1] == listeners[2]


KEEPING = f"""
    import functools
    import dlt
    from pyspark.sql import functions as F

    kept = {{}}

    @dlt.table
    def raw():
        return {ROWS}

    @functools.cache
    def counted():
        return spark.read.table("raw").groupBy("name").agg(F.count("*").alias("rows"))

    @dlt.table
    def counts():
        return counted()

    @dlt.table
    def joined():
        return spark.readStream.table("raw").join(counted(), "name")

    @dlt.table
    def streamed():
        return kept.setdefault("raw", spark.readStream.table("raw"))

    @dlt.view
    def viewed():
        return counted().where("rows > 1")

    @dlt.table
    def of_a_view():
        return spark.read.table("viewed")

    @dlt.table
    def other():
        return spark.read.table("raw")
"""


def test_a_frame_that_is_kept_from_planning_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    """Its tables had no rows; the update was COMPLETED, and all that reads them empty."""
    small = SmallPipeline(tmp_path, spark, KEEPING)
    small.drop({"id": 1, "name": "a"}, {"id": 2, "name": "a"})
    with pytest.raises(UpdateFailed) as failed:
        small.pipeline.run()
    assert failed.value.update is not None
    found = {each.name.removeprefix("default."): each.error for each in failed.value.update.datasets}
    assert (found.pop("raw"), found.pop("other")) == (None, None)
    assert found.keys() == {"counts", "joined", "streamed", "of_a_view"}
    for error in found.values():
        assert str(error).startswith("FRAME_OF_AN_EARLIER_CALL")
    assert "`viewed` reads default.raw as it was" in str(found["of_a_view"])


def test_a_frame_in_sparks_cache_has_the_rows_of_its_update(spark: SparkSession, tmp_path: Path) -> None:
    source = KEEPING.replace("    @functools.cache\n", "").replace('.alias("rows"))', '.alias("rows")).cache()')
    small = SmallPipeline(tmp_path, spark, source.replace('kept.setdefault("raw", spark', "(spark"))
    for number in (1, 2, 3):
        small.drop({"id": number, "name": "a"})
        small.pipeline.run()
        assert small.table("counts") == [{"name": "a", "rows": number}]
        assert [row["rows"] for row in small.table("joined")] == list(range(1, number + 1))
