"""Randomly changed records in one update: none stops it, each has an outcome, and the others are decoded right."""

import base64
import os
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from tests.decoding.mutations import mutated
from tests.support.cdc_pipeline import CdcPipeline
from tests.support.records import Record, Topic, lsn

TABLE = """
    table: shop.dbo.orders
    key: [id]
    history: false
    columns:
      id: bigint
      customer: nvarchar(80)
      total: decimal(38,10)
      amount: money
      paid: bit
      share: float
      placed_at: datetime2(7)
      opens_at: time(7)
      shipped_at: datetimeoffset(7)
      seal: varbinary(20)
      note: {type: nvarchar(max), unavailable: merge, large_nulls: unchanged}
"""
orders = Topic("shopserver.shop.dbo.orders")
SHOWN = {
    "id": "id",
    "customer": "customer",
    "total": "cast(total AS string)",
    "placed_at": "timestampdiff(MICROSECOND, TIMESTAMP_NTZ'1970-01-01', placed_at)",
    "opens_at": "opens_at",
    "shipped_at": "cast(unix_micros(shipped_at) AS string)",
    "seal": "hex(seal)",
    "commit_lsn": "_commit_lsn",
}


def test_some_mutated_records(tmp_path: Path, spark: SparkSession) -> None:
    fuzz(CdcPipeline(tmp_path, spark, {"tables/shop/orders.yml": TABLE}), 2_000, seed=20_260_302)


@pytest.mark.long
def test_many_mutated_records(tmp_path: Path, spark: SparkSession) -> None:
    seed = int(os.environ.get("FUZZ_SEED") or time.time())
    fuzz(CdcPipeline(tmp_path, spark, {"tables/shop/orders.yml": TABLE}), 100_000, seed=seed)


def fuzz(pipeline: CdcPipeline, count: int, *, seed: int) -> None:
    """An update over so many records, half of them mutated."""
    print(f"again with FUZZ_SEED={seed}")
    random = Random(seed)
    records, whole = [], []
    for offset in range(count):
        record, expected = _record(offset, random)
        if random.random() < 0.5:
            whole.append((offset, *expected))
        else:
            record = _damaged(record, random)
        records.append(record)
    pipeline.deliver(records)
    pipeline.update()

    outcomes = dict(_counted(pipeline))
    assert sum(outcomes.values()) == count, f"seed {seed}"
    assert outcomes["change"] == _size(pipeline, "silver.orders_changes")
    assert outcomes["reject"] == _size(pipeline, "silver.orders_rejects") > 0
    assert min(outcomes["change"], outcomes["ignored"]) > 0
    assert list(_wrong(pipeline, whole)) == [], f"seed {seed}"


def _record(offset: int, random: Random) -> tuple[Record, tuple[object, ...]]:
    """A record and its expected outcome."""
    micros = random.randrange(-62_135_596_800, 253_402_300_799) % 2**33 * 10**6 + random.randrange(10**6)
    total, seconds = random.randrange(-(2**120), 2**120), random.randrange(86_400)
    seal, position = random.randbytes(20), lsn(f"30:{offset:x}:1")
    customer = random.choice(("Ada", "Ünal \U0001f600", "", 'quote " and \\', "line\nbreak"))
    row = {
        "id": offset,
        "customer": customer,
        "total": _base64(total.to_bytes(16, signed=True)),
        "amount": "APb+",
        "paid": True,
        "share": 0.5,
        "placed_at": micros * 1000,
        "opens_at": seconds * 10**9,
        "shipped_at": "2018-07-13T12:23:45.456+11:00",
        "seal": _base64(seal),
        "note": "a note",
    }
    record = orders.create(**row).at(position)
    if random.random() < 0.2:
        record = record.with_schema()
    digits = f"{abs(total):011}"
    expected = (
        offset,
        customer,
        f"{'-' if total < 0 else ''}{digits[:-10]}.{digits[-10:]}",
        micros,
        f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}.0000000",
        "1531445025456000",
        seal.hex().upper(),
        position,
    )
    return record, expected


def _damaged(record: Record, random: Random) -> Record:
    value, key = record.value_bytes, record.key_bytes
    assert value is not None
    assert key is not None
    changed = mutated(value, random)
    if random.random() < 0.1:
        record = record.with_key_text(mutated(key, random) or b"")
    return Record(record.topic, None, None, raw_key=record.key_bytes, raw_value=changed)


def _counted(pipeline: CdcPipeline) -> Iterator[tuple[str, int]]:
    decoded = pipeline.pipeline().table("silver.orders_decoded")
    for row in decoded.groupBy("_outcome").count().collect():
        yield row["_outcome"], row["count"]


def _size(pipeline: CdcPipeline, dataset: str) -> int:
    return pipeline.pipeline().table(dataset).count()


def _wrong(pipeline: CdcPipeline, whole: list[tuple[object, ...]]) -> Iterator[str]:
    """The unchanged records that were not decoded as expected."""
    types = {"offset": "bigint", "id": "bigint", "placed_at": "bigint"}
    names = ("offset", *SHOWN)
    schema = ", ".join(f"{name} {types.get(name, 'string')}" for name in names)
    expected = pipeline.spark.createDataFrame(whole, schema)
    changes = pipeline.pipeline().table("silver.orders_changes")
    found = changes.selectExpr("_offset AS offset", *(f"{text} AS {name}" for name, text in SHOWN.items()))
    both = expected.alias("e").join(found.alias("f"), "offset", "left")
    same = [F.col(f"e.{name}").eqNullSafe(F.col(f"f.{name}")) for name in SHOWN]
    for row in both.where(~F.array_min(F.array(*same))).limit(5).collect():
        yield repr(row)


def _base64(content: bytes) -> str:
    return base64.b64encode(content).decode()
