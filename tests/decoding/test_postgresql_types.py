"""Every PostgreSQL type in every mode: the records of three versions against the database's own rows."""

import gzip
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from decimal import Decimal
from functools import cache
from typing import Any

import pytest
from pyspark.sql import Column, DataFrame, Row, SparkSession
from pyspark.sql import functions as F
from tests.decoding.postgresql.expected import Source, expected
from tests.support.records import RECORDS
from tests.support.tables import table
from tools.captures import Record
from tools.postgresql_connector.types import VERSIONS, Modes, Version, capture_file, columns, combinations, rows

from cdc import decode
from cdc.debezium.values import conversion_of
from cdc.spec.model import ColumnSpec, ConnectorSpec, TableSpec

TYPES = columns("types")
EVERY = combinations(VERSIONS[0])


@pytest.fixture(scope="module")
def captured() -> dict[str, list[tuple[Source, bool, Record]]]:
    """Topic prefix -> its records in all versions and forms of value."""
    by_prefix = {modes.prefix: modes for modes in EVERY}
    found: dict[str, list[tuple[Source, bool, Record]]] = {}
    for version in VERSIONS:
        for with_schema in (False, True):
            for record in records_of(version, with_schema=with_schema):
                prefix, _, name = record.topic.rpartition(".public.")
                if name == "types":
                    source = Source(version, by_prefix[prefix])
                    found.setdefault(prefix, []).append((source, with_schema, record))
    return found


def test_the_captures_are_of_all_modes(captured: dict[str, list[tuple[Source, bool, Record]]]) -> None:
    assert set(captured) == {modes.prefix for modes in EVERY}
    assert len(captured[EVERY[0].prefix]) == 2 * (63 + 60 + 6)


@pytest.mark.parametrize(
    "modes",
    # Every other set of modes is left to `make test-decoding`.
    [pytest.param(modes, marks=pytest.mark.long if nth % 2 else ()) for nth, modes in enumerate(EVERY)],
    ids=lambda modes: modes.prefix,
)
def test_all_types(spark: SparkSession, captured: dict[str, list[tuple[Source, bool, Record]]], modes: Modes) -> None:
    records = captured[modes.prefix]
    found = decoded(spark, types_table(modes), [record for _, _, record in records])
    faults = []
    for (source, with_schema, record), got in zip(records, found, strict=True):
        where = f"{source.version}{' with schema' if with_schema else ''}"
        faults += [f"{where}, {fault}" for fault in faults_of(got, record, source)]
    assert not faults, "\n".join(faults[:40])


@cache
def database() -> dict[str, dict[str, Any]]:
    """The database's own rows of the table of all types, by id."""
    return {row["id"]: row for row in rows("types")}


def faults_of(
    got: Row,
    record: Record,
    source: Source,
    types: Mapping[str, str] = TYPES,
    compared: Iterable[str] = TYPES,
) -> Iterator[str]:
    """What a decoded record has that is not what the database's row has.

    Args:
        got: its outcome, reason and message, and under `row` its columns as `shown` has them.
        record: the record.
        source: which connector wrote it.
        types: the columns and their types as in the spec.
        compared: the columns whose values are compared.
    """
    key = json.loads(record.key or b"")
    id_ = str(key.get("payload", key)["id"])
    want = expected(database()[id_], types, source)
    if want is None:
        if (got._outcome, got._reason) != ("reject", "WRONG_TYPE"):
            yield f"row {id_}: {got._outcome} in place of a reject"
    elif got._outcome != "change":
        yield f"row {id_}: {got._message}"
    else:
        for name in compared:
            found, wanted = (comparable(value, types[name]) for value in (got.row[name], want[name]))
            if found != wanted:
                yield f"row {id_}, {name}: {found!r} in place of {wanted!r}"


def types_table(modes: Modes) -> TableSpec:
    """The table as a connector in these modes writes it."""
    connector = ConnectorSpec(
        "shop",
        modes.prefix,
        kind="postgresql",
        time_precision_mode=modes.temporal,  # type: ignore[arg-type]
        decimal_handling_mode=modes.decimal,  # type: ignore[arg-type]
        binary_handling_mode=modes.binary,  # type: ignore[arg-type]
        interval_handling_mode=modes.interval,  # type: ignore[arg-type]
        hstore_handling_mode=modes.hstore,  # type: ignore[arg-type]
        decimal_format=modes.decimal_format,  # type: ignore[arg-type]
    )
    return table(TYPES, connector=connector, source="base.public.types", name="types")


def as_frame(spark: SparkSession, records: list[Record]) -> DataFrame:
    """The records, each with its place in the list as its partition."""
    content = [(r.topic, number, r.offset, None, 0, None, r.key, r.value) for number, r in enumerate(records)]
    return spark.createDataFrame(content, RECORDS)


def decoded(spark: SparkSession, spec: TableSpec, records: list[Record]) -> list[Row]:
    return (
        decode(as_frame(spark, records), spec)
        .select("_partition", "_outcome", "_reason", "_message", F.struct(*shown(spec)).alias("row"))
        .orderBy("_partition")
        .collect()
    )


def records_of(version: Version, *, with_schema: bool) -> Iterator[Record]:
    with gzip.open(capture_file(version, with_schema=with_schema), "rt", encoding="utf-8") as lines:
        yield from map(Record.from_line, lines)


def shown(spec: TableSpec) -> Iterator[Column]:
    """Each column as a text: bytes in hex, timestamps in microseconds, objects in JSON; arrays as arrays of texts."""
    for column in spec.columns:
        value = F.col(f"`{column.target}`")
        element = column.type.element
        if element is None:
            yield _text(value, column, spec).alias(column.target)
        else:
            of_element = replace(column, type=element)
            texts = F.transform(value, _texts_of(of_element, spec))
            yield F.to_json(texts, {"ignoreNullFields": "false"}).alias(column.target)


def _texts_of(column: ColumnSpec, spec: TableSpec) -> Callable[[Column], Column]:
    return lambda value: _text(value, column, spec)


def _text(value: Column, column: ColumnSpec, spec: TableSpec) -> Column:
    target = conversion_of(column, spec.connector).target
    if target == "binary":
        return F.lower(F.hex(value))
    if target == "timestamp":
        return F.unix_micros(value).cast("string")
    if target == "timestamp_ntz":
        return F.timestamp_diff("MICROSECOND", F.lit("1970-01-01").cast("timestamp_ntz"), value).cast("string")
    if target == "struct<wkb: binary, srid: int>":
        hexed = F.struct(F.lower(F.hex(value.wkb)).alias("wkb"), value.srid.alias("srid"))
        return F.when(value.isNotNull(), F.to_json(hexed, {"ignoreNullFields": "false"}))
    if target.startswith(("struct", "array")):
        return F.to_json(value)
    return (value.cast("double") if target == "float" else value).cast("string")


def comparable(value: Any, type_: str) -> Any:
    """Numbers in one notation, objects without an order of their fields."""
    if value is None or isinstance(value, list):
        return None if value is None else [comparable(each, type_.removesuffix("[]")) for each in value]
    if type_.endswith("[]"):
        return comparable(json.loads(value), type_)
    if type_ in ("hstore", "point", "geometry", "geography", "vector", "halfvec", "sparsevec"):
        return json.loads(value)
    if type_.startswith(("numeric", "money", "real", "double")):
        return value if value in ("NaN", "Infinity") else _number(value)
    return value


def _number(value: str) -> str:
    try:
        return format(Decimal(value).normalize(), "f")
    except ArithmeticError:
        return repr(float(value))
