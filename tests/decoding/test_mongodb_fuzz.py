"""Randomly changed records of MongoDB's connectors: each has one outcome, and those between them are decoded right.

Documents have every type; updates are partial ones of three versions.
"""

import json
import os
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from pyspark.sql import Column, Row, SparkSession
from tests.decoding.mutations import mutated
from tests.decoding.test_mongodb import (
    ORDERS,
    RECORDED_AT,
    TYPES,
    compared,
    documents_of_types,
    numbered_updates,
    spec,
    type_faults,
    types_table,
    update_faults,
)
from tests.support.records import RECORDS
from tools.captures import Record

from cdc import decode
from cdc.spec.model import TableSpec

_MUTATED = -1
"""In place of the partition, which of others is their number among the captured ones."""


def test_some_mutated_documents(spark: SparkSession, tmp_path: Path) -> None:
    one_of_each = {str(of_type): path for path, (of_type, _) in reversed(TYPES.items())}
    fuzz_documents(spark, tmp_path, 300, sorted({*one_of_each.values(), "nested.city"}), seed=20_261_123)


def test_some_mutated_updates(spark: SparkSession, tmp_path: Path) -> None:
    fuzz_updates(spark, tmp_path, 300, seed=20_261_123)


@pytest.mark.long
def test_many_mutated_documents(spark: SparkSession, tmp_path: Path) -> None:
    fuzz_documents(spark, tmp_path, 20_000, [*TYPES], seed=int(os.environ.get("FUZZ_SEED") or time.time()))


@pytest.mark.long
def test_many_mutated_updates(spark: SparkSession, tmp_path: Path) -> None:
    fuzz_updates(spark, tmp_path, 20_000, seed=int(os.environ.get("FUZZ_SEED") or time.time()))


def fuzz_documents(spark: SparkSession, folder: Path, count: int, paths: Sequence[str], *, seed: int) -> None:
    """Decode so many records of documents with these columns, three of four mutated."""
    table = types_table(folder, paths)
    reasons, intact = fuzz(spark, table, documents_of_types(), compared(table), count, seed)
    assert reasons >= {"WRONG_TYPE", "BROKEN_JSON"}, f"seed {seed}"
    assert [fault for row in intact for fault in type_faults(row)] == [], f"seed {seed}"


def fuzz_updates(spark: SparkSession, folder: Path, count: int, *, seed: int) -> None:
    """Decode so many records of partial updates, three of four mutated."""
    table, updates = spec(folder, ORDERS, "oplog", "shop.orders"), numbered_updates()
    reasons, intact = fuzz(spark, table, [record for _, _, record in updates], ["*"], count, seed)
    assert reasons >= {"WRONG_TYPE", "BROKEN_JSON", "PARTIAL_VALUE"}, f"seed {seed}"
    assert [fault for row in intact for fault in update_faults(row, table, *updates[row._partition][:2])] == [], (
        f"seed {seed}"
    )


def fuzz(
    spark: SparkSession,
    table: TableSpec,
    whole: Sequence[Record],
    columns: Sequence[Column | str],
    count: int,
    seed: int,
) -> tuple[set[str | None], list[Row]]:
    """Decode so many records: the reasons that occur, and what is compared of the records that are not mutated."""
    print(f"again with FUZZ_SEED={seed}")
    random = Random(seed)
    rows = []
    for offset in range(count):
        number = random.randrange(len(whole))
        record = whole[number]
        if random.random() < 0.75:
            number, record = _MUTATED, _mutated(record, random)
        rows.append((record.topic, number, offset, RECORDED_AT, 0, None, record.key, record.value))
    decoded = decode(spark.createDataFrame(rows, RECORDS).repartition(2), table).persist()
    try:
        # All columns are made: a value that no conversion can take must not stop the query either.
        decoded.write.format("noop").mode("overwrite").save()
        found = decoded.select("_offset", "_outcome", "_reason", "_message").collect()
        intact = decoded.where(f"_partition <> {_MUTATED}").select("_partition", *columns).collect()
    finally:
        decoded.unpersist()
    assert sorted(row._offset for row in found) == list(range(count)), f"seed {seed}"
    assert {"change", "reject"} <= {row._outcome for row in found} <= {"change", "reject", "ignored"}, f"seed {seed}"
    for row in found:
        assert (row._outcome == "reject") == (row._message is not None), f"seed {seed}"
        assert (row._outcome == "change") == (row._reason is None), f"seed {seed}"
    assert len({row._partition for row in intact}) > len(whole) // 2, f"seed {seed}"
    return {row._reason for row in found}, intact


def _mutated(record: Record, random: Random) -> Record:
    """The record with changes in its bytes, in the text of a document or update, or in its key."""
    kind = random.choice(("value", "text", "text", "key"))
    if kind == "value":
        return replace(record, value=mutated(record.value or b"", random))
    if kind == "key":
        return replace(record, key=mutated(record.key or b"", random))
    return replace(record, value=_with_mutated_text(json.loads(record.value or b""), random))


def _with_mutated_text(value: dict[str, Any], random: Random) -> bytes:
    event = value.get("payload", value)
    texts = [name for name in ("after", "patch", "filter") if isinstance(event.get(name), str)]
    holder, name = (event, random.choice(texts)) if texts else (event["updateDescription"], "updatedFields")
    if isinstance(holder.get(name), str):
        changed = mutated(holder[name].encode(), random)
        holder[name] = None if changed is None else changed.decode(errors="replace")
    return json.dumps(value).encode()
