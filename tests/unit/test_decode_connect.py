"""Decoding under Spark Connect: the plan is built on the client, with the same result as a classic session."""

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
CLASSIC_ONLY = ("_jdf", "_jvm", "._sc.", "sparkContext", ".rdd", "udf(", "mapInPandas", "toPandas")

PROGRAM = """
import json, sys
import tests.support.declared_plans
from pyspark.sql import SparkSession
from cdc import changes, decode, rejects, sequence
from cdc.reconcile import RANGE, REASON, by_range, differences, in_ranges, sides, summary
from tests.support.records import Topic, frame
from tests.support.tables import table

spark = SparkSession.builder.remote("local[1]").config("spark.sql.shuffle.partitions", "1").getOrCreate()
assert "connect" in type(spark).__module__
columns = {"id": "int not null", "total": "decimal(38,10)", "at": "datetime2(7)", "t": "time(7)", "b": "image"}
orders = table({**columns, "o": "datetimeoffset(7)"})
topic = Topic(orders.topic)
row = {"id": 1, "total": "BGM=", "at": 1531481025340123400, "t": 37425678901200, "b": "AP8Q", "new": 5}
records = [topic.create(**row), topic.create(**row).with_schema(), topic.create(id="x"), topic.tombstone(id=1)]
decoded = decode(frame(spark, records), orders)
found = changes(decoded, orders).select("*", sequence(orders).alias("sequence")).orderBy("_offset")
shown = found.selectExpr("id", "cast(total as string)", "cast(at as string)", "t", "hex(b)", "_unknown['new']")
print(json.dumps([list(row) for row in shown.collect()] + [[row.reason for row in rejects(decoded, orders).collect()]]))
compared = table({"id": "int not null", "total": "decimal(9,2)"})
source = spark.createDataFrame([("1", "9.5"), ("20001", "1")], "id string, total string")
gold = source.where("id = '1'").selectExpr("cast(id AS int) AS id", "cast(total AS decimal(9,2)) AS total")
both = sides(source, gold, compared)
differing = [each[RANGE] for each in summary(by_range(both)).first().differing]
print(json.dumps([differing, [row[REASON] for row in differences(in_ranges(both, differing)).collect()]]))
plans = dict(tests.support.declared_plans.plans(spark, orders))
print(json.dumps({name: sorted(tests.support.declared_plans.relations(frame)) for name, frame in plans.items()}))
spark.stop()
"""
EAGER = {
    *("deduplicate", "drop", "drop_na", "fill_na", "map_partitions", "replace", "sample", "to_schema"),
    *("with_columns", "with_columns_renamed", "with_watermark"),
}
"""Relations whose input a Connect server analyses at once, as Spark 4.0 to 4.2 do."""


def test_a_connect_session_decodes_and_reconciles_the_same() -> None:
    paths = f"import sys; sys.path[:0] = [{str(ROOT / 'pipelines')!r}, {str(ROOT)!r}]\n"
    # With this variable pyspark lets the server choose a free port; otherwise it is always 15002.
    environment = {**os.environ, "SPARK_TESTING": "1"}
    run = subprocess.run(
        [sys.executable, "-c", paths + PROGRAM], capture_output=True, text=True, check=False, env=environment
    )
    assert run.returncode == 0, run.stderr[-3000:]
    row = '[1, "0.0000001123", "2018-07-13 11:23:45.340123", "10:23:45.6789012", "00FF10", "5"]'
    decoded, reconciled, declared = run.stdout.strip().splitlines()[-3:]
    assert decoded == f'[{row}, {row}, ["WRONG_TYPE"]]'
    assert reconciled == '[[20000], ["missing in gold"]]'
    # A pipeline is declared before its datasets exist, so no plan may depend on what they are.
    eager = {name: EAGER.intersection(used) for name, used in json.loads(declared).items()}
    assert {name: used for name, used in eager.items() if used} == {"changes of replays": {"deduplicate"}}
    assert len(eager) == 19


def test_decoding_uses_nothing_that_only_a_classic_session_has() -> None:
    found = [
        f"{file.relative_to(ROOT)}: {word}"
        for file in sorted((ROOT / "pipelines" / "cdc").rglob("*.py"))
        for word in CLASSIC_ONLY
        if word in file.read_text()
    ]
    assert found == []
