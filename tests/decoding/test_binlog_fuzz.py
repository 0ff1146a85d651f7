"""Randomly changed records of the real connectors: each has exactly one outcome, and none stops the decoder."""

import os
import time
from dataclasses import replace
from random import Random

import pytest
from pyspark.sql import SparkSession
from tests.decoding.binlog.expected import Source
from tests.decoding.mutations import mutated
from tests.decoding.test_binlog_types import records, types_table
from tests.support.records import RECORDS
from tools.binlog_connector.types import CAPTURES, combinations

from cdc import changes, decode, rejects

_KINDS = {"mariadb": CAPTURES[0], "mysql": CAPTURES[4]}


def test_some_mutated_records(spark: SparkSession) -> None:
    fuzz(spark, "mariadb", 400, seed=20_261_123)


@pytest.mark.long
@pytest.mark.parametrize("kind", _KINDS)
def test_many_mutated_records(spark: SparkSession, kind: str) -> None:
    fuzz(spark, kind, 20_000, seed=int(os.environ.get("FUZZ_SEED") or time.time()))


def fuzz(spark: SparkSession, kind: str, count: int, *, seed: int) -> None:
    """Decode so many records of a kind, nearly all of them mutated."""
    print(f"again with FUZZ_SEED={seed}")
    random, capture = Random(seed), _KINDS[kind]
    modes = combinations(capture.version)[0]
    spec = types_table(Source(capture, modes))
    spec = replace(spec, connector=replace(spec.connector, topic_prefix=modes.prefix))
    whole = [record for form in (False, True) for record in records(capture, with_schema=form)]
    whole = [record for record in whole if record.topic == spec.topic]
    rows = []
    for number in range(count):
        record = random.choice(whole)
        assert record.value is not None
        value = mutated(record.value, random) if random.random() < 0.95 else record.value
        key = mutated(record.key or b"", random) if random.random() < 0.05 else record.key
        rows.append((record.topic, 0, number, None, 0, None, key, value))
    decoded = decode(spark.createDataFrame(rows, RECORDS), spec).persist()
    try:
        outcomes = {row["_outcome"]: row["count"] for row in decoded.groupBy("_outcome").count().collect()}
        assert sum(outcomes.values()) == count
        assert decoded.select("_offset").distinct().count() == count
        assert set(outcomes) <= {"change", "reject", "ignored"}
        assert outcomes["change"] == changes(decoded, spec).count() > count // 50
        assert outcomes["reject"] == rejects(decoded, spec).where("reason IS NOT NULL").count() > count // 5
    finally:
        decoded.unpersist()
