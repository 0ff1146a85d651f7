"""Randomly changed records of the real Db2 connector: each has one outcome, and none stops the others."""

import os
import time
from random import Random

import pytest
from pyspark.sql import SparkSession
from tests.decoding.mutations import mutated
from tests.decoding.test_db2_types import records, types_table
from tests.support.records import RECORDS
from tools.db2_connector.captures import TABLE

from cdc import decode


def test_some_mutated_records(spark: SparkSession) -> None:
    fuzz(spark, 1_000, seed=20_260_302)


@pytest.mark.long
def test_many_mutated_records(spark: SparkSession) -> None:
    fuzz(spark, 20_000, seed=int(os.environ.get("FUZZ_SEED") or time.time()))


def fuzz(spark: SparkSession, count: int, *, seed: int) -> None:
    """Decode so many records, three of four mutated in their value or key."""
    print(f"again with FUZZ_SEED={seed}")
    random = Random(seed)
    whole = [record for _, record in records(f"adaptive.precise.{TABLE}")]
    rows = []
    for offset in range(count):
        record = random.choice(whole)
        key, value = record.key, record.value
        if is_mutated := random.random() < 0.75:
            if random.random() < 0.2:
                key = mutated(key or b"", random)
            else:
                value = mutated(value or b"", random)
        rows.append(("t", int(is_mutated), offset, None, 0, None, key, value))
    # All columns are made: a value that no conversion can take must not stop the query either.
    decoded = decode(spark.createDataFrame(rows, RECORDS).repartition(2), types_table("adaptive", "precise"))
    found = decoded.groupBy("_partition", "_outcome", "_reason").count().collect()
    decoded.write.format("noop").mode("overwrite").save()
    assert sum(each["count"] for each in found) == count, f"seed {seed}"
    assert {each["_outcome"] for each in found if not each["_partition"]} == {"change"}, f"seed {seed}"
    assert {"change", "reject", "ignored"} == {each["_outcome"] for each in found}, f"seed {seed}"
    named = all(each["_reason"] for each in found if each["_outcome"] != "change")
    assert named, f"seed {seed}"
