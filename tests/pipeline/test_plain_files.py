"""Small tables are read and replaced by their files: the rows, and all else of a table, are as if Delta had done it."""

from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.support.small_pipeline import ROWS, SmallPipeline

from dlt_local.delta import delta_log, plain_files
from dlt_local.delta.plain_files import SETTING, PlainFiles
from dlt_local.spark import jvm

COLUMNS = "id INT, name STRING, at TIMESTAMP_NTZ, amount DECIMAL(9,2), tags ARRAY<STRING>"
VALUES = "(1, 'a', TIMESTAMP_NTZ'2026-01-02 03:04:05.123456', 1.25, array('x')), (2, NULL, NULL, NULL, NULL)"


def made(spark: SparkSession, folder: Path, *statements: str, columns: str = COLUMNS, clause: str = "") -> Path:
    """A Delta table made by SQL; ``{t}`` in a statement is its name."""
    table = folder / "a table"
    name = f"delta.`{table}`"
    spark.sql(f"CREATE TABLE {name} ({columns}) USING delta {clause}")
    for statement in statements:
        spark.sql(statement.format(t=name))
    return table


INSERT = f"INSERT INTO {{t}} VALUES {VALUES}"
DELETION_VECTORS = "TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')"
BY_NAME = "TBLPROPERTIES ('delta.columnMapping.mode' = 'name')"
PLAIN: dict[str, Callable[[SparkSession, Path], Path]] = {
    "no rows": lambda spark, folder: made(spark, folder),
    "several files": lambda spark, folder: made(spark, folder, INSERT, INSERT, INSERT),
    "compacted": lambda spark, folder: made(spark, folder, INSERT, INSERT, "OPTIMIZE {t}"),
    "a new column": lambda spark, folder: made(
        spark, folder, INSERT, "ALTER TABLE {t} ADD COLUMNS (more STRING)", "INSERT INTO {t} (id, more) VALUES (3, 'm')"
    ),
    "rewritten files": lambda spark, folder: made(spark, folder, INSERT, INSERT, "DELETE FROM {t} WHERE id = 1"),
    "deletion vectors that no row has": lambda spark, folder: made(spark, folder, INSERT, clause=DELETION_VECTORS),
    "clustered": lambda spark, folder: made(spark, folder, INSERT, clause="CLUSTER BY (id)"),
    "a constraint": lambda spark, folder: made(
        spark, folder, INSERT, "ALTER TABLE {t} ADD CONSTRAINT positive CHECK (id > 0)"
    ),
}
LEFT_TO_DELTA: dict[str, Callable[[SparkSession, Path], Path]] = {
    "partitions": lambda spark, folder: made(spark, folder, INSERT, clause="PARTITIONED BY (id)"),
    "deleted rows": lambda spark, folder: made(
        spark,
        folder,
        "INSERT INTO {t} SELECT id FROM range(100)",
        "DELETE FROM {t} WHERE id = 1",
        columns="id INT",
        clause=DELETION_VECTORS,
    ),
    "names of its own": lambda spark, folder: made(
        spark, folder, INSERT, "ALTER TABLE {t} RENAME COLUMN name TO title", clause=BY_NAME
    ),
    "a wider type": lambda spark, folder: made(
        spark,
        folder,
        INSERT,
        "ALTER TABLE {t} SET TBLPROPERTIES ('delta.enableTypeWidening' = 'true')",
        "ALTER TABLE {t} ALTER COLUMN id TYPE BIGINT",
    ),
    "fixed lengths": lambda spark, folder: made(
        spark, folder, "INSERT INTO {t} VALUES (1, 'a')", columns="id INT, name CHAR(5)"
    ),
    "many files": lambda spark, folder: made(spark, folder, *["INSERT INTO {t} VALUES (1)"] * 31, columns="id INT"),
}


def rows(spark: SparkSession, table: Path) -> list[str]:
    """The table's rows as Delta reads them."""
    return sorted(map(repr, spark.read.format("delta").load(str(table)).collect()))


@pytest.mark.parametrize("name", PLAIN)
def test_rows_are_read_and_replaced_as_by_delta(spark: SparkSession, tmp_path: Path, name: str) -> None:
    table = PLAIN[name](spark, tmp_path)
    assert sorted(map(repr, plain_files.read(spark, table).collect())) == rows(spark, table)
    before = delta_log.schema(table), delta_log.properties(table), delta_log.clustering_columns(table)
    for shift in range(2):
        replacing = plain_files.read(spark, table).selectExpr("* EXCEPT (id)", "id + 1 AS id").where(f"id > {shift}")
        expected = sorted(map(repr, replacing.select(*spark.read.format("delta").load(str(table)).columns).collect()))
        assert plain_files.replace(replacing, table)
        assert rows(spark, table) == expected
        # Nothing that Delta keeps in memory says so, but the table.
        jvm.forget_delta_log(spark, table)
        assert rows(spark, table) == expected
        after = delta_log.schema(table), delta_log.properties(table), delta_log.clustering_columns(table)
        assert after == before
        assert delta_log.row_count(table) == len(expected)


@pytest.mark.parametrize("name", LEFT_TO_DELTA)
def test_what_its_files_do_not_say_is_left_to_delta(spark: SparkSession, tmp_path: Path, name: str) -> None:
    table = LEFT_TO_DELTA[name](spark, tmp_path)
    assert PlainFiles.of(spark, table) is None
    assert sorted(map(repr, plain_files.read(spark, table).collect())) == rows(spark, table)
    before = delta_log.version(table)
    assert not plain_files.replace(spark.read.format("delta").load(str(table)), table)
    assert delta_log.version(table) == before


def test_an_earlier_version_is_read_by_delta(spark: SparkSession, tmp_path: Path) -> None:
    table = PLAIN["several files"](spark, tmp_path)
    earlier = spark.read.format("delta").option("versionAsOf", 1).load(str(table))
    assert plain_files.over_files(earlier).count() == 2
    assert plain_files.over_files(spark.read.format("delta").load(str(table))).count() == 6


def test_a_constraint_is_checked(spark: SparkSession, tmp_path: Path) -> None:
    table = PLAIN["a constraint"](spark, tmp_path)
    with pytest.raises(Exception, match="positive"):
        plain_files.replace(plain_files.read(spark, table).selectExpr("* EXCEPT (id)", "-id AS id"), table)
    assert len(rows(spark, table)) == 2


def test_a_table_that_has_changed_meanwhile_is_not_replaced(spark: SparkSession, tmp_path: Path) -> None:
    table = PLAIN["several files"](spark, tmp_path)
    files = PlainFiles.of(spark, table)
    assert files is not None
    spark.sql(f"INSERT INTO delta.`{table}` VALUES {VALUES}")
    assert not jvm.replace_in_delta(plain_files.read(spark, table), table, files.version, [])
    assert len(rows(spark, table)) == 8


QUERIES = f"""
    import dlt
    from pyspark.sql import functions as F

    @dlt.table
    def raw():
        return {ROWS}

    @dlt.view
    def named():
        return spark.read.table("raw").where("name IS NOT NULL")

    @dlt.table
    @dlt.expect_or_drop("short", "length(name) < 3")
    def joined():
        others = spark.read.table("LIVE.raw").select(F.col("id").alias("other"), "name")
        return spark.read.table("named").join(others, "name")

    @dlt.table
    def counted():
        return spark.sql("SELECT name, count(*) AS n, (SELECT max(id) FROM raw) AS most FROM raw GROUP BY name")

    @dlt.table
    def placed():
        return spark.read.table("raw").select("id", F.col("_metadata.file_name").isNotNull().alias("has_file"))

    for kind in (1, 2):
        dlt.create_streaming_table(f"latest_{{kind}}")
        dlt.apply_changes(
            target=f"latest_{{kind}}", source="raw", keys=["id"], sequence_by="at", apply_as_deletes="name = 'gone'",
            stored_as_scd_type=kind,
        )
"""
TABLES = ("joined", "counted", "placed", "latest_1", "latest_2")


def test_the_tables_are_the_same_as_without(spark: SparkSession, tmp_path: Path) -> None:
    source = QUERIES.replace("id INT, name STRING", "id INT, name STRING, at INT")
    by_files, by_delta = (SmallPipeline(tmp_path / name, spark, source) for name in ("files", "delta"))
    by_delta.pipeline.configuration[SETTING] = "false"
    for number, names in enumerate((("a", "b", "long"), ("gone", "b", None), ("a", "a", "c"))):
        for small in (by_files, by_delta):
            small.drop(*({"id": key, "name": name, "at": 10 * number} for key, name in enumerate(names)))
            small.drop({"id": 1, "name": "late", "at": 5}, {"id": 7 + number, "name": "new", "at": 10 * number + 1})
            small.pipeline.run()
        for table in TABLES:
            assert by_files.table(table) == by_delta.table(table), (number, table)
    assert len(by_files.table("placed")) == 15


def test_a_view_over_a_small_table_takes_one_job(spark: SparkSession, tmp_path: Path) -> None:
    small = SmallPipeline(tmp_path, spark, QUERIES.split("@dlt.table\n    @dlt.expect")[0] + VIEW_OF_RAW)
    for number in range(3):
        small.drop({"id": number, "name": "a"})
        before = jobs(spark)
        small.pipeline.run()
    # One appends to raw, the other replaces the rows of the view.
    assert jobs(spark) - before == 2
    assert len(small.table("copied")) == 3


VIEW_OF_RAW = """@dlt.table
    def copied():
        return spark.read.table("named").select("id")
"""


def jobs(spark: SparkSession) -> int:
    """Spark jobs that this process has run."""
    return int(spark.sparkContext._jsc.sc().dagScheduler().numTotalJobs())
