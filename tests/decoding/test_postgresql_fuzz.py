"""Randomly changed records of the real PostgreSQL connector: each has one outcome, and the others are decoded right."""

import os
import time
from collections.abc import Mapping
from dataclasses import replace
from random import Random
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from tests.decoding.mutations import mutated
from tests.decoding.postgresql.expected import Source
from tests.decoding.test_postgresql_types import EVERY, faults_of, records_of, shown, types_table
from tests.support.records import RECORDS
from tools.captures import Record
from tools.postgresql_connector.types import VERSIONS, Modes

from cdc import changes, decode, rejects
from cdc.spec.model import TableSpec


def test_some_mutated_records(spark: SparkSession) -> None:
    fuzz(spark, EVERY[0], 400, seed=20_261_123)


@pytest.mark.long
@pytest.mark.parametrize("modes", [EVERY[0], EVERY[3]], ids=lambda modes: modes.prefix)
def test_many_mutated_records(spark: SparkSession, modes: Modes) -> None:
    fuzz(spark, modes, 20_000, seed=int(os.environ.get("FUZZ_SEED") or time.time()))


def fuzz(spark: SparkSession, modes: Modes, count: int, *, seed: int) -> None:
    """Decode so many records, nine of ten mutated in their value or key; large values are merged.

    The tenth has the values of the database's row, or is the reject that it must be.
    """
    print(f"again with FUZZ_SEED={seed}")
    random = Random(seed)
    plain = types_table(modes)
    merging = tuple(replace(each, unavailable="merge") if each.type.is_large else each for each in plain.columns)
    spec = replace(plain, columns=merging)
    topic = f"{modes.prefix}.public.types"
    whole = [each for form in (False, True) for each in records_of(VERSIONS[0], with_schema=form)]
    whole = [each for each in whole if each.topic == topic]
    rows: list[tuple[Any, ...]] = []
    unchanged: dict[int, Record] = {}
    for offset in range(count):
        record = random.choice(whole)
        key, value = record.key, record.value
        if random.random() < 0.9:
            if random.random() < 0.1:
                key = mutated(key or b"", random)
            else:
                value = mutated(value or b"", random)
        if (key, value) == (record.key, record.value):
            unchanged[offset] = record
        rows.append(("t", 0, offset, None, 0, None, key, value))
    decoded = decode(spark.createDataFrame(rows, RECORDS).repartition(2), spec).persist()
    try:
        found = decoded.groupBy("_outcome", "_reason").count().collect()
        # All columns are made: a value that no conversion can take must not stop the query either.
        decoded.write.format("noop").mode("overwrite").save()
        assert decoded.select("_offset").distinct().count() == count == sum(each["count"] for each in found)
        assert all(each._reason for each in found if each._outcome != "change")
        outcomes = {row["_outcome"]: row["count"] for row in decoded.groupBy("_outcome").count().collect()}
        assert set(outcomes) == {"change", "reject", "ignored"}
        assert outcomes["change"] == changes(decoded, spec).count() > count // 50
        assert outcomes["reject"] == rejects(decoded, spec).where("reason IS NOT NULL").count() > count // 5
        assert wrong(decoded, spec, unchanged, Source(VERSIONS[0], modes)) == [], f"seed {seed}"
    finally:
        decoded.unpersist()


def wrong(decoded: DataFrame, spec: TableSpec, unchanged: Mapping[int, Record], source: Source) -> list[str]:
    """What of the records that were not changed is not as the database has it."""
    assert unchanged
    found = decoded.where(F.col("_offset").isin(list(unchanged))).select(
        "_offset", "_outcome", "_reason", "_message", F.struct(*shown(spec)).alias("row")
    )
    rows = {row["_offset"]: row for row in found.collect()}
    return [fault for offset, record in unchanged.items() for fault in faults_of(rows[offset], record, source)]
