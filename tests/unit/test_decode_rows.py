"""The row of a change: the source of its values, its key and its unknown fields."""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from typing import Any

import pytest
from pyspark.sql import Row, SparkSession
from tests.support.records import Record, Topic, frame
from tests.support.tables import CONNECTOR, column, table

from cdc import changes, decode, rejects
from cdc.spec.model import ConnectorSpec

ORDERS = table({"id": "int not null", "customer": "nvarchar(20)", "total": "decimal(18,2)"})
orders = Topic(ORDERS.topic)


def decoded(spark: SparkSession, records: list[Record], spec: Any = ORDERS) -> list[Row]:
    found = changes(decode(frame(spark, records), spec), spec)
    return found.orderBy("_offset").collect()


def test_a_row_is_the_same_with_and_without_schema_block(spark: SparkSession) -> None:
    record = orders.create(id=7, customer="Zoë", total="AMg=")
    plain, with_schema = decoded(spark, [record, record.with_schema()])
    assert (plain.id, plain.customer, plain.total) == (7, "Zoë", Decimal("2.00"))
    assert replaced(with_schema, _offset=0) == plain


def replaced(row: Row, **other: Any) -> Row:
    return Row(**{**row.asDict(), **other})


@pytest.mark.parametrize(
    "row",
    [
        {"id": 1, "customer": "Ada", "total": "AMg="},
        {"total": "AMg=", "customer": "Ada", "id": 1},
        {"id": 1, "before_all": None, "customer": "Ada", "total": "AMg="},
        {"id": 1, "customer": "Ada", "total": "AMg=", "added": 5},
        {"added": {"x": [1, "č"]}, "total": "AMg=", "id": 1, "customer": "Ada"},
    ],
    ids=["as in the spec", "another order", "one more within", "one more at the end", "all at once"],
)
def test_the_order_of_fields_does_not_matter(spark: SparkSession, row: dict[str, Any]) -> None:
    (found,) = decoded(spark, [orders.create(**row)])
    assert (found.id, found.customer, found.total) == (1, "Ada", Decimal("2.00"))
    assert sorted(found._unknown or {}) == sorted(set(row) - {"id", "customer", "total"})


EXACT = replace(CONNECTOR, decimal_format="numeric")


@pytest.mark.parametrize(
    ("type_", "number"),
    [
        ("decimal(18,2)", "1.10"),
        ("decimal(38,18)", "-12345678901234567890.123456789012345678"),
        ("decimal(38,18)", "1.23456789012E-7"),
        ("decimal(38,18)", "-0.5e1"),
        ("decimal(38,0)", "0"),
        ("decimal(38,0)", "9" * 38),
        ("decimal(38,30)", "0.100000000000000000001234"),
        ("decimal(38,30)", "1.234567890123456789012E-7"),
    ],
)
def test_a_decimal_that_is_a_number_of_json_keeps_every_digit(spark: SparkSession, type_: str, number: str) -> None:
    spec = table({"id": f"{type_} not null", "note": "nvarchar(99)", "total": type_}, connector=EXACT)
    note = 'as "id":1.10, \\" [2.50] \\ -7'
    text = f'{{"id":{number},"note":{json.dumps(note)},"total":{number}}}'
    envelope = orders.create(id=0).value_bytes or b""
    delete = orders.delete(id=0)
    records = [
        orders.create(id=0).with_text(envelope.replace(b'"after":{"id":0}', b'"after":' + text.encode())),
        delete.with_value(before=None).with_key_text(f'{{"id":{number}}}'),
    ]
    created, deleted = decoded(spark, records, spec)
    assert (created.id, created.note, created.total) == (Decimal(number), note, Decimal(number))
    assert deleted.id == Decimal(number)


def test_a_decimal_with_more_digits_than_its_type_is_rejected_with_all_of_them(spark: SparkSession) -> None:
    spec = table({"id": "int not null", "total": "decimal(18,2)"}, connector=EXACT)
    text = (orders.create(id=1, total=0).value_bytes or b"").replace(b'"total":0', b'"total":1.2000000000000000000003')
    (found,) = rejects(decode(frame(spark, [orders.create(id=1).with_text(text)]), spec), spec).collect()
    assert "1.2000000000000000000003" in found.message
    assert found.value == text


@pytest.mark.parametrize("connector", [CONNECTOR, EXACT], ids=["base64", "numeric"])
@pytest.mark.parametrize("fields", [("id", "customer"), ("customer", "id")], ids=["as in the spec", "another order"])
def test_a_value_of_more_than_20_million_characters_is_decoded(
    spark: SparkSession, fields: tuple[str, ...], connector: ConnectorSpec
) -> None:
    spec = table({"id": "int not null", "customer": "nvarchar(max)"}, connector=connector)
    row = {"id": 1, "customer": 'x1"' * 7_000_000}
    (found,) = decoded(spark, [orders.create(**{name: row[name] for name in fields})], spec)
    assert (found.id, len(found.customer)) == (1, 21_000_000)


def test_unknown_fields_are_kept_as_text(spark: SparkSession) -> None:
    (found,) = decoded(spark, [orders.create(id=1, big=9223372036854775807, nothing=None, deep={"a": [1]})])
    assert found._unknown == {"big": "9223372036854775807", "nothing": None, "deep": '{"a":[1]}'}
    assert (found.customer, found.total) == (None, None)


def test_excluded_fields_are_neither_decoded_nor_unknown(spark: SparkSession) -> None:
    spec = replace(ORDERS, excluded=("secret",))
    (found,) = decoded(spark, [orders.create(id=1, secret="s", customer="Ada", total=None)], spec)
    assert (found.customer, found._unknown) == ("Ada", None)


def test_the_last_of_two_values_of_a_field_wins(spark: SparkSession) -> None:
    text = orders.create(id=1, customer="first", total=None).value_bytes.decode()
    twice = text.replace('"total"', '"customer":"last","total"')
    (found,) = decoded(spark, [orders.create(id=1).with_text(twice)])
    assert found.customer == "last"


def test_a_delete_has_the_key_of_the_row_before(spark: SparkSession) -> None:
    (found,) = decoded(spark, [orders.delete(id=4, customer="Ada", total="AMg=")])
    assert (found.id, found.customer, found._op) == (4, None, "d")


@pytest.mark.parametrize("has_schema", [False, True], ids=["plain key", "key with schema"])
def test_without_a_row_the_record_key_has_the_key(spark: SparkSession, has_schema: bool) -> None:
    record = orders.delete(id=4).with_value(before=None).with_key({"id": 4})
    (found,) = decoded(spark, [record.with_schema() if has_schema else record])
    assert found.id == 4


@pytest.mark.parametrize("key", [None, "Struct{id=4}", "", b"\xff\x00", "[4]", "4"])
def test_the_row_has_the_key_whatever_the_record_key_is(spark: SparkSession, key: str | bytes | None) -> None:
    record = orders.create(id=4)
    (found,) = decoded(spark, [record.with_key(None) if key is None else record.with_key_text(key)])
    assert found.id == 4


@pytest.mark.parametrize("record", [orders.create, orders.update, orders.delete], ids=["create", "update", "delete"])
def test_message_key_columns_do_not_change_the_key(spark: SparkSession, record: Callable[..., Record]) -> None:
    (found,) = decoded(spark, [record(id=4, customer="Ada").with_key({"customer": "Ada"})])
    assert found.id == 4


def test_a_key_only_column_comes_from_the_record_key(spark: SparkSession) -> None:
    router = column("__dbz__physicalTableIdentifier", "nvarchar(200)", target="physical_table", key_only=True)
    spec = table({"id": "int not null", "router": router}, key=("id", "physical_table"))
    record = orders.create(id=4).with_key({"id": 4, "__dbz__physicalTableIdentifier": "server1.dbo.orders_1"})
    (found,) = decoded(spark, [record], spec)
    assert (found.id, found.physical_table, found._unknown) == (4, "server1.dbo.orders_1", None)


def test_a_table_without_key_keeps_the_whole_row_of_a_delete(spark: SparkSession) -> None:
    spec = replace(ORDERS, key=(), append_only=True)
    (found,) = decoded(spark, [orders.delete(id=4, customer="Ada", total="AMg=").with_key(None)], spec)
    assert (found.id, found.customer, found.total) == (4, "Ada", Decimal("2.00"))


def test_renamed_and_masked_columns_have_their_target_names(spark: SparkSession) -> None:
    spec = table(
        {
            "id": "int not null",
            "E-Mail.Addr": column("E-Mail.Addr", "nvarchar(80)", target="email", mask="sha2(email, 256)"),
        }
    )
    (found,) = decoded(spark, [orders.create(id=1, **{"E-Mail.Addr": "a"})], spec)
    assert found.email == "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"


def test_a_table_may_have_columns_of_kafkas_names(spark: SparkSession) -> None:
    row = {"value": "a", "key": 2, "topic": 3, "partition": 4, "offset": 5, "timestamp": 6, "headers": 7, "reason": "r"}
    types = {name: "nvarchar(9)" if isinstance(value, str) else "int" for name, value in row.items()}
    spec = table({"id": "int not null", **types}, key=("id", "key"))
    good, bad = orders.create(id=1, **row), orders.create(id=1, **{**row, "offset": "far"})
    (found,) = decoded(spark, [good, bad], spec)
    assert {name: found[name] for name in row} == row
    (reject,) = rejects(decode(frame(spark, [good, bad]), spec), spec).collect()
    assert (reject.reason, reject.offset, bytes(reject.value)) == ("WRONG_TYPE", 1, bad.value_bytes)


def test_records_of_other_tables_in_a_shared_topic_are_ignored(spark: SparkSession) -> None:
    spec = replace(ORDERS, shared_topic=True)
    records = [orders.create(id=1), orders.create(id=2).with_source(table="lines")]
    found = decode(frame(spark, records), spec).orderBy("_offset").collect()
    assert [(row._outcome, row._reason) for row in found] == [("change", None), ("ignored", "other_table")]


@pytest.mark.parametrize(
    ("mode", "wire"),
    [("bytes", "X19kZWJleml1bV91bmF2YWlsYWJsZV92YWx1ZQ=="), ("hex", b"__debezium_unavailable_value".hex())],
)
def test_placeholders_of_large_columns_are_null(spark: SparkSession, mode: str, wire: str) -> None:
    spec = table(
        {"id": "int not null", "doc": "xml", "scan": "varbinary(max)", "name": "varchar(50)"},
        connector=replace(CONNECTOR, binary_handling_mode=mode),
    )
    placeholder = "__debezium_unavailable_value"
    (found,) = decoded(spark, [orders.update(id=1, doc=placeholder, scan=wire, name=placeholder)], spec)
    assert (found.doc, found.scan, found.name) == (None, None, placeholder)


def test_a_changes_own_columns(spark: SparkSession) -> None:
    record = orders.update(id=1).at("2F:1d0:3", "2f:1C8:2", serial="2", ms=1_772_366_400_123)
    (found,) = decoded(spark, [record.with_value(transaction={"id": "tx", "total_order": 1})])
    assert found._op == "u"
    assert (found._incarnation, found._operation, found._event_serial_no) == (0, 1, 2)
    assert (found._commit_lsn, found._change_lsn) == ("0000002f:000001d0:0003", "0000002f:000001c8:0002")
    assert found._committed_at == datetime.fromtimestamp(1_772_366_400.123)  # noqa: DTZ006 (as Spark collects)
    assert (found._snapshot, found._transaction_id) == ("false", "tx")
    assert (found._topic, found._partition, found._offset) == (ORDERS.topic, 0, 0)
