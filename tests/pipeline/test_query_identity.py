"""A materialized view is computed again after every edit that may change its rows, and idle after none."""

import json
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.support.small_pipeline import ROWS, SmallPipeline

from dlt_local import LocalPipeline

HEAD = f"""
from pyspark import pipelines as dp
from pyspark.sql import functions as F
from rules import added

@dp.table
def raw():
    return {ROWS}

@dp.temporary_view
@dp.expect_or_drop("small", "id < <LIMIT>")
def small():
    return spark.read.table("raw")

@F.udf("int")
def in_the_file(x):
    return x + <STEP>

@F.udf("int")
def in_a_module(x):
    return added(x)

def named():
    a, b = (spark.read.table("raw").alias(name) for name in "ab")
    return a.join(b, F.expr("a.id = b.id + 1"), "left")
"""
WIDE = 'spark.read.table("raw").select(*[(F.col("id") + i).alias(f"c{{i}}") for i in range(39)], ({last}).alias("c39"))'
VIEWS = {
    "the last of forty columns": (WIDE.format(last='F.col("id") + 39'), WIDE.format(last='F.col("id") + 1000')),
    "a value of a long list": tuple(
        f'spark.read.table("raw").where(F.col("id").isin(*range(50), {last}))' for last in (50, 51)
    ),
    "what follows # in a text": tuple(f'spark.read.table("raw").select(F.lit("no #{n}").alias("x"))' for n in (5, 6)),
    "where a text ends": tuple(
        f'spark.read.table("raw").select(F.concat({texts}).alias("x"))'
        for texts in ('F.lit("a"), F.lit("b, c")', 'F.lit("a, b"), F.lit("c")')
    ),
    "which of two columns of a name": tuple(f'named().select(F.col("{side}.name").alias("x"))' for side in "ab"),
    "a function of the file": ('spark.read.table("raw").select(in_the_file("id").alias("x"))',) * 2,
    "a function of a module": ('spark.read.table("raw").select(in_a_module("id").alias("x"))',) * 2,
    "an expectation of a view that it reads": ('spark.read.table("small")',) * 2,
    "its own expectation": ('spark.read.table("raw")',) * 2,
    "its conf": ('spark.read.table("raw").selectExpr("cast(name AS int) AS x")',) * 2,
}
CHANGING = {
    "the time": 'spark.read.table("raw").selectExpr("localtimestamp() AS x")',
    "a function that says so": (
        'spark.read.table("raw").select(F.udf(lambda x: x, "int").asNondeterministic()("id").alias("x"))'
    ),
    "a function that reads a file": (
        'spark.read.table("raw").select(F.udf(lambda x: x and open(x).read())("name").alias("x"))'
    ),
    "a table in a subquery beside a file": (
        "spark.read.schema('id INT').json(spark.conf.get('rows')).where('id > (SELECT min(id) - 1 FROM raw)')"
    ),
}
LASTING = {
    "collected": 'spark.read.table("raw").groupBy().agg(F.collect_list("name").alias("x"), F.max("id").alias("y"))',
    "a lambda": 'spark.read.table("raw").select(F.transform(F.array("id"), lambda x: x + 1).alias("x"))',
}


def source(edited: bool) -> str:
    parts = [HEAD.replace("<LIMIT>", "9" if edited else "8").replace("<STEP>", "1000" if edited else "1")]
    every = [query[edited] for query in VIEWS.values()] + [*CHANGING.values(), *LASTING.values()]
    for number, query in enumerate(every):
        name = [*VIEWS, *CHANGING, *LASTING][number]
        decorators = [f'@dp.materialized_view(name="v{number}")']
        if name == "its own expectation":
            other = 'F.col("name")' if edited else 'F.lit("name")'
            decorators.append(f'@dp.expect_or_drop("known", F.col("name") != {other})')
        if name == "its conf":
            conf = {"spark.sql.ansi.enabled": str(edited).lower()}
            decorators = [f'@dp.materialized_view(name="v{number}", spark_conf={conf})']
        parts.append("\n".join([*decorators, f"def v{number}():", f"    return {query}"]))
    return "\n\n".join(parts)


class Edited:
    """The pipeline of all those views, in two versions."""

    def __init__(self, folder: Path, spark: SparkSession) -> None:
        self.small = SmallPipeline(folder, spark, "")
        self._spark = spark
        self._folder = folder

    def states(self, edited: bool) -> dict[str, str]:
        """The state of each view after an update by a pipeline of its own, as of another process."""
        self.small.write(source(edited))
        (self._folder / "rules.py").write_text(
            f"STEP = {1000 if edited else 1}\n\n\ndef added(x):\n    return x + STEP\n"
        )
        known = self.small.pipeline
        self.small.pipeline = LocalPipeline(
            known.name,
            known.sources,
            known.storage.root,
            configuration=known.configuration,
            root_path=self._folder,
            spark=self._spark,
        )
        update = self.small.pipeline.run()
        names = [*VIEWS, *CHANGING, *LASTING]
        return {names[int(each.name.partition(".v")[2])]: each.state for each in update.datasets if ".v" in each.name}


def expected(views: str) -> dict[str, str]:
    return {**dict.fromkeys(VIEWS, views), **dict.fromkeys(CHANGING, "COMPLETED"), **dict.fromkeys(LASTING, "IDLE")}


@pytest.fixture(scope="module")
def edited(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Edited:
    edited = Edited(tmp_path_factory.mktemp("edited"), spark)
    edited.small.drop({"id": 1, "name": None}, {"id": 2, "name": None})
    assert set(edited.states(edited=False).values()) == {"COMPLETED"}
    return edited


def test_each_edit_is_noticed_and_nothing_else_is(edited: Edited) -> None:
    assert edited.states(edited=False) == expected("IDLE")
    assert edited.states(edited=True) == expected("COMPLETED")
    assert edited.states(edited=True) == expected("IDLE")
    assert [row["c39"] for row in edited.small.table("v0")] == [1001, 1002]


def test_a_fingerprint_of_an_earlier_version_counts_for_no_view(edited: Edited) -> None:
    edited.states(edited=True)
    progress = edited.small.pipeline.storage.progress("default.v0")
    earlier = json.loads(progress.read_text())
    fingerprint = earlier["fingerprint"].partition(":")[2]
    progress.write_text(json.dumps(earlier | {"fingerprint": fingerprint, "queries": {"v0": fingerprint}}))
    assert edited.states(edited=True) == {**expected("IDLE"), next(iter(VIEWS)): "COMPLETED"}
    assert edited.states(edited=True) == expected("IDLE")
