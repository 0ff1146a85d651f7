"""`python -m cdc check-connector`: what connector configurations mean, and the matching spec."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from tests.support.conf_folder import write_conf

from cdc.__main__ import cdc
from cdc.connector_check import Config, Level, advice, fitting_spec
from cdc.spec.load import read_conf
from cdc.spec.model import ConnectorSpec

JSON = "org.apache.kafka.connect.json.JsonConverter"
SQL_SERVER = {
    "connector.class": "io.debezium.connector.sqlserver.SqlServerConnector",
    "tasks.max": "1",
    "database.hostname": "sql.example",
    "database.port": "1433",
    "database.user": "debezium",
    "database.password": "Hunter2!",
    "database.names": "shop",
    "topic.prefix": "shopserver",
    "table.include.list": "dbo.orders,dbo.customers",
    "schema.history.internal.kafka.bootstrap.servers": "kafka:9092",
    "schema.history.internal.kafka.topic": "history.shop",
    "schema.history.internal.producer.sasl.jaas.config": 'ScramLoginModule required username="u" password="Hunter2!";',
}
CAREFUL = SQL_SERVER | {
    "key.converter": JSON,
    "value.converter": JSON,
    "value.converter.schemas.enable": "false",
    "value.converter.replace.null.with.default": "false",
    "time.precision.mode": "isostring",
    "decimal.handling.mode": "string",
    "binary.handling.mode": "hex",
    "data.query.mode": "direct",
    "provide.transaction.metadata": "true",
    "heartbeat.interval.ms": "10000",
    "signal.data.collection": "shop.dbo.dbz_signal",
    "notification.enabled.channels": "log,sink",
    "notification.sink.topic.name": "shopserver.notifications",
}
UNWRAPPED = SQL_SERVER | {
    "value.converter": JSON,
    "transforms": "unwrap,mask",
    "transforms.unwrap.type": "io.debezium.transforms.ExtractNewRecordState",
    "transforms.unwrap.add.fields": "op,table,source.ts_ms",
    "transforms.mask.type": "org.apache.kafka.connect.transforms.MaskField$Value",
}
ROUTED = SQL_SERVER | {
    "value.converter": JSON,
    "key.converter": "org.apache.kafka.connect.storage.StringConverter",
    "transforms": "Reroute,names",
    "transforms.Reroute.type": "io.debezium.transforms.ByLogicalTableRouter",
    "transforms.Reroute.key.field.name": "shard",
    "transforms.names.type": "org.apache.kafka.connect.transforms.RegexRouter",
}
AVRO = SQL_SERVER | {"value.converter": "io.confluent.connect.avro.AvroConverter"}
OLD = {
    "connector.class": "io.debezium.connector.sqlserver.SqlServerConnector",
    "database.server.name": "shopserver",
    "database.dbname": "shop",
    "database.password": "Hunter2!",
    "value.converter": JSON,
    "snapshot.mode": "schema_only",
    "decimal.handling.mode": "double",
    "time.precision.mode": "connect",
    "signal.data.collection": "shop.dbo.dbz_signal",
}
LOSSY = SQL_SERVER | {
    "value.converter": JSON,
    "streaming.fetch.size": "10000",
    "skipped.operations": "d,t",
    "event.processing.failure.handling.mode": "skip",
    "tombstones.on.delete": "false",
    "message.key.columns": "dbo.orders:order_no",
    "column.mask.hash.SHA-256.with.salt.CzQMA0cB5K": "dbo.customers.email",
    "unavailable.value.placeholder": "#gone#",
    "topic.delimiter": "-",
    "converters": "times",
}
ORACLE = {"connector.class": "io.debezium.connector.oracle.OracleConnector", "topic.prefix": "p"}
EVERY = {
    "careful": CAREFUL,
    "unwrapped": UNWRAPPED,
    "routed": ROUTED,
    "avro": AVRO,
    "old": OLD,
    "lossy": LOSSY,
    "oracle": ORACLE,
    "cloud events": SQL_SERVER | {"value.converter": "io.debezium.converters.CloudEventsConverter"},
}


def levels(settings: Mapping[str, str]) -> dict[str, Level]:
    return {each.setting: each.level for each in advice(Config(settings))}


def lost(settings: Mapping[str, str]) -> set[str]:
    return {setting for setting, level in levels(settings).items() if level is Level.LOST}


def run(tmp_path: Path, content: str) -> Result:
    file = tmp_path / "connector.json"
    file.write_text(content)
    return CliRunner().invoke(cdc, ["check-connector", str(file)], catch_exceptions=False)


def spec_of(tmp_path: Path, settings: Mapping[str, str]) -> ConnectorSpec:
    """The printed spec, as read from a conf folder."""
    files = {"connectors/shop.yml": fitting_spec(Config(settings)), "tables/shop/t.yml": TABLE}
    conf = read_conf(write_conf(tmp_path, files))
    assert conf.faults == ()
    return conf.connectors[0]


TABLE = "{table: shop.dbo.orders, key: [id], columns: {id: int}}"


def test_nothing_is_lost_with_a_careful_connector() -> None:
    found = levels(CAREFUL)
    assert lost(CAREFUL) == set()
    assert {setting for setting, level in found.items() if level is Level.RISK} == set()
    uncounted = levels(CAREFUL | {"provide.transaction.metadata": "false"})
    assert [setting for setting, level in uncounted.items() if level is Level.RISK] == ["data.query.mode"]


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        (UNWRAPPED, {"transforms.unwrap.add.fields", "transforms.unwrap.delete.tombstone.handling.mode"}),
        (ROUTED, {"key.converter"}),
        (AVRO, {"value.converter"}),
        (OLD, {"snapshot.mode", "decimal.handling.mode", "time.precision.mode"}),
        (LOSSY, {"streaming.fetch.size", "skipped.operations", "event.processing.failure.handling.mode"}),
        (ORACLE, {"connector.class"}),
    ],
    ids=["unwrapped", "routed", "avro", "old", "lossy", "oracle"],
)
def test_what_is_lost_is_reported(settings: Mapping[str, str], expected: set[str]) -> None:
    assert lost(settings) == expected


def test_flattened_records_with_their_position_are_good() -> None:
    fields = "op,commit_lsn,source.change_lsn,source.event_serial_no,source.ts_ms"
    own = {"transforms.unwrap.add.fields": fields, "transforms.unwrap.delete.tombstone.handling.mode": "rewrite"}
    assert lost(UNWRAPPED | own) == set()
    renamed = own | {"transforms.unwrap.add.fields": fields.replace("op", "op:kind")}
    assert lost(UNWRAPPED | renamed) == {"transforms.unwrap.add.fields"}


def test_the_most_severe_comes_first() -> None:
    found = [list(Level).index(each.level) for each in advice(Config(LOSSY))]
    assert found == sorted(found)


@pytest.mark.parametrize("name", EVERY)
def test_every_loss_has_a_fix(name: str) -> None:
    for each in advice(Config(EVERY[name])):
        assert each.meaning.endswith(".")
        assert each.fix or each.level is not Level.LOST


@pytest.mark.parametrize("name", EVERY)
def test_secrets_are_shown_nowhere(tmp_path: Path, name: str) -> None:
    settings = EVERY[name] | {
        "value.converter.basic.auth.user.info": "user:Hunter2!",
        "converters": "password=Hunter2!",
    }
    result = run(tmp_path, json.dumps({"name": "shop", "config": settings}))
    assert "Hunter2" not in result.output


def test_the_fitting_spec_of_a_careful_connector(tmp_path: Path) -> None:
    assert fitting_spec(Config(CAREFUL)).splitlines() == [
        "topic_prefix: shopserver",
        "within_transaction: total_order",
        "time_precision_mode: isostring",
        "decimal_handling_mode: string",
        "binary_handling_mode: hex",
        "schemas: never",
        "shape: envelope",
        "topics:",
        "  schema_changes: true",
        "  transactions: true",
        "  heartbeat: true",
        "  notifications: shopserver.notifications",
        "  signals: shopserver.shop.dbo.dbz_signal",
    ]
    assert spec_of(tmp_path, CAREFUL).transactions_topic == "shopserver.transaction"


def test_the_fitting_specs_of_others(tmp_path: Path) -> None:
    old = spec_of(tmp_path / "old", OLD)
    assert (old.topic_pattern, old.signals_topic) == ("{prefix}.{schema}.{table}", "shopserver.dbo.dbz_signal")
    assert (old.decimal_handling_mode, old.time_precision_mode, old.schemas) == ("double", "connect", "always")
    lossy = spec_of(tmp_path / "lossy", LOSSY)
    assert (lossy.placeholder, lossy.topic_pattern) == ("#gone#", "{prefix}-{database}-{schema}-{table}")
    assert spec_of(tmp_path / "unwrapped", UNWRAPPED).shape == "flattened"
    assert spec_of(tmp_path / "avro", AVRO).shape == "auto"


@pytest.mark.parametrize("name", EVERY)
def test_every_fitting_spec_is_sound(tmp_path: Path, name: str) -> None:
    assert spec_of(tmp_path, EVERY[name]).topic_prefix == EVERY[name].get("topic.prefix", "shopserver")


def test_the_command_prints_advice_a_count_and_the_spec(tmp_path: Path) -> None:
    result = run(tmp_path, json.dumps(OLD))
    assert result.exit_code == 1
    first, count, spec = (
        result.output.index(text) for text in ("LOST  snapshot.mode: schema_only", "  3 LOST", "topic_p")
    )
    assert first < count < spec
    assert run(tmp_path, json.dumps({"name": "shop", "config": CAREFUL})).exit_code == 0


@pytest.mark.parametrize("content", ["", "{", "[]", '"x"', '{"config": []}', '{"config": {"a": {"b": 1}}}'])
def test_a_file_that_is_not_a_configuration_is_rejected(tmp_path: Path, content: str) -> None:
    result = run(tmp_path, content)
    assert result.exit_code == 1
    assert "fix: give the JSON that Kafka Connect takes" in result.output
