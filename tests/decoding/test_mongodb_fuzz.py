"""Randomly changed records of MongoDB's connectors: none stops decoding, and each has exactly one outcome."""

import json
import os
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from pyspark.sql import SparkSession
from tests.decoding.mutations import mutated
from tests.decoding.test_mongodb import FORMS, ORDERS, as_frame, captured, spec
from tools.captures import Record

from cdc import decode

COLUMNS = {
    **ORDERS,
    "tags": "json",
    "flag": "boolean",
    "at": "date",
    "ref": "objectid",
    "seal": "binary",
    "count": "long",
}


def test_some_mutated_records(spark: SparkSession, tmp_path: Path) -> None:
    fuzz(spark, tmp_path, 600, seed=20_261_123)


@pytest.mark.long
def test_many_mutated_records(spark: SparkSession, tmp_path: Path) -> None:
    fuzz(spark, tmp_path, 20_000, seed=int(os.environ.get("FUZZ_SEED") or time.time()))


def fuzz(spark: SparkSession, folder: Path, count: int, *, seed: int) -> None:
    """Decode so many mutated records."""
    print(f"again with FUZZ_SEED={seed}")
    random = Random(seed)
    table = spec(folder, COLUMNS, "oplog", "shop.orders", document="whole")
    records = list(_mutated(count, random))
    found = decode(as_frame(spark, records), table).select("_outcome", "_reason", "_message").collect()
    assert len(found) == count
    outcomes = Counter(row._outcome for row in found)
    assert set(outcomes) == {"change", "reject", "ignored"}, f"seed {seed}"
    for row in found:
        assert (row._outcome == "reject") == (row._message is not None), f"seed {seed}"
        assert (row._outcome == "change") == (row._reason is None), f"seed {seed}"


def _mutated(count: int, random: Random) -> Iterator[Record]:
    """Records with changes in their bytes, in the text of a document or update, or in the key."""
    whole = [
        record
        for version, mode, with_schema in FORMS
        for record in captured(version, mode, with_schema=with_schema, source="shop.orders")
        if record.value and not with_schema
    ]
    for _ in range(count):
        record = random.choice(whole)
        kind = random.choice(("value", "text", "text", "key"))
        if kind == "value":
            yield replace(record, value=mutated(record.value or b"", random))
        elif kind == "key":
            key = mutated(record.key or b"", random)
            yield replace(record, key=key)
        else:
            yield replace(record, value=_with_mutated_text(json.loads(record.value or b""), random))


def _with_mutated_text(value: dict[str, object], random: Random) -> bytes:
    texts = [name for name in ("after", "patch", "filter") if isinstance(value.get(name), str)]
    description = value.get("updateDescription")
    holder, name = (value, random.choice(texts)) if texts else (description, "updatedFields")
    if isinstance(holder, dict) and isinstance(holder.get(name), str):
        changed = mutated(holder[name].encode(), random)
        holder[name] = None if changed is None else changed.decode(errors="replace")
    return json.dumps(value).encode()
