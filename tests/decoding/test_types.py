"""Every SQL Server type in every converter mode: the connector's records against the rows inserted.

`make test` runs the combinations that differ most, `make test-decoding` all of them.
"""

import gzip
import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from decimal import Decimal

import pytest
from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as F
from tests.decoding.expected import COLUMNS, Source, expected_rows
from tests.support.avro_json import avro_json
from tests.support.records import RECORDS
from tests.support.tables import CONNECTOR, table
from tools.captures import Record
from tools.sqlserver_connector.connector import VERSIONS, Version
from tools.type_captures import Modes, capture_file, combinations

from cdc import decode
from cdc.debezium.values import conversion_of
from cdc.spec.model import ColumnSpec, Shape, TableSpec

COMPACT = (
    Modes("adaptive", "precise", "bytes"),
    Modes("adaptive_time_microseconds", "string", "base64-url-safe"),
    Modes("connect", "double", "hex"),
    Modes("isostring", "precise", "base64"),
    Modes("microseconds", "string", "bytes"),
    Modes("nanoseconds", "double", "hex"),
)
EVERY = tuple(combinations(VERSIONS[0]))
FORMS: tuple[tuple[Version, bool], ...] = tuple((version, form) for version in VERSIONS for form in (False, True))


@pytest.fixture(scope="module")
def captured() -> dict[str, list[tuple[Source, bool, Record]]]:
    """Topic prefix -> its records in all versions and forms of value."""
    found: dict[str, list[tuple[Source, bool, Record]]] = {}
    for version, with_schema in FORMS:
        for record in _records(version, with_schema=with_schema):
            prefix = ".".join(record.topic.split(".")[:3])
            source = Source(version, Modes(*prefix.split(".")))
            found.setdefault(prefix, []).append((source, with_schema, record))
    return found


@pytest.mark.parametrize("modes", COMPACT, ids=lambda modes: modes.prefix)
def test_all_types_in_modes_that_differ_most(
    spark: SparkSession, captured: dict[str, list[tuple[Source, bool, Record]]], modes: Modes
) -> None:
    check(spark, captured[modes.prefix], modes)


@pytest.mark.long
@pytest.mark.parametrize("modes", sorted({*EVERY} - {*COMPACT}), ids=lambda modes: modes.prefix)
def test_all_types_in_all_modes(
    spark: SparkSession, captured: dict[str, list[tuple[Source, bool, Record]]], modes: Modes
) -> None:
    check(spark, captured[modes.prefix], modes)


@pytest.mark.parametrize("modes", (COMPACT[0], COMPACT[2]), ids=lambda modes: modes.prefix)
def test_all_types_in_avro_json(
    spark: SparkSession, captured: dict[str, list[tuple[Source, bool, Record]]], modes: Modes
) -> None:
    with_schema = [each for each in captured[modes.prefix] if each[1]]
    unions = [(source, True, in_avro_json(record)) for source, _, record in with_schema]
    check(spark, unions, modes, shape="avro_json")


def in_avro_json(record: Record) -> Record:
    """The record with its value in this form."""
    return replace(record, value=json.dumps(avro_json(json.loads(record.value or b""))).encode())


def test_the_captures_are_of_all_modes(captured: dict[str, list[tuple[Source, bool, Record]]]) -> None:
    assert set(captured) == {modes.prefix for modes in EVERY}
    old = {modes.prefix for modes in combinations(VERSIONS[1])}
    assert {prefix: len(records) for prefix, records in captured.items()} == {
        prefix: 20 if prefix in old else 10 for prefix in captured
    }


def check(
    spark: SparkSession, captured: list[tuple[Source, bool, Record]], modes: Modes, shape: Shape = "auto"
) -> None:
    """Decode the records of one combination of modes and compare each with its row."""
    spec = types_table(modes, shape)
    rows = [
        (record.topic, number, record.offset, None, 0, None, record.key, record.value)
        for number, (_, _, record) in enumerate(captured)
    ]
    decoded = decode(spark.createDataFrame(rows, RECORDS), spec)
    shown = decoded.select("_partition", "_outcome", "_reason", F.struct(*_shown(spec)).alias("row")).orderBy(
        "_partition"
    )
    found = shown.collect()
    targets = {column.target: conversion_of(column, spec.connector).target for column in spec.columns}
    for (source, with_schema, record), got in zip(captured, found, strict=True):
        expected = expected_rows(source)[record.offset + 1]
        where = f"{modes.prefix} of {source.version}{' with schema' if with_schema else ''}, row {record.offset + 1}"
        if expected is None:
            assert (got._outcome, got._reason) == ("reject", "WRONG_TYPE"), where
            continue
        assert got._outcome == "change", where
        assert {name: _plain(text, targets[name]) for name, text in got.row.asDict().items()} == expected, where


def types_table(modes: Modes, shape: Shape) -> TableSpec:
    """The scripted table as a connector in these modes writes it."""
    connector = replace(
        CONNECTOR,
        time_precision_mode=modes.temporal,
        decimal_handling_mode=modes.decimal,
        binary_handling_mode=modes.binary,
        shape=shape,
    )
    return table(COLUMNS, connector=connector, source="testDB.dbo.types", name="types")


def _records(version: Version, *, with_schema: bool) -> Iterable[Record]:
    with gzip.open(capture_file(version, with_schema=with_schema), "rt", encoding="utf-8") as lines:
        yield from map(Record.from_line, lines)


def _shown(spec: TableSpec) -> Iterator[Column]:
    """Each column as a text: bytes in hex, timestamps in microseconds."""
    for column in spec.columns:
        yield _text(column, spec).alias(column.target)


def _text(column: ColumnSpec, spec: TableSpec) -> Column:
    value, target = F.col(column.target), conversion_of(column, spec.connector).target
    if target == "binary":
        return F.lower(F.hex(value))
    if target == "timestamp":
        return F.unix_micros(value).cast("string")
    if target == "timestamp_ntz":
        epoch = F.lit("1970-01-01").cast("timestamp_ntz")
        return F.timestamp_diff("MICROSECOND", epoch, value).cast("string")
    if target == "float":
        value = value.cast("double")
    return value.cast("string")


def _plain(text: str | None, target: str) -> str | None:
    """Numbers in one notation: Spark writes some with an exponent."""
    if text is None:
        return None
    if target.startswith("decimal"):
        return format(Decimal(text), "f")
    return repr(float(text)) if target in ("float", "double") else text
