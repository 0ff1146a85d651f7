"""The kind of a connector: stated, found from records, or wrong; what follows from it in specs."""

import gzip
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from tests.support.conf_folder import write_conf
from tests.support.tables import table
from tools.db2_connector.captures import HISTORIES

from cdc import definition
from cdc.__main__ import cdc
from cdc.connector_check import Config, Level, advice, fitting_spec
from cdc.errors import Condition, Diagnostic
from cdc.spec.kinds import DEFAULT, KINDS
from cdc.spec.load import read_conf
from cdc.spec.model import ConnectorSpec

DB2 = "topic_prefix: till\nkind: db2\n"
ORDERS = "table: SALES.ORDERS\nkey: [ID]\ncolumns: {ID: integer not null, NOTE: clob(2k)}\n"
SOURCE = {"connector": "db2", "name": "till", "db": "SHOPDB", "schema": "SALES", "table": "ORDERS", "version": "3.6.1"}


def faults(folder: Path, connector: str, orders: str = ORDERS) -> tuple[Diagnostic, ...]:
    return read_conf(write_conf(folder, {"connectors/till.yml": connector, "tables/till/orders.yml": orders})).faults


def capture(folder: Path, *records: Mapping[str, Any]) -> Path:
    file = folder / "capture.jsonl"
    lines = ({"topic": topic, "partition": 0, "offset": 0, "payload": json.dumps(value)} for topic, value in records)
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return file


def run(*words: object) -> Result:
    return CliRunner().invoke(cdc, list(map(str, words)), catch_exceptions=False)


def test_types_and_topic_are_those_of_the_kind(tmp_path: Path) -> None:
    conf = read_conf(write_conf(tmp_path, {"connectors/till.yml": DB2, "tables/till/orders.yml": ORDERS}))
    (spec,) = conf.tables
    assert (spec.topic, spec.connector.kind) == ("till.SALES.ORDERS", "db2")
    assert [(str(column.type), column.type.is_large) for column in spec.columns] == [
        ("integer", False),
        ("clob(2048)", True),
    ]


@pytest.mark.parametrize(
    ("connector", "orders", "expected"),
    [
        (DB2, ORDERS.replace("SALES.ORDERS", "ORDERS"), (Condition.BAD_TABLE_NAME, "expected form")),
        (DB2, ORDERS.replace("integer", "nvarchar(20)"), (Condition.BAD_TYPE, "is not a type of Db2")),
        (f"{DB2}binary_handling_mode: hex\n", ORDERS, (Condition.MISPLACED_FIELD, "not a setting of Db2 connectors")),
        (f"{DB2}hstore_handling_mode: map\n", ORDERS, (Condition.MISPLACED_FIELD, "not a setting of Db2 connectors")),
        (f"{DB2}within_transaction: log\n", ORDERS, (Condition.BAD_VALUE, "Db2 connectors know auto, lsn")),
        (f'{DB2}topic_pattern: "{{prefix}}.{{collection}}"\n', ORDERS, (Condition.BAD_VALUE, "`{collection}`")),
        (DB2.replace("db2", "bd2"), ORDERS, (Condition.BAD_VALUE, "expected one of")),
        (DB2.replace("db2", "auto"), ORDERS, (Condition.UNKNOWN_KIND, "there is none here yet")),
    ],
    ids=["name", "type", "mode", "mode of another kind", "value", "pattern", "typo", "auto"],
)
def test_what_a_kind_does_not_have_is_a_fault(
    tmp_path: Path, connector: str, orders: str, expected: tuple[Condition, str]
) -> None:
    (fault,) = faults(tmp_path, connector, orders)
    assert fault.condition is expected[0]
    assert expected[1] in fault.detail


@pytest.mark.parametrize("shape", ["flattened", "avro_json"])
def test_a_shape_that_a_kind_is_not_read_in_is_a_fault(tmp_path: Path, shape: str) -> None:
    documents = "table: shop.orders\nkey: [_id]\ncolumns: {_id: int}\n"
    (fault,) = faults(tmp_path, f"topic_prefix: till\nkind: mongodb\nshape: {shape}\n", documents)
    assert (fault.condition, fault.value) == (Condition.BAD_VALUE, shape)
    assert fault.detail == f"`shape` is `{shape}`, in which records of MongoDB connectors are not read"
    assert fault.fix == "let the connector write another one, and state it: envelope, cloudevents."


def test_a_misspelt_kind_has_a_near_match(tmp_path: Path) -> None:
    (fault,) = faults(tmp_path, DB2.replace("db2", "sqlserfer"))
    assert fault.near_match == "sqlserver"


def test_auto_is_the_kind_that_the_connectors_first_record_names(tmp_path: Path) -> None:
    other = {"op": "c", "source": SOURCE | {"name": "shop", "connector": "sqlserver"}}
    file = capture(
        tmp_path, ("shop.x", other), ("till.SALES.ORDERS", {"op": "c", "after": {"ID": 1}, "source": SOURCE})
    )
    conf = write_conf(
        tmp_path / "conf", {"connectors/till.yml": DB2.replace("db2", "auto"), "tables/till/orders.yml": ORDERS}
    )
    found = run("check", conf, "--records", file)
    assert found.exit_code == 0, found.output
    assert run("check", conf).exit_code == 1


def test_auto_of_records_of_no_known_kind_says_so(tmp_path: Path) -> None:
    file = capture(tmp_path, ("till.SALES.ORDERS", {"op": "c", "source": SOURCE | {"connector": "db3"}}))
    conf = write_conf(tmp_path / "conf", {"connectors/till.yml": DB2.replace("db2", "auto")})
    found = run("check", conf, "--records", file)
    assert "the connector's records are of kind `db3`" in found.output
    assert "did you mean `db2`?" in found.output


def test_scaffold_writes_the_kind_and_its_types(tmp_path: Path) -> None:
    columns = [
        ("ID", "INTEGER", 10, None, False),
        ("TOTAL", "DECIMAL", 9, 2, True),
        ("SEAL", "CHAR () FOR BIT DATA", 4, None, True),
        ("AT", "TIMESTAMP", 32, 12, True),
    ]
    described = [
        {"name": name, "typeName": type_, "length": length, "scale": scale, "optional": optional}
        for name, type_, length, scale, optional in columns
    ]
    change = {
        "type": "CREATE",
        "id": '"SALES"."ORDERS"',
        "table": {"primaryKeyColumnNames": ["ID"], "columns": described},
    }
    file = capture(tmp_path, ("till", {"source": SOURCE, "databaseName": "SHOPDB", "tableChanges": [change]}))
    conf = tmp_path / "conf"
    assert run("scaffold", "--connector", "till", "--capture", file, "--write", conf).exit_code == 0
    assert "kind: db2" in (conf / "connectors/till.yml").read_text()
    (spec,) = read_conf(conf).tables
    types = ["integer", "decimal(9,2)", "char for bit data(4)", "timestamp(12)"]
    assert (spec.source, [str(column.type) for column in spec.columns]) == ("SALES.ORDERS", types)
    assert run("scaffold", "--connector", "till", "--capture", file, "--diff", "--conf", conf).exit_code == 0


def test_a_real_capture_has_its_kind(tmp_path: Path) -> None:
    file = tmp_path / "history.jsonl"
    file.write_bytes(gzip.decompress((HISTORIES / "0.jsonl.gz").read_bytes()))
    conf = write_conf(
        tmp_path / "conf",
        {
            "connectors/till.yml": "topic_prefix: db2\nkind: auto\n",
            "tables/till/t.yml": "table: SALES.T0\nkey: [ID]\ncolumns: {ID: integer}\n",
        },
    )
    assert run("check", conf, "--records", file).exit_code == 0


def test_a_storage_knows_the_kind_it_was_built_by_unless_it_is_the_default() -> None:
    columns = {"id": "int"}
    db2 = table(columns, connector=ConnectorSpec("till", "p", kind="db2"))
    assert definition.definition(db2)[definition.KIND] == "db2"
    assert definition.KIND not in definition.definition(table(columns))
    assert definition.is_rule(definition.KIND)


def test_a_connectors_class_decides_the_rules_for_its_settings() -> None:
    settings = {
        "connector.class": KINDS["db2"].connector_class,
        "topic.prefix": "till",
        "value.converter": "org.apache.kafka.connect.json.JsonConverter",
        "value.converter.schemas.enable": "false",
        "time.precision.mode": "connect",
        "decimal.handling.mode": "string",
        "provide.transaction.metadata": "true",
    }
    found = {each.setting: each.level for each in advice(Config(settings))}
    assert (found["time.precision.mode"], found["decimal.handling.mode"]) == (Level.LOST, Level.GOOD)
    assert "data.query.mode" not in found
    lines = fitting_spec(Config(settings)).splitlines()
    assert lines[:4] == [
        "topic_prefix: till",
        "kind: db2",
        "time_precision_mode: connect",
        "decimal_handling_mode: string",
    ]
    assert not [line for line in lines if line.startswith("within_transaction")]


@pytest.mark.parametrize("kind", KINDS)
def test_the_fitting_spec_has_the_topics_of_another_delimiter(kind: str) -> None:
    settings = {"connector.class": KINDS[kind].connector_class, "topic.prefix": "till", "database.names": "shop"}
    expected = KINDS[kind].topic_patterns[0].replace(".", "-")
    assert f'topic_pattern: "{expected}"' in fitting_spec(Config(settings | {"topic.delimiter": "-"}))
    assert "topic_pattern" not in fitting_spec(Config(settings))


def test_flattened_documents_are_lost_and_the_fitting_spec_does_not_state_their_shape() -> None:
    settings = {
        "connector.class": KINDS["mongodb"].connector_class,
        "topic.prefix": "till",
        "value.converter": "org.apache.kafka.connect.json.JsonConverter",
        "transforms": "flat",
        "transforms.flat.type": "io.debezium.transforms.ExtractNewRecordState",
    }
    found = {each.setting: each.level for each in advice(Config(settings))}
    assert found["transforms.flat.type"] is Level.LOST
    assert "transforms.flat.add.fields" not in found
    assert "shape: flattened" not in fitting_spec(Config(settings))


def test_an_unknown_class_is_told_those_that_are_known() -> None:
    (found,) = [
        each
        for each in advice(Config({"connector.class": "x.Y", "topic.prefix": "p"}))
        if each.fix and "x.Y" in each.value
    ]
    assert found.level is Level.LOST
    assert all(kind.connector_class in str(found.fix) for kind in KINDS.values())


def test_a_spec_without_a_kind_is_of_the_default_one() -> None:
    assert DEFAULT.name == "sqlserver"
