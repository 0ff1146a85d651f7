"""MariaDB's and MySQL's column types in specs, and advice on their connectors' configurations."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from tests.support.conf_folder import one_faulty, one_table
from tools.binlog_connector import descriptions

from cdc.connector_check.advice import Level
from cdc.connector_check.config import Config
from cdc.connector_check.fitting_spec import fitting_spec
from cdc.connector_check.rules import advice
from cdc.spec.kinds import KINDS, TypeFault

_CONNECTOR = "topic_prefix: web\nkind: mariadb\n"
_KINDS = ("mariadb", "mysql")
_CONFIG = {
    "topic.prefix": "web",
    "value.converter": "org.apache.kafka.connect.json.JsonConverter",
    "value.converter.schemas.enable": "false",
    "value.converter.replace.null.with.default": "false",
    "skipped.operations": "none",
}


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("INT(10) UNSIGNED", "int unsigned"),
        ("int(8) zerofill not null", "int unsigned"),
        ("bigint unsigned auto_increment", "bigint unsigned"),
        ("serial", "bigint unsigned"),
        ("integer", "int"),
        ("bool", "boolean"),
        ("tinyint(1)", "tinyint"),
        ("bit", "bit(1)"),
        ("dec(9,2) unsigned", "decimal(9,2)"),
        ("numeric", "decimal(10,0)"),
        ("float(7,4)", "float"),
        ("float(25)", "double"),
        ("double precision", "double"),
        ("national varchar(9)", "varchar(9)"),
        ("varchar(9) character set latin1 collate latin1_bin", "varchar(9)"),
        ("text charset binary", "blob"),
        ("text(100)", "text"),
        ("enum('a','b,c)','d''e')", "enum"),
        ("set('x') not null", "set"),
        ("time", "time(0)"),
        ("datetime(6)", "datetime(6)"),
        ("year(4)", "year"),
        ("point srid 4326", "point"),
    ],
)
@pytest.mark.parametrize("kind", ["mariadb", "mysql"])
def test_a_type_is_read_as_in_ddl(kind: str, written: str, read: str) -> None:
    assert str(KINDS[kind].parse_type(written)[0]) == read


@pytest.mark.parametrize(
    "written",
    ["nvarchar(max)", "datetime2", "bit(65)", "decimal(66,2)", "time(7)", "varchar(70000)", "enum(1)", "int("],
)
def test_other_types_are_faults(written: str) -> None:
    with pytest.raises(TypeFault):
        KINDS["mysql"].parse_type(written)


@pytest.mark.parametrize("kind", _KINDS)
@pytest.mark.parametrize("table", ["found", "made"])
def test_a_real_description_is_read_as_the_type_in_ddl(kind: str, table: str) -> None:
    own = KINDS[kind]
    pairs = json.loads(descriptions.FILE.read_text(encoding="utf-8"))[kind][table]
    differing = []
    for written, column in pairs:
        of_ddl = own.parse_type(written.partition(" default ")[0].partition(" generated ")[0])[0]
        described = own.parse_type(own.described_type(column))[0]
        assert own.widths.holds(of_ddl, described), (written, described)
        if described != of_ddl:
            differing.append((written, str(described)))
    # What the server itself calls otherwise.
    assert set(differing) <= {("boolean", "tinyint"), ("json", "longtext")}


def test_types_of_one_of_them_only() -> None:
    assert str(KINDS["mariadb"].parse_type("uuid")[0]) == "uuid"
    assert str(KINDS["mysql"].parse_type("vector(3)")[0]) == "vector(3)"
    with pytest.raises(TypeFault, match="cannot read the DDL"):
        KINDS["mariadb"].parse_type("inet6 not null")


def test_a_table_has_two_names_and_its_topic_too(tmp_path: Path) -> None:
    table = one_table(tmp_path, "table: shop.orders\nkey: [id]\ncolumns: {id: int unsigned}\n", connector=_CONNECTOR)
    assert (table.source, table.topic, table.name) == ("shop.orders", "web.shop.orders", "orders")


@pytest.mark.parametrize("mode", ["time_precision_mode: adaptive", "within_transaction: total_order"])
def test_modes_that_these_connectors_do_not_have_are_faults(tmp_path: Path, mode: str) -> None:
    connector = f"{_CONNECTOR}{mode}\n"
    conf = one_faulty(tmp_path, "table: shop.orders\nkey: [id]\ncolumns: {id: int}\n", connector=connector)
    assert [fault.value for fault in conf.faults] == [mode.split(": ")[1]]


def configured(kind: str, **settings: Any) -> Config:
    """A connector's configuration with these settings beside those that are recommended."""
    return Config({"connector.class": KINDS[kind].connector_class, **_CONFIG, **settings})


def levels(kind: str, **settings: Any) -> dict[str, Level]:
    return {each.setting: each.level for each in advice(configured(kind, **settings))}


@pytest.mark.parametrize("kind", _KINDS)
def test_nothing_is_lost_with_the_defaults(kind: str) -> None:
    assert Level.LOST not in levels(kind).values()


@pytest.mark.parametrize("kind", _KINDS)
@pytest.mark.parametrize(
    ("setting", "value", "level"),
    [
        ("time.precision.mode", "isostring", Level.LOST),
        ("time.precision.mode", "connect", Level.LOST),
        ("time.precision.mode", "nanoseconds", Level.LOST),
        ("time.precision.mode", "microseconds", Level.GOOD),
        ("decimal.handling.mode", "double", Level.LOST),
        ("decimal.handling.mode", "string", Level.GOOD),
        ("binary.handling.mode", "hex", Level.GOOD),
        ("bigint.unsigned.handling.mode", "precise", Level.GOOD),
        ("event.processing.failure.handling.mode", "warn", Level.LOST),
        ("inconsistent.schema.handling.mode", "skip", Level.LOST),
        ("skipped.operations", "t", Level.RISK),
        ("topic.naming.strategy", "x.Y", Level.RISK),
    ],
)
def test_a_setting_has_its_level(kind: str, setting: str, value: str, level: Level) -> None:
    assert levels(kind, **{setting: value})[setting] == level


@pytest.mark.parametrize("kind", _KINDS)
def test_a_setting_that_is_not_written_has_the_default_of_these_connectors(kind: str) -> None:
    shown = {each.setting: each.value for each in advice(configured(kind))}
    assert shown["time.precision.mode"] == "not set (default: adaptive_time_microseconds)"
    assert shown["bigint.unsigned.handling.mode"] == "not set (default: long)"


@pytest.mark.parametrize(
    ("kind", "own", "other"),
    [
        ("mariadb", "log_bin_compress", "binlog_row_value_options"),
        ("mysql", "binlog_row_value_options", "log_bin_compress"),
    ],
)
def test_what_the_servers_log_may_lack_is_told_of_its_own_server(kind: str, own: str, other: str) -> None:
    (found,) = [each for each in advice(configured(kind)) if each.setting == "database.hostname"]
    assert (found.level, own in found.meaning, other in found.meaning) == (Level.NOTE, True, False)


@pytest.mark.parametrize("kind", _KINDS)
def test_a_converter_of_booleans_is_told_of(kind: str) -> None:
    class_ = "io.debezium.connector.mysql.converters.TinyIntOneToBooleanConverter"
    found = levels(kind, converters="boolean", **{"boolean.type": class_})
    assert found["boolean.type"] is Level.NOTE


@pytest.mark.parametrize("kind", _KINDS)
def test_flattened_records_need_file_position_and_row(kind: str) -> None:
    unwrap = "transforms.unwrap"
    settings = {
        "transforms": "unwrap",
        f"{unwrap}.type": "io.debezium.transforms.ExtractNewRecordState",
        f"{unwrap}.delete.tombstone.handling.mode": "rewrite",
        f"{unwrap}.add.fields": "op,file,pos,source.ts_ms",
    }
    (found,) = [each for each in advice(configured(kind, **settings)) if each.setting == f"{unwrap}.add.fields"]
    assert found.level is Level.LOST
    assert found.meaning.startswith("without source.row, source.server_id, source.gtid a record has no position")
    (fields,) = re.findall(r"add\.fields=(.*)`", str(found.fix))
    assert Level.LOST not in levels(kind, **(settings | {f"{unwrap}.add.fields": fields})).values()


@pytest.mark.parametrize("kind", _KINDS)
def test_the_fitting_spec_has_kind_and_modes(kind: str) -> None:
    settings = {"time.precision.mode": "microseconds", "bigint.unsigned.handling.mode": "precise"}
    config = configured(kind, **settings)
    fields = dict(line.split(": ") for line in fitting_spec(config).splitlines() if ": " in line)
    assert fields["kind"] == kind
    assert (fields["time_precision_mode"], fields["bigint_unsigned_handling_mode"]) == ("microseconds", "precise")
    assert "decimal_handling_mode" not in fields
