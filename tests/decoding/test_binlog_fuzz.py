"""Randomly changed records of the real connectors: none stops the decoder, and those between them are decoded right."""

import os
import time
from random import Random

import pytest
from pyspark.sql import SparkSession
from tests.decoding.binlog.expected import Source
from tests.decoding.mutations import mutated
from tests.decoding.test_binlog_types import compared, faults, records_of, types_table
from tests.support.records import RECORDS
from tools.binlog_connector.types import CAPTURES, combinations

from cdc import changes, decode, rejects

_KINDS = {"mariadb": CAPTURES[0], "mysql": CAPTURES[4]}
_MUTATED = -1
"""In place of the partition, which of others is their number among the captured ones."""


def test_some_mutated_records(spark: SparkSession) -> None:
    fuzz(spark, "mariadb", 400, seed=20_261_123)


@pytest.mark.long
@pytest.mark.parametrize("kind", _KINDS)
def test_many_mutated_records(spark: SparkSession, kind: str) -> None:
    fuzz(spark, kind, 20_000, seed=int(os.environ.get("FUZZ_SEED") or time.time()))


def fuzz(spark: SparkSession, kind: str, count: int, *, seed: int) -> None:
    """Decode so many records of a kind, three of four mutated in their value or key; the others have their values."""
    print(f"again with FUZZ_SEED={seed}")
    random, capture = Random(seed), _KINDS[kind]
    modes = combinations(capture.version)[0]
    source = Source(capture, modes)
    spec = types_table(source)
    whole = records_of(capture, modes)
    rows = []
    for offset in range(count):
        number = random.randrange(len(whole))
        record, key, value = whole[number], whole[number].key, whole[number].value
        if random.random() < 0.75:
            number = _MUTATED
            if random.random() < 0.1:
                key = mutated(key or b"", random)
            else:
                value = mutated(value or b"", random)
        rows.append((record.topic, number, offset, None, 0, None, key, value))
    decoded = decode(spark.createDataFrame(rows, RECORDS), spec).persist()
    try:
        outcomes = {row["_outcome"]: row["count"] for row in decoded.groupBy("_outcome").count().collect()}
        assert sum(outcomes.values()) == count
        assert decoded.select("_offset").distinct().count() == count
        assert set(outcomes) <= {"change", "reject", "ignored"}
        assert outcomes["change"] == changes(decoded, spec).count()
        assert outcomes["reject"] == rejects(decoded, spec).where("reason IS NOT NULL").count() > count // 5
        found = decoded.where(f"_partition <> {_MUTATED}").select(*compared(spec)).distinct().collect()
    finally:
        decoded.unpersist()
    numbers = [row._partition for row in found]
    assert len(numbers) == len(set(numbers)) > len(whole) // 2
    assert faults([whole[number] for number in numbers], found, source) == "", f"seed {seed}"
