"""A query function is evaluated once to plan an update, in whatever order datasets are declared and read."""

from pathlib import Path

from pyspark.sql import SparkSession
from tests.support.small_pipeline import ROWS, SmallPipeline

_ONCE = f"""
    from pathlib import Path
    from pyspark import pipelines as dp

    def evaluated(name):
        with Path({{calls!r}}).open("a") as calls:
            print(name, file=calls)

    @dp.materialized_view(name="gold.names")
    def names():
        evaluated("names")
        return spark.sql("SELECT name, count(*) AS n FROM silver.people GROUP BY name")

    @dp.table(name="silver.people")
    def people():
        evaluated("people")
        return spark.readStream.table("incoming").join(spark.table("known"), "id", "left_semi")

    @dp.materialized_view
    def known():
        evaluated("known")
        return spark.range(9).selectExpr("CAST(id AS INT) AS id")

    @dp.temporary_view
    def incoming():
        evaluated("incoming")
        return {ROWS}
    """


def test_a_query_is_evaluated_once_although_what_it_reads_comes_later(spark: SparkSession, tmp_path: Path) -> None:
    calls = tmp_path / "calls"
    small = SmallPipeline(tmp_path, spark, _ONCE.format(calls=str(calls)))
    small.pipeline.dry_run()
    # Each after what reads it, since a query is evaluated on the way of the one that reads its dataset.
    assert calls.read_text().split() == ["incoming", "names", "people", "known"]


def test_a_long_chain_that_is_declared_backwards_is_resolved(spark: SparkSession, tmp_path: Path) -> None:
    length = 60
    links = "".join(
        f"""
    @dp.table
    def link{number:02}():
        return spark.readStream.table("link{number + 1:02}")
    """
        for number in range(length)
    )
    last = f"""
    @dp.table
    def link{length:02}():
        return {ROWS}
    """
    small = SmallPipeline(tmp_path, spark, f"\n    from pyspark import pipelines as dp\n{links}{last}")
    graph = small.pipeline.dry_run()
    assert [node.name for node in graph.nodes] == [f"default.link{number:02}" for number in range(length, -1, -1)]
