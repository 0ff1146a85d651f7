"""What a name with a catalog means: a dataset of the pipeline, or a table outside of it that lies in a folder."""

import json
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.support.small_pipeline import ROWS, SmallPipeline

from dlt_local import UpdateFailed

CUSTOMERS = f"""
    from pyspark import pipelines as dp

    rules = [row.rule for row in spark.read.table("ref.sales.rules").collect()]

    @dp.table
    def raw():
        return {ROWS}

    @dp.materialized_view
    @dp.expect_or_drop("rules", " AND ".join(rules))
    def customers():
        return spark.read.table("raw_cat.sales.customers")

    @dp.materialized_view
    def own():
        return spark.table("main.sales.customers").select("id")

    @dp.materialized_view
    def by_sql():
        query = '''
            -- raw_cat.sales.customers in a comment
            SELECT raw_cat.sales.customers.name, 'raw_cat.sales.customers' AS said, nested.sales.customers AS field
            FROM raw_cat.sales.customers, (SELECT struct(struct(1 AS customers) AS sales) AS nested)
        '''
        return spark.sql(query)

    @dp.table
    def streamed():
        return spark.readStream.table("raw_cat.sales.customers")

    @dp.materialized_view
    def trips():
        return spark.read.table("trips_of_others.trips")

    @dp.materialized_view
    def joined():
        return spark.sql("SELECT o.id FROM main.sales.own o JOIN sales.customers USING (id)")
    """


def sales(folder: Path, spark: SparkSession, source: str, catalog: str | None = "main") -> SmallPipeline:
    small = SmallPipeline(folder, spark, source)
    small.pipeline.schema, small.pipeline.catalog = "sales", catalog
    return small


def test_a_table_of_another_catalog_is_read_from_its_folder(spark: SparkSession, tmp_path: Path) -> None:
    small = sales(tmp_path, spark, CUSTOMERS)
    outside = small.pipeline.storage.root / "external"
    names = spark.createDataFrame([(1, "ann"), (2, "bob"), (3, None)], "id INT, name STRING")
    names.write.format("delta").save(str(outside / "raw_cat" / "sales" / "customers"))
    rules = outside / "ref" / "sales" / "rules"
    rules.mkdir(parents=True)
    (rules / "1.csv").write_text("rule\nid < 9\nname IS NOT NULL\n")
    trips = tmp_path / "trips.json"
    trips.write_text(json.dumps({"id": 7}))
    small.pipeline.configuration["dlt_local.table.trips_of_others.trips"] = str(trips)
    small.pipeline.run()
    assert small.table("customers") == [{"id": 1, "name": "ann"}, {"id": 2, "name": "bob"}]
    assert small.table("own") == small.table("joined") == [{"id": 1}, {"id": 2}]
    assert [(row["name"], row["said"], row["field"]) for row in small.table("by_sql")] == [
        ("ann", "raw_cat.sales.customers", 1),
        ("bob", "raw_cat.sales.customers", 1),
        (None, "raw_cat.sales.customers", 1),
    ]
    assert len(small.table("streamed")) == 3
    assert small.table("trips") == [{"id": 7}]
    names.where("id = 1").selectExpr("4 AS id", "'dan' AS name").write.format("delta").mode("append").save(
        str(outside / "raw_cat" / "sales" / "customers")
    )
    update = small.pipeline.run()
    assert [row["id"] for row in small.table("customers")] == [row["id"] for row in small.table("own")] == [1, 2, 4]
    assert update["sales.streamed"].flows["sales.streamed"].num_output_rows == 1


ONE = """
    import dlt

    @dlt.table
    def customers():
        return spark.range(1)

    @dlt.table
    def copied():
        return spark.read.table("other.sales.customers")
    """


def test_a_table_of_another_catalog_is_never_the_pipelines_own(spark: SparkSession, tmp_path: Path) -> None:
    small = sales(tmp_path, spark, ONE)
    with pytest.raises(UpdateFailed) as failed:
        small.pipeline.run()
    place = small.pipeline.storage.root / "external/other/sales/customers"
    assert str(failed.value) == (
        f"DATASET_NOT_FOUND  {small.file}:8\n"
        "  `sales.copied` reads other.sales.customers, a table outside of the pipeline\n"
        f"  fix: a table outside of the pipeline is read from {place}: put a Delta table or its\n"
        "       files there, or name another folder with --set dlt_local.table.other.sales.customers=FOLDER"
    )
    spark.range(2).write.format("delta").save(str(place))
    small.pipeline.run()
    assert len(small.table("copied")) == 2


def test_without_the_pipelines_catalog_a_catalog_is_taken_for_it_and_that_is_said(
    spark: SparkSession, tmp_path: Path
) -> None:
    small = sales(tmp_path, spark, ONE, catalog=None)
    assert small.pipeline.dry_run().notices == (
        "other.sales.customers is taken for the pipeline's own sales.customers, since the pipeline's catalog is not "
        "given: pass --catalog other if it is, or the pipeline's own one if it is not",
    )
    small.write(ONE.replace('table("other.sales.customers")', 'table("raw.sales.copied")'))
    with pytest.raises(UpdateFailed, match=r"reads raw\.sales\.copied, a table outside of the pipeline"):
        small.pipeline.dry_run()


def test_a_table_that_is_read_while_the_file_loads_must_be_there(spark: SparkSession, tmp_path: Path) -> None:
    small = sales(tmp_path, spark, 'import dlt\n\nrules = spark.read.table("ref.rules").collect()\n')
    with pytest.raises(UpdateFailed) as failed:
        small.pipeline.dry_run()
    place = small.pipeline.storage.root / "external/ref/rules"
    assert str(failed.value) == (
        f"DATASET_NOT_FOUND  {small.file}:3\n"
        "  ref.rules is read while the source file loads, when no dataset of the pipeline can be read\n"
        f"  fix: read it inside of a query function. A table outside of the pipeline is read from {place}: put a "
        "Delta table or its\n"
        "       files there, or name another folder with --set dlt_local.table.ref.rules=FOLDER"
    )
