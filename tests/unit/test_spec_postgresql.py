"""PostgreSQL's kind before any record: types as in DDL, topics, modes, specs from schema blocks, advice on settings."""

import re
from pathlib import Path
from typing import Any

import pytest
from tests.support.conf_folder import write_conf

from cdc.connector_check import Config, advice, fitting_spec
from cdc.connector_check.advice import Level
from cdc.spec.kinds import KINDS
from cdc.spec.kinds.arguments import TypeFault
from cdc.spec.load import load_tables, read_conf
from cdc.spec.scaffold import column_yaml

KIND = KINDS["postgresql"]
PAGE = Path(__file__).parents[2] / "docs" / "connectors" / "postgresql.md"
DECIMAL = "org.apache.kafka.connect.data.Decimal"
TABLE = "{table: shop.public.orders, key: [id], columns: {id: int4, note: text}}"
CAREFUL = {
    "connector.class": KIND.connector_class,
    "topic.prefix": "shop",
    "plugin.name": "pgoutput",
    "skipped.operations": "none",
    "decimal.handling.mode": "string",
    "interval.handling.mode": "string",
    "value.converter": "org.apache.kafka.connect.json.JsonConverter",
    "value.converter.schemas.enable": "false",
    "value.converter.replace.null.with.default": "false",
}


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("int8", "bigint"),
        ("serial not null", "integer"),
        ("float(25)", "double precision"),
        ("DOUBLE PRECISION", "double precision"),
        ("numeric", "numeric"),
        ("numeric(1000,999)", "numeric(1000,999)"),
        ("character varying(80)", "varchar(80)"),
        ("character varying", "varchar"),
        ("bpchar", "char(1)"),
        ("varbit(9)", "bit varying(9)"),
        ("bit", "bit(1)"),
        ("timestamp(3) without time zone", "timestamp(3)"),
        ("time with time zone", "timetz(6)"),
        ("text [ ]", "text[]"),
        ("varchar(10)[5]", "varchar(10)[]"),
        ("geography(Point, 4326)", "geography"),
        ("mood", None),
        ("money[]", None),
        ("integer[][]", None),
        ("numeric(6,7)", None),
        ("timestamp(7)", None),
        ("numeric(1001)", None),
    ],
)
def test_a_type_is_read_as_in_ddl(written: str, read: str | None) -> None:
    if read is None:
        with pytest.raises(TypeFault):
            KIND.parse_type(written)
    else:
        assert str(KIND.parse_type(written)[0]) == read


@pytest.mark.parametrize(
    ("type_", "is_large"),
    [
        ("text", True),
        ("numeric", True),
        ("numeric(38,10)", False),
        ("numeric(39,10)", True),
        ("bytea", True),
        ("integer[]", True),
        ("hstore", True),
        ("geometry", True),
        ("integer", False),
        ("uuid", False),
        ("interval", False),
        ("point", False),
    ],
)
def test_the_log_may_lack_values_of_any_length(type_: str, is_large: bool) -> None:
    assert KIND.parse_type(type_)[0].is_large is is_large


def test_a_table_has_three_names_and_its_topic_two(tmp_path: Path) -> None:
    files = {"connectors/shop.yml": "{topic_prefix: p, kind: postgresql}", "tables/shop/t.yml": TABLE}
    (spec,) = load_tables(write_conf(tmp_path, files))
    assert spec.topic == "p.public.orders"


def test_a_mode_of_another_kind_is_a_fault(tmp_path: Path) -> None:
    connector = "{topic_prefix: p, kind: postgresql, bigint_unsigned_handling_mode: long}"
    conf = read_conf(write_conf(tmp_path, {"connectors/shop.yml": connector, "tables/shop/t.yml": TABLE}))
    assert "bigint_unsigned_handling_mode" in str(conf.faults[0])


def bits_of_length_5(stated: str) -> dict[str, Any]:
    """The block of a bit string with the source's own type (`column.propagate.source.type`)."""
    parameters = {"length": "5", "__debezium.source.column.type": stated}
    return {"type": "bytes", "name": "io.debezium.data.Bits", "parameters": parameters}


@pytest.mark.parametrize(
    ("block", "line"),
    [
        ({"type": "int32"}, "c: integer"),
        (
            {"type": "bytes", "name": "io.debezium.data.Bits", "parameters": {"length": "5"}},
            "c: bit(5) # or bit varying(5), which has the same schema block",
        ),
        (bits_of_length_5("BIT"), "c: bit(5)"),
        (bits_of_length_5("VARBIT"), "c: bit varying(5)"),
        ({"type": "bytes", "name": DECIMAL, "parameters": {"scale": "2"}}, "c: money"),
        (
            {"type": "bytes", "name": DECIMAL, "parameters": {"scale": "2", "connect.decimal.precision": "9"}},
            "c: numeric(9,2)",
        ),
        ({"type": "string", "name": "io.debezium.data.Tsvector"}, "c: tsvector"),
        ({"type": "bytes", "name": "io.debezium.data.Bits", "parameters": {"length": "2147483647"}}, "c: bit varying"),
        ({"type": "struct", "name": "io.debezium.data.VariableScaleDecimal"}, "c: numeric"),
        ({"type": "array", "items": {"type": "string"}}, "c: text[]"),
        ({"type": "array", "items": {"type": "int32", "name": "io.debezium.time.Date"}}, "c: date[]"),
        (
            {"type": "array", "items": {"type": "string", "name": "io.debezium.data.Ltree"}},
            "c: {exclude: true} # ltree[]: the connector omits it",
        ),
    ],
)
def test_a_column_from_a_schema_block(block: dict[str, Any], line: str) -> None:
    assert column_yaml("c", KIND.block_type(block), True, KIND, KIND.block_other(block)) == line


@pytest.mark.parametrize(
    ("block", "modes"),
    [
        ({"type": "int64", "name": "io.debezium.time.MicroTimestamp"}, {}),
        ({"type": "string", "name": "io.debezium.time.IsoTimestamp"}, {"time_precision_mode": "isostring"}),
        ({"type": "int64", "name": "io.debezium.time.NanoTime"}, {"time_precision_mode": "nanoseconds"}),
        ({"type": "int32", "name": "org.apache.kafka.connect.data.Date"}, {"time_precision_mode": "connect"}),
        ({"type": "string", "name": "io.debezium.time.Interval"}, {"interval_handling_mode": "string"}),
        ({"type": "int64", "name": "io.debezium.time.MicroDuration"}, {"interval_handling_mode": "numeric"}),
        ({"type": "map", "keys": {"type": "string"}}, {"hstore_handling_mode": "map"}),
        ({"type": "array", "items": {"type": "map"}}, {"hstore_handling_mode": "map"}),
        ({"type": "bytes"}, {"binary_handling_mode": "bytes"}),
        ({"type": "string"}, {}),
        ({"type": "struct", "name": "io.debezium.data.VariableScaleDecimal"}, {"decimal_handling_mode": "precise"}),
        # Connectors before 1.5 write money so in every mode.
        ({"type": "bytes", "name": DECIMAL, "parameters": {"scale": "2"}}, {}),
    ],
)
def test_a_mode_that_a_schema_block_shows(block: dict[str, Any], modes: dict[str, str]) -> None:
    assert KIND.block_modes(block) == modes


def test_nothing_is_lost_with_careful_settings() -> None:
    found = {each.setting: each.level for each in advice(Config(CAREFUL))}
    assert {name for name, level in found.items() if level in (Level.LOST, Level.RISK)} == set()


@pytest.mark.parametrize(
    ("setting", "value", "level"),
    [
        ("plugin.name", "decoderbufs", Level.RISK),
        ("time.precision.mode", "connect", Level.LOST),
        ("time.precision.mode", "nanoseconds", Level.LOST),
        ("decimal.handling.mode", "precise", Level.RISK),
        ("decimal.handling.mode", "double", Level.LOST),
        ("binary.handling.mode", "base64", Level.RISK),
        ("interval.handling.mode", "numeric", Level.LOST),
        ("hstore.handling.mode", "map", Level.GOOD),
        ("skipped.operations", "t", Level.RISK),
        ("snapshot.mode", "never", Level.LOST),
        ("snapshot.mode", "when_needed", Level.NOTE),
    ],
)
def test_a_setting_has_its_level(setting: str, value: str, level: Level) -> None:
    assert {each.setting: each.level for each in advice(Config(CAREFUL | {setting: value}))}[setting] is level


def test_the_fitting_spec_has_modes_merges_and_no_schema_changes(tmp_path: Path) -> None:
    text = fitting_spec(Config(CAREFUL))
    assert "unavailable: merge" in text
    assert "schema_changes" not in text
    conf = read_conf(write_conf(tmp_path, {"connectors/shop.yml": text, "tables/shop/t.yml": TABLE}))
    assert conf.faults == ()
    (connector,) = conf.connectors
    assert (connector.decimal_handling_mode, connector.interval_handling_mode) == ("string", "string")


def test_the_pages_example_is_sound(tmp_path: Path) -> None:
    blocks = re.findall(r"```yaml\n# conf/(\S+)\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    (table,) = load_tables(write_conf(tmp_path, dict(blocks)))
    assert table.topic == "webshop.public.orders"
    assert [each.name for each in table.columns if each.merges] == ["tags", "details", "area"]
    assert [each.name for each in table.columns if each.null_is_unchanged] == ["area"]
