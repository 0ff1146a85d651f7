"""Randomly changed records of the real Db2 connector: each has one outcome, and those in between are decoded right."""

import os
import time
from random import Random

import pytest
from pyspark.sql import SparkSession
from tests.decoding.mutations import mutated
from tests.decoding.test_db2_types import compared, faults, records, types_table
from tests.support.records import RECORDS
from tools.db2_connector.captures import TABLE

from cdc import decode

_MUTATED = -1
"""In place of the partition, which of others is their number among the captured ones."""


def test_some_mutated_records(spark: SparkSession) -> None:
    fuzz(spark, 1_000, seed=20_260_302)


@pytest.mark.long
def test_many_mutated_records(spark: SparkSession) -> None:
    fuzz(spark, 20_000, seed=int(os.environ.get("FUZZ_SEED") or time.time()))


def fuzz(spark: SparkSession, count: int, *, seed: int) -> None:
    """Decode so many records, three of four mutated in their value or key; the others have their values."""
    print(f"again with FUZZ_SEED={seed}")
    random = Random(seed)
    whole = list(records(f"adaptive.precise.{TABLE}"))
    spec = types_table("adaptive", "precise")
    rows = []
    for offset in range(count):
        number = random.randrange(len(whole))
        key, value = whole[number][1].key, whole[number][1].value
        if random.random() < 0.75:
            number = _MUTATED
            if random.random() < 0.2:
                key = mutated(key or b"", random)
            else:
                value = mutated(value or b"", random)
        rows.append(("t", number, offset, None, 0, None, key, value))
    decoded = decode(spark.createDataFrame(rows, RECORDS).repartition(2), spec).persist()
    try:
        # All columns are made: a value that no conversion can take must not stop the query either.
        decoded.write.format("noop").mode("overwrite").save()
        outcomes = decoded.groupBy("_outcome", "_reason").count().collect()
        intact = decoded.where(f"_partition <> {_MUTATED}").select(*compared(spec)).distinct().collect()
    finally:
        decoded.unpersist()
    assert sum(each["count"] for each in outcomes) == count, f"seed {seed}"
    assert {"change", "reject", "ignored"} == {each["_outcome"] for each in outcomes}, f"seed {seed}"
    named = all(each["_reason"] for each in outcomes if each["_outcome"] != "change")
    assert named, f"seed {seed}"
    numbers = [row._partition for row in intact]
    assert len(numbers) == len(set(numbers)) > len(whole) // 2, f"seed {seed}"
    wrong = faults([whole[number] for number in numbers], intact, "adaptive", "precise")
    assert list(wrong) == [], f"seed {seed}"
