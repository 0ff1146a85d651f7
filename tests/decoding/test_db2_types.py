"""Every Db2 type in every converter mode: the connector's records against the rows inserted into a scripted server.

What IBM's driver hands to the connector is not shown by this: the driver is a fake (tools/db2_connector).
"""

import gzip
import itertools
import json
import struct
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal, localcontext
from typing import Any

import pytest
from pyspark.sql import Column, Row, SparkSession
from pyspark.sql import functions as F
from tests.support.records import RECORDS
from tools.captures import Record
from tools.db2_connector.captures import DECIMAL, SCENARIO, TABLE, TEMPORAL, capture_file
from tools.db2_connector.connector import VERSIONS, Version

from cdc import decode
from cdc.debezium.values import conversion_of
from cdc.spec.kinds import KINDS
from cdc.spec.model import ColumnSpec, ConnectorSpec, TableSpec

EVERY = tuple(itertools.product(TEMPORAL[VERSIONS[0]], DECIMAL))
COMPACT = (("adaptive", "precise"), ("isostring", "string"), ("connect", "double"))
_SCENARIO: Mapping[str, Any] = json.loads(SCENARIO.read_text(encoding="utf-8"))
COLUMNS: Mapping[str, str] = _SCENARIO["columns"]
ROWS = {row["ID"]: row for row in (*_SCENARIO["snapshot"], *_SCENARIO["streamed"])}
_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 (these columns have no zone)
_INT64 = range(-(2**63), 2**63)


class Unfit(Exception):
    """The mode turned the value into one that the column's type cannot hold."""


@pytest.mark.parametrize("modes", COMPACT, ids=".".join)
def test_all_types_in_modes_that_differ_most(spark: SparkSession, modes: tuple[str, str]) -> None:
    check(spark, *modes)


@pytest.mark.long
@pytest.mark.parametrize("modes", sorted({*EVERY} - {*COMPACT}), ids=".".join)
def test_all_types_in_all_modes(spark: SparkSession, modes: tuple[str, str]) -> None:
    check(spark, *modes)


def test_every_type_is_among_the_columns() -> None:
    parse = KINDS["db2"].parse_type
    assert {parse(type_)[0].name for type_ in COLUMNS.values()} == set(KINDS["db2"].known_types)


def check(spark: SparkSession, temporal: str, decimal: str) -> None:
    """Decode the records of one combination of modes, of every version and form, and compare each with its row."""
    spec = types_table(temporal, decimal)
    captured = list(records(f"{temporal}.{decimal}.{TABLE}"))
    rows = [
        (record.topic, number, record.offset, None, 0, None, record.key, record.value)
        for number, (_, record) in enumerate(captured)
    ]
    decoded = decode(spark.createDataFrame(rows, RECORDS), spec)
    found = decoded.select(*compared(spec)).orderBy("_partition").collect()
    assert len(found) == len(captured) >= 10
    assert list(faults(captured, found, temporal, decimal)) == []


def compared(spec: TableSpec) -> list[Column | str]:
    """What `faults` compares of decoded records."""
    row = F.struct(*(text(column, spec).alias(column.target) for column in spec.columns)).alias("row")
    return ["_partition", "_outcome", "_reason", row]


def faults(
    captured: Sequence[tuple[Version, Record]], found: Sequence[Row], temporal: str, decimal: str
) -> Iterator[str]:
    """What is wrong with the decoded records: nothing if each has its row's values."""
    for (version, record), got in zip(captured, found, strict=True):
        row = ROWS[json.loads(record.key or b"")["ID"] if b"payload" not in (record.key or b"") else record.offset + 1]
        where = f"{temporal}.{decimal} of {version}, row {row['ID']}"
        try:
            expected = {
                name: value(type_, row.get(name), version, temporal, decimal) for name, type_ in COLUMNS.items()
            }
        except Unfit:
            if (got._outcome, got._reason) != ("reject", "WRONG_TYPE"):
                yield f"{where}: {got._outcome} in place of a reject"
            continue
        if got._outcome != "change":
            yield f"{where}: {got._reason}"
            continue
        values = {name: plain(shown, COLUMNS[name]) for name, shown in got.row.asDict().items()}
        yield from (f"{where}: {name} {values[name]} {each}" for name, each in expected.items() if values[name] != each)


def records(topic: str) -> Iterator[tuple[Version, Record]]:
    """The records of a topic, in all captures."""
    for version, with_schema in itertools.product(VERSIONS, (False, True)):
        with gzip.open(capture_file(version, with_schema=with_schema), "rt", encoding="utf-8") as lines:
            yield from ((version, record) for record in map(Record.from_line, lines) if record.topic == topic)


def types_table(temporal: str, decimal: str) -> TableSpec:
    """The scripted table as a connector in these modes writes it."""
    connector = ConnectorSpec(
        "till",
        "db2",
        kind="db2",
        time_precision_mode=temporal,  # type: ignore[arg-type]
        decimal_handling_mode=decimal,  # type: ignore[arg-type]
    )
    parsed = {name: KINDS["db2"].parse_type(type_) for name, type_ in COLUMNS.items()}
    columns = tuple(ColumnSpec(name, type_, name, nullable=null is not False) for name, (type_, null) in parsed.items())
    return TableSpec(TABLE, "types", connector, "t", ("ID",), columns)


def value(type_: str, inserted: Any, version: Version, temporal: str, decimal: str) -> str | None:
    """What a column holds of a value inserted, as text."""
    kind, _, rest = type_.removesuffix(" not null").partition("(")
    digits = [int(each) for each in rest.partition(")")[0].split(",") if each]
    if inserted is None or (kind == "decfloat" and version.startswith("1.")):
        # 1.9 leaves DECFLOAT columns out.
        return None
    shown = str(inserted)
    if "for bit data" in type_:
        return shown + "20" * (digits[0] - len(shown) // 2) if kind == "char" else shown
    match kind:
        case "boolean":
            return shown.lower()
        case "real":
            return repr(struct.unpack("f", struct.pack("f", float(shown)))[0])
        case "double":
            return repr(float(shown))
        case "decimal" | "numeric":
            return _decimal(shown, digits, decimal)
        case "decfloat":
            return _number(Decimal(repr(float(shown))) if decimal == "double" else Decimal(shown))
        case "char" | "graphic":
            return shown.ljust(digits[0])
        case "binary":
            return shown.ljust(2 * digits[0], "0")
        case "timestamp":
            return _timestamp(shown, digits[0], version, temporal)
    return shown


def _decimal(inserted: str, digits: list[int], mode: str) -> str:
    precision, scale = digits
    carried = Decimal(repr(float(inserted))) if mode == "double" else Decimal(inserted)
    with localcontext(prec=80):
        rounded = carried.quantize(Decimal(1).scaleb(-scale), ROUND_HALF_UP)
        if abs(rounded).scaleb(scale) >= 10**precision:
            raise Unfit
    return format(rounded, "f")


def _number(number: Decimal) -> str:
    with localcontext(prec=80):
        return format(number.normalize(), "f")


def _timestamp(inserted: str, digits: int, version: Version, temporal: str) -> str | None:
    """Microseconds since 1970; what is finer is truncated."""
    whole, _, fraction = inserted.partition(".")
    seconds = (datetime.fromisoformat(whole) - _EPOCH) // timedelta(seconds=1)
    # java.sql.Timestamp has nine digits.
    nanos = seconds * 10**9 + int(fraction[:9].ljust(9, "0"))
    is_nanos = temporal == "nanoseconds" or (temporal.startswith("adaptive") and digits > 6)
    if is_nanos and nanos not in _INT64 and not version.startswith("1."):
        # 1.9's wrong number for 0001-01-01 and 9999-12-31 is repaired.
        return None
    return str(nanos // 10**6 * 1000 if temporal == "connect" else nanos // 1000)


def text(column: ColumnSpec, spec: TableSpec) -> Column:
    """A column's value as text: bytes in hex, timestamps in microseconds."""
    shown, target = F.col(column.target), conversion_of(column, spec.connector).target
    if target == "binary":
        return F.lower(F.hex(shown))
    if target == "timestamp_ntz":
        return F.timestamp_diff("MICROSECOND", F.lit("1970-01-01").cast("timestamp_ntz"), shown).cast("string")
    return (shown.cast("double") if target == "float" else shown).cast("string")


def plain(shown: str | None, type_: str) -> str | None:
    """Numbers in one notation: Spark and connectors write some with an exponent."""
    if shown is None:
        return None
    if type_.startswith(("decimal", "numeric")):
        return format(Decimal(shown), "f")
    if type_.startswith("decfloat"):
        return _number(Decimal(shown))
    return repr(float(shown)) if type_ in ("real", "double") else shown
