"""Every shape of a value, by kind of connector: its small shop's records, rewritten as a transformation would."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from demo import shop
from pyspark.sql import Row, SparkSession
from tests.pipeline.test_small_shops import SMALL, captures
from tests.support.records import RECORDS
from tools.captures import Record, read

from cdc import TableSpec, decode
from cdc.connector_check.kinds import RULES
from cdc.spec.kinds import KINDS

ROWS = [kind for kind in SMALL if "flattened" in KINDS[kind].shapes]
"""The kinds whose records can be flattened."""
_BESIDE = ("_partition", "_snapshot")
"""Columns in which one change may differ between shapes: flattening writes null for `snapshot: false`."""
Value = dict[str, Any]
Rewrite = Callable[[Value, str], Value]


def orders(kind: str) -> TableSpec:
    return next(table for table in shop.tables(shop.SHOPS[kind].conf) if table.name == "orders")


@cache
def envelopes(kind: str) -> Sequence[Record]:
    """The orders' records of a kind's shop: reads, creates, updates, deletes and a changed key."""
    topic = orders(kind).topic
    intact = [record for capture in captures(kind)[:3] for record in read(capture)]
    return [record for record in intact if record.topic == topic and record.value]


def flattened(value: Value, kind: str) -> Value:
    """As ExtractNewRecordState writes it in rewrite mode, with `add.fields` as the connector check asks for it."""
    added = {
        f"__source_{name}": value["source"].get(name)
        for name in (field.removeprefix("source.") for field in RULES[kind].position)
    }
    if added.get("__source_snapshot") == "false":
        added["__source_snapshot"] = None
    is_delete = value["op"] == "d"
    return {
        **value["before" if is_delete else "after"],
        "__deleted": str(is_delete).lower(),
        "__op": value["op"],
        **added,
    }


def cloud_event(value: Value, kind: str) -> Value:
    """As the CloudEventsConverter writes it in JSON: `source` as attributes, their names without underscores."""
    attributes = {f"iodebezium{name.replace('_', '')}": each for name, each in value["source"].items()}
    images = {name: value.get(name) for name in ("before", "after", "updateDescription")}
    event = {"id": "1", "source": f"/debezium/{kind}/shop", "specversion": "1.0", "type": f"{kind}.DataChangeEvent"}
    return {**event, "iodebeziumop": value["op"], **attributes, "data": images}


def rewritten(records: Sequence[Record], rewrite: Rewrite, kind: str) -> list[Record]:
    return [replace(each, value=json.dumps(rewrite(json.loads(each.value or b""), kind)).encode()) for each in records]


def decoded(spark: SparkSession, table: TableSpec, groups: Mapping[str, Sequence[Record]]) -> Mapping[str, list[Row]]:
    """The outcomes of groups of records, all in one frame; the partition of a record is the number of its group."""
    rows = [
        (each.topic, number, offset, None, 0, None, each.key, each.value)
        for number, group in enumerate(groups.values())
        for offset, each in enumerate(group)
    ]
    found = decode(spark.createDataFrame(rows, RECORDS), table).orderBy("_partition", "_offset").collect()
    return {name: [row for row in found if row._partition == number] for number, name in enumerate(groups)}


def alike(rows: Sequence[Row]) -> list[Mapping[str, Any]]:
    """What is the same in every shape."""
    return [{name: value for name, value in row.asDict().items() if name not in _BESIDE} for row in rows]


LACKING = {
    "postgresql": [
        (["source_lsn", "source_sequence"], "source.lsn is null"),
        (["source_snapshot"], "source.snapshot is null"),
    ],
    "mariadb": [([f"source_{name}"], f"source.{name} is null") for name in ("file", "pos", "row")],
    "mysql": [([f"source_{name}"], f"source.{name} is null") for name in ("file", "pos", "row")],
    "db2": [(["source_commit_lsn"], "source.commit_lsn is null")],
}
"""Kind -> fields that a flattened read may not lack, and what is wrong if it does."""
TIME = (["source_ts_ms"], "source.ts_ms is null")


def lacking(kind: str) -> list[Record]:
    """A flattened read without fields of its position, one record for each case."""
    (record,) = rewritten(envelopes(kind)[:1], flattened, kind)
    value = json.loads(record.value or b"")
    cases = [
        {name: each for name, each in value.items() if name[2:] not in fields} for fields, _ in (*LACKING[kind], TIME)
    ]
    return [replace(record, value=json.dumps(each).encode()) for each in cases]


@pytest.fixture(scope="module")
def found(spark: SparkSession) -> Callable[[str], Mapping[str, list[Row]]]:
    """Kind -> what becomes of its records in every shape; each kind's are decoded once."""

    @cache
    def of_kind(kind: str) -> Mapping[str, list[Row]]:
        records = envelopes(kind)
        groups = {"envelope": records, "cloud event": rewritten(records, cloud_event, kind)}
        if kind in ROWS:
            groups |= {"flattened": rewritten(records, flattened, kind), "lacking": lacking(kind)}
        return decoded(spark, orders(kind), groups)

    return of_kind


@pytest.mark.parametrize("kind", SMALL)
def test_a_change_is_the_same_in_every_shape(found: Callable[[str], Mapping[str, list[Row]]], kind: str) -> None:
    expected = found(kind)["envelope"]
    assert {row._outcome for row in expected} == {"change"}
    assert {row._op for row in expected} == {"r", "c", "u", "d"}
    for shape in ("cloud event", "flattened") if kind in ROWS else ("cloud event",):
        for wanted, got in zip(alike(expected), alike(found(kind)[shape]), strict=True):
            assert got == wanted, shape


@pytest.mark.parametrize("kind", ROWS)
def test_a_flattened_record_without_a_field_of_the_position_is_rejected_by_its_name(
    found: Callable[[str], Mapping[str, list[Row]]], kind: str
) -> None:
    for row, (fields, message) in zip(found(kind)["lacking"], (*LACKING[kind], TIME), strict=True):
        assert (row._reason, str(row._message)[: len(message)]) == ("MISSING_POSITION", message), fields


def test_every_kind_with_flattened_records_has_its_fields_here() -> None:
    assert set(LACKING) == set(ROWS)


def test_a_flattened_document_is_rejected_and_said_to_be_one(spark: SparkSession) -> None:
    # Types are lost, and an update may be a part of the document: taken for all of it, it would make nulls of the rest.
    added = {"__op": "u", "__deleted": "false", "__source_ord": 1, "__source_ts_ms": 1_772_366_400_000}
    (record, *_) = envelopes("mongodb")
    flat = [{"_id": 1001, "customer_id": 101}, {"_id": 1001}]
    records = [replace(record, value=json.dumps(each | added).encode()) for each in flat]
    for row in decoded(spark, orders("mongodb"), {"flattened": records})["flattened"]:
        assert row._reason == "NOT_AN_ENVELOPE"
        assert (
            "flattened records have lost the types of their values: let the connector write envelopes" in row._message
        )
