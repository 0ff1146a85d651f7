"""Every MariaDB and MySQL type in every converter mode, by every version: the connectors' records against the rows."""

import gzip
import json
import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from functools import cache

import pytest
from pyspark.sql import Column, Row, SparkSession
from pyspark.sql import functions as F
from tests.decoding.binlog.expected import Source, expected_rows, spec_columns
from tests.support.records import RECORDS
from tests.support.tables import kind_table
from tools.binlog_connector.types import CAPTURES, Capture, Modes, combinations
from tools.captures import Record

from cdc import decode
from cdc.debezium.values import conversion_of
from cdc.spec.model import ColumnSpec, ConnectorSpec, TableSpec

COMPACT = [(CAPTURES[0], modes) for modes in combinations(CAPTURES[0].version)[:3]]
COMPACT += [(capture, combinations(capture.version)[0]) for capture in (CAPTURES[1], CAPTURES[4], CAPTURES[5])]
"""The modes that differ most, the oldest and the newest version, and an old one over the other server."""
EVERY = [(capture, modes) for capture in CAPTURES for modes in combinations(capture.version)]
_IS_DOUBLE = re.compile(r"-?\d+(\.\d+)?E-?\d+")
"""A large decimal in mode double: the number as the converter writes it."""


def name_of(capture: Capture, modes: Modes) -> str:
    """For messages."""
    version = capture.version
    return f"{version.kind} {version.number} over {capture.server}, {modes.prefix}"


@pytest.mark.parametrize(("capture", "modes"), COMPACT, ids=lambda each: getattr(each, "prefix", None))
def test_all_types_in_modes_that_differ_most(spark: SparkSession, capture: Capture, modes: Modes) -> None:
    check(spark, capture, modes)


@pytest.mark.long
@pytest.mark.parametrize(
    ("capture", "modes"),
    [each for each in EVERY if each not in COMPACT],
    ids=lambda each: getattr(each, "prefix", None),
)
def test_all_types_in_all_modes(spark: SparkSession, capture: Capture, modes: Modes) -> None:
    check(spark, capture, modes)


def check(spark: SparkSession, capture: Capture, modes: Modes) -> None:
    """Decode the records of one combination of modes and compare each with its row."""
    source = Source(capture, modes)
    spec = types_table(source)
    captured = records_of(capture, modes)
    rows = [
        (record.topic, number, record.offset, None, 0, None, record.key, record.value)
        for number, record in enumerate(captured)
    ]
    decoded = decode(spark.createDataFrame(rows, RECORDS), spec)
    assert faults(captured, sorted(decoded.select(*compared(spec)).collect()), source) == ""


def compared(spec: TableSpec) -> list[Column | str]:
    """What `faults` compares of decoded records."""
    return ["_partition", "_outcome", "_reason", "_message", F.struct(*shown(spec)).alias("row")]


def faults(captured: Sequence[Record], found: Sequence[Row], source: Source) -> str:
    """What is wrong with the decoded records, a line for each column; empty if each has its row's values."""
    capture, modes, spec = source.capture, source.modes, types_table(source)
    targets = {column.target: conversion_of(column, spec.connector).target for column in spec.columns}
    expected = expected_rows(source)
    wrong = []
    for record, got in zip(captured, found, strict=True):
        row_id = json.loads(record.key or b"")
        row_id = row_id.get("payload", row_id)["id"]
        where = f"{name_of(capture, modes)}, row {row_id}"
        wanted = expected[row_id]
        if wanted is None:
            if (got._outcome, got._reason) != ("reject", "WRONG_TYPE"):
                wrong.append(f"{where}: {got._outcome} in place of a reject")
            continue
        if got._outcome != "change":
            wrong.append(f"{where}: {got._message}")
            continue
        texts = {name: _plain(text, targets[name]) for name, text in got.row.asDict().items()}
        wrong += [f"{where}: {name} {texts[name]} {wanted[name]}" for name in texts if texts[name] != wanted[name]]
    return "\n".join(wrong)


def types_table(source: Source) -> TableSpec:
    """The table as a connector in these modes writes it."""
    modes = source.modes
    connector = ConnectorSpec(
        "shop",
        modes.prefix,
        kind=source.capture.version.kind,
        time_precision_mode=modes.temporal,  # type: ignore[arg-type]
        decimal_handling_mode=modes.decimal,  # type: ignore[arg-type]
        binary_handling_mode=modes.binary,  # type: ignore[arg-type]
        bigint_unsigned_handling_mode=modes.unsigned,  # type: ignore[arg-type]
        decimal_format="numeric" if modes.binary == "base64" else "base64",
    )
    columns = {name: _in_spec(type_) for name, type_ in spec_columns(source).items()}
    return kind_table(columns, connector=connector, source="shop.types", name="types")


def _in_spec(type_: str) -> str:
    """The type without the default and the expression, which no spec states."""
    plain = type_.partition(" default ")[0].partition(" generated ")[0]
    return plain


def records_of(capture: Capture, modes: Modes) -> list[Record]:
    """The records of the table in these modes, without a schema block and with one."""
    captured = [record for with_schema in (False, True) for record in records(capture, with_schema=with_schema)]
    return [record for record in captured if record.topic == f"{modes.prefix}.shop.types"]


@cache
def records(capture: Capture, *, with_schema: bool) -> tuple[Record, ...]:
    """The records of a capture file."""
    with gzip.open(capture.file(with_schema=with_schema), "rt", encoding="utf-8") as lines:
        return tuple(map(Record.from_line, lines))


def shown(spec: TableSpec) -> Iterator[Column]:
    """Each column as a text: bytes in hex, timestamps in microseconds, shapes as hex@srid."""
    for column in spec.columns:
        yield _text(column, spec).alias(column.target)


def _text(column: ColumnSpec, spec: TableSpec) -> Column:
    value, target = F.col(column.target), conversion_of(column, spec.connector).target
    if target == "binary":
        return F.lower(F.hex(value))
    if target.startswith("struct"):
        srid = F.coalesce(value.getField("srid").cast("string"), F.lit("None"))
        return F.concat(F.lower(F.hex(value.getField("wkb"))), F.lit("@"), srid)
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
    if "E" in text and target == "string" and not text.isalpha() and _IS_DOUBLE.fullmatch(text):
        return repr(float(text))
    if target.startswith("decimal"):
        return format(Decimal(text), "f")
    return repr(float(text)) if target in ("float", "double") else text
