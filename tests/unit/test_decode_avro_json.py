"""Avro's JSON encoding, by kind of connector: every type's records with a schema block, and the same in it."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

import pytest
from pyspark.sql import Column, Row, SparkSession
from pyspark.sql import functions as F
from tests.decoding import test_binlog_types, test_db2_types, test_postgresql_types
from tests.decoding.binlog.expected import Source
from tests.support.avro_json import avro_json
from tests.support.records import RECORDS
from tests.support.tables import kind_table
from tools.binlog_connector.types import CAPTURES, combinations
from tools.captures import Record
from tools.db2_connector.captures import TABLE
from tools.postgresql_connector.types import VERSIONS

from cdc import TableSpec, decode
from cdc.debezium.positions import position_of
from cdc.spec.kinds import KINDS
from cdc.spec.model import ConnectorSpec

Types = tuple[TableSpec, Sequence[Record], Sequence[Column]]
"""A table of all types, its records, and its columns in a form that can be compared."""


def _postgresql() -> Types:
    modes = test_postgresql_types.EVERY[0]
    spec = test_postgresql_types.types_table(modes)
    records = test_postgresql_types.records_of(VERSIONS[0], with_schema=True)
    of_table = [each for each in records if each.topic == f"{modes.prefix}.public.types"]
    return spec, of_table, list(test_postgresql_types.shown(spec))


def _of_binlog(number: int) -> Types:
    modes = combinations(CAPTURES[number].version)[0]
    spec = test_binlog_types.types_table(Source(CAPTURES[number], modes))
    records = test_binlog_types.records_of(CAPTURES[number], modes)
    return spec, records, list(test_binlog_types.shown(spec))


def _db2() -> Types:
    spec = test_db2_types.types_table("adaptive", "precise")
    records = [record for _, record in test_db2_types.records(f"adaptive.precise.{TABLE}")]
    return spec, records, [test_db2_types.text(each, spec).alias(each.target) for each in spec.columns]


TYPES: Mapping[str, Callable[[], Types]] = {
    "postgresql": _postgresql,
    "mariadb": lambda: _of_binlog(0),
    "mysql": lambda: _of_binlog(4),
    "db2": _db2,
}


def decoded(spark: SparkSession, spec: TableSpec, records: Iterable[Record], columns: Sequence[Column]) -> list[Row]:
    """Outcome, operation, position and row of each record."""
    rows = [(each.topic, 0, number, None, 0, None, each.key, each.value) for number, each in enumerate(records)]
    outcome = ("_outcome", "_reason", "_op", *position_of(spec.connector).columns)
    found = decode(spark.createDataFrame(rows, RECORDS), spec).orderBy("_offset")
    return found.select(*outcome, F.struct(*columns).alias("row"), "_message").collect()


def in_avro(record: Record) -> Record:
    return replace(record, value=json.dumps(avro_json(json.loads(record.value or b""))).encode())


@pytest.mark.parametrize("kind", TYPES)
def test_every_type_and_position_is_the_same_in_avro_json(spark: SparkSession, kind: str) -> None:
    spec, captured, columns = TYPES[kind]()
    records = [each for each in captured if (each.value or b"").startswith(b'{"schema":{')]
    assert len(records) >= 5
    expected = decoded(spark, spec, records, columns)
    in_unions = replace(spec, connector=replace(spec.connector, shape="avro_json"))
    for wanted, got in zip(expected, decoded(spark, in_unions, map(in_avro, records), columns), strict=True):
        assert got[:-2] == wanted[:-2], got._message
        values = got.row.asDict()
        assert {name: values[name] for name, each in wanted.row.asDict().items() if values[name] != each} == {}


def test_every_kind_that_is_read_in_avro_json_has_its_types_here() -> None:
    # SQL Server's are in tests/decoding/test_types.py.
    assert {*TYPES, "sqlserver"} == {name for name, kind in KINDS.items() if "avro_json" in kind.shapes}


NEVER_NULL = {
    "id": ("integer not null", 1, "1"),
    "seal": ("bytea not null", "\u0000\u00ff", "00FF"),
    "flags": ("bit(5) not null", "\u0011", "10001"),
    "total": ("numeric(10,2) not null", "\u00c8", "-0.56"),
    "large": ("numeric not null", {"scale": 1, "value": "\u000f"}, "1.5"),
    "names": ("text[] not null", [{"string": '{"int":1}'}, None, {"string": ""}], '["{\\"int\\":1}",null,""]'),
    "seals": ("bytea[] not null", [{"bytes": "\u00ff"}], '["/w=="]'),
    "place": ("point not null", {"x": 1.5, "y": -2.0, "wkb": None, "srid": None}, '{"x":1.5,"y":-2.0}'),
    "looks": ("text not null", '{"string":"no union"}', '{"string":"no union"}'),
}
MAYBE_NULL = {
    "pairs": ("hstore", {"map": {"a": {"string": "1"}, "b": None}}, '{"a":"1","b":null}'),
    "looks_too": ("text", {"string": '{"string":"no union"}'}, '{"string":"no union"}'),
    "spots": (
        "sparsevec(4)",
        {"io.debezium.data.SparseDoubleVector": {"dimensions": 4, "vector": [{"key": 2, "value": 0.5}]}},
        "[[2.0,0.5]]",
    ),
}
"""Column -> its type, its value in Avro's JSON encoding, and as text."""


def test_values_that_are_never_null_are_in_no_union(spark: SparkSession) -> None:
    connector = ConnectorSpec("shop", "p", kind="postgresql", shape="avro_json", hstore_handling_mode="map")
    columns = {**NEVER_NULL, **MAYBE_NULL}
    types = {name: each[0] for name, each in columns.items()}
    spec = kind_table(types, connector=connector, source="shop.public.t", name="t")
    source = {"ts_ms": 1, "snapshot": {"string": "false"}, "lsn": {"long": 24}, "sequence": {"string": '["23","24"]'}}
    value = {"after": {"p.public.t.Value": {name: each[1] for name, each in columns.items()}}, "op": "c"}
    record = Record(spec.topic, 0, 0, 0, (), b'{"id":1}', json.dumps({**value, "source": source}).encode())
    texts = [_text(spec, name).alias(name) for name in columns]
    (found,) = decoded(spark, spec, [record], texts)
    assert (found._outcome, found._message, found._log_place, found._lsn) == ("change", None, 24, 24)
    assert found.row.asDict() == {name: each[2] for name, each in columns.items()}


def _text(spec: TableSpec, name: str) -> Column:
    column, type_ = F.col(name), next(str(each.type) for each in spec.columns if each.name == name)
    if type_ == "bytea":
        return F.hex(column)
    if type_.startswith("sparsevec"):
        return F.to_json(F.transform(column.elements, lambda each: F.array(each.place, each.value)))
    return F.to_json(column) if type_.endswith("[]") or type_ == "point" else column.cast("string")
