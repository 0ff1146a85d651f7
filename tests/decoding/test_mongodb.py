"""MongoDB's connectors of three versions: every BSON type and every form of update against the documents written.

The records are the connectors' own, over a scripted server (tools/mongodb_connector); what the documents hold is in
captures/mongodb/scenario.json.
"""

import base64
import gzip
import json
import math
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from pyspark.sql import Column, DataFrame, Row, SparkSession
from pyspark.sql import functions as F
from tests.support.conf_folder import one_table
from tests.support.records import RECORDS
from tools.captures import Record
from tools.mongodb_captures import SCENARIO, capture_file, combinations
from tools.mongodb_connector.primary import VERSIONS

from cdc import decode
from cdc.debezium.values import conversion_of
from cdc.spec.model import TableSpec

RECORDED_AT = datetime(2026, 3, 1, 12, tzinfo=UTC)
CAPTURE_MODES = {
    "update_full": "change_streams_update_full",
    "partial": "change_streams",
    "pre_image": "change_streams_update_full_with_pre_image",
    "oplog": "oplog",
}
FORMS = [
    (version, mode, with_schema)
    for version in VERSIONS
    for mode in combinations(version)
    for with_schema in (False, True)
]
TYPES: dict[str, tuple[Any, Any]] = {
    "_id": ("objectid", "65a1b2c3d4e5f60718293a4b"),
    "text": ("string", 'Ada "L" \\ ü 😀\n'),
    "empty": ("string", ""),
    "digits": ("string", "1234"),
    "looks_null": ("varchar", "null"),
    "looks_nan": ("text", "NaN"),
    "int": ("int", "-2147483648"),
    "long": ("long", "9223372036854775807"),
    "small_long": ("int", "5"),
    "double": ("double", "0.1"),
    "whole_double": ("double", "5.0"),
    "huge": ("double", "1.7976931348623157E308"),
    "nan": ("double", "NaN"),
    "infinity": ("double", "Infinity"),
    "minus_infinity": ("double", "-Infinity"),
    "minus_zero": ("double", "-0.0"),
    "decimal": ("decimal(34,24)", "1234567890.123456789012345678901234"),
    "small_decimal": ("decimal(5,2)", "-0.10"),
    "exponent": ("decimal(18,2)", "1000.00"),
    "decimal_nan": ("decimal128", "NaN"),
    "decimal_infinity": ("decimal128", "-Infinity"),
    "yes": ("boolean", "true"),
    "no": ("bool", "false"),
    "nothing": ("string", None),
    "gone": ("int", None),
    "not_there": ("int", None),
    "date": ("date", 1772366400123000),
    "early": ("date", -62135596800000000),
    "late": ("date", 253402300799999000),
    "before_1970": ("date", -1000),
    "object_id": ("objectid", "507f1f77bcf86cd799439011"),
    "bytes": ("binary", "00ff1080"),
    "no_bytes": ("binary", ""),
    "user_bytes": ("binary", "0102"),
    "uuid": ("uuid", "00010203-0405-0607-0809-0a0b0c0d0e0f"),
    "timestamp": ("timestamp", str(1772366400 * 2**32 + 7)),
    "late_timestamp": ("timestamp", str(2**64 - 1)),
    "regex": ("json", {"$regex": '^a"b', "$options": "i"}),
    "code": ("json", {"$code": "x = 1"}),
    "symbol": ("string", "sym"),
    "lowest": ("json", {"$minKey": 1}),
    "highest": ("json", {"$maxKey": 1}),
    "object": ("json", {"z": 1, "a": {"b": ["x", {"c": {"$numberLong": "1"}}]}}),
    "array": ("array", [1, 2.5, "three", None, {"k": {"$numberDouble": "NaN"}}]),
    "nested.city": ("string", "Turin"),
    "nested.geo.lat": ("double", "45.07"),
    "with space": ({"type": "string", "rename": "with_space"}, "s"),
    'quo"te': ("string", "q"),
}
"""Path -> type, and the value written: of `json` the value itself, of other types as a text or in microseconds."""


def spec(folder: Path, columns: dict[str, Any], mode: str, source: str, **more: Any) -> TableSpec:
    """The spec of a collection, read from its files."""
    connector = {"topic_prefix": "server1", "kind": "mongodb", "capture_mode": CAPTURE_MODES[mode]}
    key = [name for name in columns if name.startswith("_id")]
    table = {"table": source, "key": key, "columns": columns, **more}
    return one_table(folder, json.dumps(table), connector=json.dumps(connector))


def captured(version: str, mode: str, *, with_schema: bool, source: str) -> list[Record]:
    """The records of a collection, in one version, mode and form."""
    prefix = mode if mode == "oplog" else f"{mode}.server1"
    with gzip.open(capture_file(version, with_schema=with_schema), "rt", encoding="utf-8") as lines:
        records = map(Record.from_line, lines)
        return [record for record in records if record.topic == f"{prefix}.{source}"]


def as_frame(spark: SparkSession, records: Iterable[Record]) -> DataFrame:
    """Records in the columns of bronze, each in a partition of its number."""
    rows = [
        (each.topic, number, each.offset, RECORDED_AT, 0, None, each.key, each.value)
        for number, each in enumerate(records)
    ]
    return spark.createDataFrame(rows, RECORDS)


def decoded(spark: SparkSession, records: Iterable[Record], table: TableSpec, *columns: Any) -> list[Any]:
    """The records decoded, in their order."""
    return decode(as_frame(spark, records), table).orderBy("_partition").select(*columns or ("*",)).collect()


def shown(table: TableSpec) -> Iterator[Column]:
    """The columns as texts, bytes in hexadecimal digits, timestamps in microseconds."""
    for column in table.columns:
        value, target = F.col(f"`{column.target}`"), conversion_of(column, table.connector).target
        if target == "binary":
            yield F.lower(F.hex(value)).alias(column.name)
        elif target == "timestamp":
            yield F.unix_micros(value).alias(column.name)
        else:
            yield value.cast("string").alias(column.name)


def test_every_type_of_every_version_in_every_mode(spark: SparkSession, tmp_path: Path) -> None:
    table, records = types_table(tmp_path), documents_of_types()
    assert len(records) == 2 * len(FORMS) == 28
    for number, got in enumerate(decoded(spark, records, table, *compared(table))):
        assert list(type_faults(got)) == [], FORMS[number // 2]


def types_table(folder: Path, paths: Iterable[str] = TYPES) -> TableSpec:
    """The spec of the documents that have every type, with these columns."""
    return spec(folder, {path: TYPES[path][0] for path in paths}, "partial", "lab.types")


def documents_of_types() -> list[Record]:
    """The records of such documents, in all versions, modes and forms."""
    return [
        record
        for version, mode, with_schema in FORMS
        for record in captured(version, mode, with_schema=with_schema, source="lab.types")
        if record.offset != 1
    ]


def compared(table: TableSpec) -> list[Column | str]:
    """What `type_faults` compares of a decoded record."""
    return ["_outcome", "_message", F.struct(*shown(table)).alias("row"), "_unknown"]


def type_faults(got: Row) -> Iterator[str]:
    """What is wrong with a decoded document of all types."""
    if (got._outcome, got._message) != ("change", None):
        yield f"{got._outcome}: {got._message}"
        return
    values = got.row.asDict()
    for name in values:
        of_type, expected = TYPES[name]
        value = json.loads(values[name]) if of_type in ("json", "array") else values[name]
        if value != expected:
            yield f"{name}: {value!r} in place of {expected!r}"
    if len(values) == len(TYPES) and got._unknown != {"through": '[{"x":1}]', "a.b": '"dotted"'}:
        yield f"unknown: {got._unknown}"


def written() -> dict[str, Any]:
    """The document of all types as it was given to the server, in canonical extended JSON."""
    steps = json.loads(SCENARIO.read_text(encoding="utf-8"))
    document: dict[str, Any] = next(step["documents"][0] for step in steps if step.get("seed") == "lab.types")
    return document


def relaxed(value: Any) -> Any:
    """Canonical extended JSON as relaxed: plain numbers, and dates from 1970 to 9999 as ISO 8601."""
    match value:
        case {"$numberInt": digits} | {"$numberLong": digits}:
            return int(digits)
        case {"$numberDouble": digits} if math.isfinite(float(digits)):
            return float(digits)
        case {"$date": {"$numberLong": digits}} if 0 <= int(digits) <= 253402300799999:
            moment = datetime.fromtimestamp(int(digits) // 1000, UTC)
            return {"$date": f"{moment:%Y-%m-%dT%H:%M:%S}.{int(digits) % 1000:03}Z"}
        case {"$binary": {"subType": "04", "base64": text}}:
            return {"$uuid": str(UUID(bytes=base64.b64decode(text)))}
        case dict():
            return {name: relaxed(each) for name, each in value.items()}
        case list():
            return [relaxed(each) for each in value]
    return value


def with_document(document: object) -> Record:
    """A record with this document: an object, or its text."""
    (record, *_) = captured("3.6.1.Final", "update_full", with_schema=False, source="lab.types")
    value = json.loads(record.value or b"")
    value["after"] = document if isinstance(document, str) else json.dumps(document, ensure_ascii=False)
    return replace(record, value=json.dumps(value).encode())


def test_every_type_in_canonical_and_in_relaxed_extended_json(spark: SparkSession, tmp_path: Path) -> None:
    # As records of other connectors and versions may have them; those captured here have the older strict form.
    table = spec(tmp_path, {name: of_type for name, (of_type, _) in TYPES.items()}, "update_full", "lab.types")
    documents = [written(), relaxed(written())]
    rows = decoded(spark, map(with_document, documents), table, "_message", F.struct(*shown(table)).alias("row"))
    for got, document in zip(rows, documents, strict=True):
        assert got._message is None
        for name, (of_type, expected) in TYPES.items():
            is_json = of_type in ("json", "array")
            value = json.loads(got.row[name]) if is_json else got.row[name]
            assert value == (document[name] if is_json else expected), name


NUMBERS = {"int": "int", "long": "long", "double": "double", "money": "decimal(5,2)", "exact": "decimal128"}
NOT_HELD = [
    {"int": 5.00000000001},
    {"int": {"$numberLong": "2147483648"}},
    {"int": {"$numberDecimal": "15E-1"}},
    {"long": {"$numberDouble": "1.2345678901234567E18"}},
    {"long": {"$numberDecimal": "9223372036854775808"}},
    {"double": {"$numberLong": "9007199254740993"}},
    {"double": {"$numberDecimal": "0.1"}},
    {"money": {"$numberDecimal": "1.005"}},
    {"money": {"$numberDecimal": "1005E-3"}},
    {"money": {"$numberDecimal": "1000.00"}},
    {"money": 0.5},
    {"exact": 0.5},
    {"exact": {"$numberDecimal": "many"}},
]
HELD = [
    {"int": 5.0, "long": {"$numberDouble": "1E+15"}, "money": {"$numberDecimal": "100E-2"}, "exact": 7},
    {"int": {"$numberDecimal": "1.2E+3"}, "double": {"$numberDecimal": "12"}, "money": {"$numberDouble": "3.0"}},
]


def test_a_number_is_what_was_written_or_a_reject(spark: SparkSession, tmp_path: Path) -> None:
    table = spec(tmp_path, {"_id": "objectid", **NUMBERS}, "update_full", "lab.types")
    rows = decoded(spark, map(with_document, NOT_HELD + HELD), table)
    found = [(row._reason, str(row._message).partition(":")[0]) for row in rows[: len(NOT_HELD)]]
    assert found == [("WRONG_TYPE", f"column {name}") for each in NOT_HELD for name in each]
    held = [tuple(row[name] for name in NUMBERS) for row in rows[len(NOT_HELD) :]]
    assert held == [(5, 10**15, None, Decimal("1.00"), "7"), (1200, None, 12.0, Decimal("3.00"), None)]


def test_a_whole_document_is_json_for_a_variant(spark: SparkSession, tmp_path: Path) -> None:
    # The connector writes NaN as it is, which is not JSON.
    table = spec(tmp_path, {"_id": "objectid"}, "update_full", "lab.types", document="whole")
    records = captured("3.6.1.Final", "update_full", with_schema=False, source="lab.types")[:1]
    assert b"NaN," in (records[0].value or b"")
    paths = ("$.nested.city", "$.nan['$numberDouble']", "$.looks_nan", "$.array[4].k['$numberDouble']")
    parts = [F.expr(f"""variant_get(parse_json(whole), "{path}", 'string')""").alias(path) for path in paths]
    (row,) = decoded(spark, records, table, *parts)
    assert tuple(row) == ("Turin", "NaN", "NaN", "NaN")


@pytest.mark.parametrize(
    ("columns", "reason", "message"),
    [
        ({"text": "string"}, "WRONG_TYPE", "column text: `5` is not of type string"),
        ({"int": "int"}, "WRONG_TYPE", 'column int: `"5"` is not of type int'),
        ({"date": "date"}, "WRONG_TYPE", 'column date: `{"$date":253402300800000}` is not of type date'),
        (
            {"nested.city": "string"},
            "WRONG_TYPE",
            "column nested.city: `!no object: nested` is on the way to it; make that a column of type json instead",
        ),
        (
            {"array.not": "json", "array.not.so": "int"},
            "WRONG_TYPE",
            "column array.not.so: `!no object: array.not` is on the way to it; make that a column of type json instead",
        ),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_a_value_of_another_type_is_a_reject(
    spark: SparkSession, tmp_path: Path, columns: dict[str, str], reason: str, message: str
) -> None:
    table = spec(tmp_path, {"_id": "objectid", **columns}, "update_full", "lab.types")
    records = captured("3.6.1.Final", "update_full", with_schema=False, source="lab.types")
    (found,) = decoded(spark, records[1:2], table, "_outcome", "_reason", "_message")
    assert tuple(found) == ("reject", reason, message)


IDS = [
    ("int", "1234"),
    ("long", "9007199254740993"),
    ("double", "12.34"),
    ("string", "1234"),
    ("objectid", "596e275826f08b2730779e1f"),
    ("uuid", "00010203-0405-0607-0809-0a0b0c0d0e0f"),
    ("date", -1000),
    ("json", '{"region":"EU","nr":7}'),
    ("decimal(5,2)", "1.50"),
]


@pytest.mark.parametrize("number", range(len(IDS)), ids=[of_type for of_type, _ in IDS])
def test_a_document_and_its_delete_have_the_same_key(spark: SparkSession, tmp_path: Path, number: int) -> None:
    of_type, expected = IDS[number]
    table = spec(tmp_path, {"_id": of_type, "n": "int"}, "oplog", "lab.ids")
    found = decoded(spark, pairs(number), table, "_op", "_outcome", *shown(table))
    create, delete = ("c", "change", expected, str(number)), ("d", "change", expected, None)
    assert [tuple(each) for each in found] == [create, delete] * len(FORMS)


def pairs(number: int) -> list[Record]:
    """The create and the delete of a document, in all versions, modes and forms."""
    all_ids = [captured(*form[:2], with_schema=form[2], source="lab.ids") for form in FORMS]
    return [records[index] for records in all_ids for index in (number, len(IDS) + 2 * number)]


def test_a_key_of_paths(spark: SparkSession, tmp_path: Path) -> None:
    table = spec(tmp_path, {"_id.region": "string", "_id.nr": "long", "n": "int"}, "oplog", "lab.ids")
    found = decoded(spark, pairs(7), table, "_op", "_outcome", "id_region", "id_nr", "n")
    assert [tuple(each) for each in found] == [("c", "change", "EU", 7, 7), ("d", "change", "EU", 7, None)] * len(FORMS)


ORDERS = {
    "_id": "int",
    "name": "string",
    "address.city": "string",
    "address.zip": "string",
    "address.geo.lat": "double",
    "total": "decimal(18,2)",
}
UPDATES: list[tuple[dict[str, Any], dict[str, str] | None]] = [
    ({"name": "Bea"}, None),
    ({"address.city": "Rome"}, None),
    ({"address.zip": None}, None),
    ({"address.city": "Oslo", "address.zip": None, "address.geo.lat": 59.9}, None),
    ({"name": None}, None),
    ({"name": None}, {"extra": '{"deep":1}'}),
    ({}, {"tags.2": '"c"'}),
    ({}, {"tags.0": '"z"'}),
    ({}, None),
    ({}, {"tags": '["q"]'}),
    ({"address.city": None, "address.zip": None, "address.geo.lat": None}, None),
    ({}, {"other": "5"}),
]
"""What each update of the scenario changes of the columns, and the fields that no column is."""
PARTIAL = [(version, with_schema) for version in VERSIONS for with_schema in (False, True)]


def partial_updates(version: str, *, with_schema: bool = False) -> list[Record]:
    """The records of the scenario's updates, without documents."""
    mode = "oplog" if version.startswith("1.") else "partial"
    return captured(version, mode, with_schema=with_schema, source="shop.orders")[1:13]


def test_a_partial_update_changes_what_it_names(spark: SparkSession, tmp_path: Path) -> None:
    table = spec(tmp_path, ORDERS, "oplog", "shop.orders")
    updates = numbered_updates()
    for row, (version, number, _) in zip(decoded(spark, [each[2] for each in updates], table), updates, strict=True):
        assert list(update_faults(row, table, version, number)) == [], (version, number)


def numbered_updates() -> list[tuple[str, int, Record]]:
    """The scenario's updates in all versions, each with the version and its place in `UPDATES`."""
    return [
        (version, number, record)
        for version, form in PARTIAL
        for number, record in enumerate(partial_updates(version, with_schema=form))
    ]


def update_faults(row: Row, table: TableSpec, version: str, number: int) -> Iterator[str]:
    """What is wrong with a decoded update of the scenario."""
    changed, unknown = UPDATES[number]
    targets = {column.name: column.target for column in table.columns}
    if (row._outcome, row._message) != ("change", None):
        yield f"{row._outcome}: {row._message}"
        return
    if set(row._columns_to_update) != {"id", *(targets[name] for name in changed)}:
        yield f"columns to update: {row._columns_to_update}"
    yield from (f"{name}: {row[targets[name]]}" for name, each in changed.items() if row[targets[name]] != each)
    # The oplog has the whole array that became shorter.
    of_oplog = number == 8 and version.startswith("1.")
    if row._unknown != ({"tags": '["z","b"]'} if of_oplog else unknown):
        yield f"unknown: {row._unknown}"


def test_an_update_of_a_part_of_a_value_is_a_reject(spark: SparkSession, tmp_path: Path) -> None:
    table = spec(tmp_path, {"_id": "int", "tags": "json"}, "oplog", "shop.orders")
    records = [each for version in VERSIONS for each in partial_updates(version)[6:10]]
    rows = decoded(spark, records, table, "_reason", "_message", "tags")
    in_array = "PARTIAL_VALUE"
    of_streams, of_oplog = [in_array, in_array, in_array, None], [in_array, in_array, None, None]
    assert [row._reason for row in rows] == [*of_streams, *of_streams, *of_oplog]
    # tests/support/reject_messages.txt has this one too.
    assert rows[0]._message == (
        "column tags: `!part: tags.2` of it has changed, and the record does not tell the rest; capture whole"
        " documents: `capture.mode=change_streams_update_full`"
    )
    assert [row.tags for row in rows[3::4]] == ['["q"]'] * 3


def test_a_path_of_digits_may_be_a_position_in_a_list(spark: SparkSession, tmp_path: Path) -> None:
    # A description calls both alike, `tags.0`; a document tells them apart.
    table = spec(tmp_path, {"_id": "int", "tags.0": "string"}, "oplog", "shop.orders")
    create = captured("3.6.1.Final", "partial", with_schema=False, source="shop.orders")[0]
    rows = decoded(spark, [create, *partial_updates("3.6.1.Final")[6:8]], table, "_reason", "_message")
    assert [row._reason for row in rows] == ["WRONG_TYPE", None, "PARTIAL_VALUE"]
    assert rows[0]._message.startswith("column tags.0: `!no object: tags` is on the way to it")


def test_no_partial_update_can_tell_the_whole_document(spark: SparkSession, tmp_path: Path) -> None:
    table = spec(tmp_path, {"_id": "int", "name": "string"}, "oplog", "shop.orders", document="whole")
    records = [each for version in VERSIONS for each in partial_updates(version)]
    assert {row._reason for row in decoded(spark, records, table)} == {"PARTIAL_VALUE"}


def test_a_replacement_is_the_whole_document(spark: SparkSession, tmp_path: Path) -> None:
    table = spec(tmp_path, ORDERS, "oplog", "shop.orders", document="whole")
    records = [captured(version, mode, with_schema=form, source="shop.orders")[13] for version, mode, form in FORMS]
    for row in decoded(spark, records, table):
        assert (row._outcome, row.name, row.address_city, row.total) == ("change", "Cyd", None, None)
        assert json.loads(row.whole) == {"_id": 1, "name": "Cyd", "address": None}
        assert len(row._columns_to_update) == 7


def test_an_update_without_the_document_is_a_reject_where_documents_are_expected(
    spark: SparkSession, tmp_path: Path
) -> None:
    table = spec(tmp_path, ORDERS, "update_full", "shop.orders")
    (row,) = decoded(spark, partial_updates("3.6.1.Final")[:1], table)
    assert row._reason == "MISSING_ROW"
    assert "capture_mode: change_streams" in row._message
