"""What a capture shows of its connector: topics, order, signal table, schema blocks; and files that are no captures."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from tests.support.conf_folder import write_conf

from cdc.__main__ import cdc
from cdc.spec.evidence import evidence, source_tables
from cdc.spec.load import load_tables, read_conf
from cdc.spec.scaffold import connector_yaml

ROOT = Path(__file__).parents[2]
FIELDS: list[dict[str, Any]] = [
    {"field": "id", "type": "int64", "optional": False},
    {"field": "at", "type": "int64", "name": "io.debezium.time.NanoTimestamp", "optional": True},
    {
        "field": "total",
        "type": "bytes",
        "name": "org.apache.kafka.connect.data.Decimal",
        "parameters": {"scale": "2", "connect.decimal.precision": "9"},
        "optional": True,
    },
    {"field": "name", "type": "string", "parameters": {"__debezium.source.column.type": "VARCHAR"}, "optional": True},
]


def change(topic: str, table: str, *, block: bool = False, **value: Any) -> dict[str, Any]:
    """A change of a table, with or without its schema block."""
    database, schema, name = table.split(".")
    source = {"name": "till", "db": database, "schema": schema, "table": name, "snapshot": "false"}
    payload: Any = {"op": "c", "before": None, "after": {"id": 1}, "source": source, "transaction": None, **value}
    key: Any = {"id": 1}
    if block:
        row = {"type": "struct", "fields": FIELDS, "field": "after"}
        payload = {"schema": {"type": "struct", "fields": [row]}, "payload": payload}
        key = {"schema": {}, "payload": key}
    return {"topic": topic, "partition": 0, "offset": 0, "key": json.dumps(key), "payload": json.dumps(payload)}


def other(topic: str, payload: Any) -> dict[str, Any]:
    return {"topic": topic, "partition": 0, "offset": 0, "key": None, "payload": json.dumps(payload)}


def scaffold(capture: Path, *arguments: str) -> Result:
    words = ["scaffold", "--connector", "shop", "--capture", str(capture), *arguments]
    return CliRunner().invoke(cdc, words, catch_exceptions=False)


def test_a_1x_connectors_capture_gives_specs_that_read_its_topics(tmp_path: Path) -> None:
    capture = tmp_path / "c.jsonl"
    records = [
        change("till.dbo.orders", "shop.dbo.orders", block=True),
        change("till.other", "shop.dbo.lines", block=True),
    ]
    capture.write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
    conf = tmp_path / "conf"
    assert scaffold(capture, "--write", str(conf)).exit_code == 0
    assert read_conf(conf).connectors[0].topic_pattern == "{prefix}.{schema}.{table}"
    assert [(table.source, table.topic) for table in load_tables(conf)] == [
        ("shop.dbo.lines", "till.other"),
        ("shop.dbo.orders", "till.dbo.orders"),
    ]
    checked = CliRunner().invoke(cdc, ["check", str(conf), "--records", str(capture)])
    assert (checked.exit_code, "UNREAD_TOPIC" in checked.output) == (0, False)
    assert scaffold(capture, "--diff", "--conf", str(conf)).exit_code == 0


def test_without_changes_the_connectors_version_tells_the_pattern() -> None:
    described = {"primaryKeyColumnNames": ["id"], "columns": []}
    source = {"version": "1.9.7.Final", "name": "till"}
    schema_change = {"type": "CREATE", "id": '"shop"."dbo"."orders"', "table": described}
    found = evidence([other("till", {"source": source, "tableChanges": [schema_change]})])
    assert 'topic_pattern: "{prefix}.{schema}.{table}"' in connector_yaml(found, "till")


def test_columns_and_key_come_from_a_schema_block_if_there_is_no_schema_change() -> None:
    (table,) = source_tables([change("till.shop.dbo.orders", "shop.dbo.orders", block=True)])
    assert (table.key, table.is_exact) == (("id",), False)
    assert table.columns == (
        ("id", "bigint", False),
        ("at", "datetime2(7)", True),
        ("total", "decimal(9,2)", True),
        ("name", "varchar", True),
    )


def test_the_connectors_own_topics_are_those_of_the_capture() -> None:
    lines = (ROOT / "tests/support/captures/events.jsonl").read_text(encoding="utf-8").splitlines()
    found = evidence(map(json.loads, lines))
    assert [table.source for table in found.tables] == ["testDB.dbo.lines", "testDB.dbo.nopk", "testDB.dbo.orders"]
    assert connector_yaml(found, "server1").splitlines()[1:] == [
        "topic_prefix: server1",
        "within_transaction: total_order",
        "topics:",
        "  schema_changes: true",
        "  transactions: true",
        "  heartbeat: true",
        "  notifications: server1.notifications",
        "  signals: server1.testDB.dbo.dbz_signal",
    ]


def test_total_order_needs_the_count_in_every_change_from_the_log() -> None:
    counted = change("t", "a.b.c", transaction={"id": "1", "total_order": 1})
    assert evidence([counted]).has_total_order
    assert not evidence([counted, change("t", "a.b.c")]).has_total_order
    assert not evidence([]).has_total_order


def test_a_table_with_the_columns_of_a_signal_table_is_one_only_by_its_signals() -> None:
    row = {"id": "1", "type": "invoice", "data": "{}"}
    assert evidence([change("t", "shop.dbo.outbox", after=row)]).signals == frozenset()
    signal = change("t", "shop.dbo.commands", after=row | {"type": "execute-snapshot"})
    assert evidence([signal]).signals == {"shop.dbo.commands"}


VALUE = json.dumps({"op": "c", "source": {}, "after": {}})


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (gzip.compress(b"{}"), "c.jsonl\n  the file is compressed (gzip)\n  fix: decompress it first, or"),
        (b"\xff\xfe{", "c.jsonl\n  the file is not text (byte 1 is not UTF-8)"),
        (b'{\n "topic": 1}', "c.jsonl:1\n  the line is not JSON (Expecting property name"),
        (b"[1]", "c.jsonl:1\n  the line is a list, not a record"),
        (f"\n{VALUE}\n".encode(), "c.jsonl:2\n  these are the values of records without their topics, as kcat prints"),
        (b'{"name": "x", "config": {"connector.class": "y"}}', "c.jsonl:1\n  this is a connector's configuration"),
        (b'{"a": 1, "b": 2}', "c.jsonl:1\n  a record has a `topic`; this line has `a`, `b`"),
        (b'{"topic": "shop.dbo.x", "payload": null}', "the captures have records of: shop.dbo.x"),
    ],
    ids=["gzip", "binary", "pretty JSON", "list", "values only", "connector", "anything", "no schema"],
)
def test_a_file_that_is_no_capture_is_told_what_it_is(tmp_path: Path, content: bytes, message: str) -> None:
    capture = tmp_path / "c.jsonl"
    capture.write_bytes(content)
    result = scaffold(capture)
    assert result.exit_code == 1
    assert message in result.output
    assert "Traceback" not in result.output


def test_a_compressed_capture_is_read_as_a_pipeline_reads_it(tmp_path: Path) -> None:
    records = [change(f"till.shop.dbo.{name}", f"shop.dbo.{name}", block=True) for name in "ab"]
    lines = "\n".join(map(json.dumps, records))
    # A file may be made of several that were compressed.
    compressed = gzip.compress(lines[:40].encode()) + gzip.compress(lines[40:].encode())
    (tmp_path / "day=1").mkdir()
    (tmp_path / "day=1" / "c.jsonl.gz").write_bytes(compressed)
    (tmp_path / "c.jsonl.bz2").write_bytes(b"not read")
    found = scaffold(tmp_path)
    assert (found.exit_code, found.output.count("table: shop.dbo.")) == (0, 2)
    assert scaffold(tmp_path / "day=1" / "c.jsonl.gz").output == found.output


_GZIP = gzip.compress(b"{}")


@pytest.mark.parametrize("content", [_GZIP[:-4], _GZIP[:4] + b"xx", b"{}"], ids=["cut", "overwritten", "plain"])
def test_a_damaged_compressed_capture_is_told_so(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "c.jsonl.gz").write_bytes(content)
    found = scaffold(tmp_path)
    assert found.exit_code == 1
    assert "c.jsonl.gz\n  the file's name ends in .gz, but it cannot be decompressed (" in found.output
    assert "Traceback" not in found.output


def test_a_folder_without_captures_is_told_so(tmp_path: Path) -> None:
    write_conf(tmp_path, {})
    assert "the folder has no capture: no file ends in .jsonl" in scaffold(tmp_path).output


def test_tables_of_several_connectors_are_not_mixed(tmp_path: Path) -> None:
    records = [change("till.a", "shop.dbo.a", block=True), change("b", "shop.dbo.b", block=True)]
    records[1]["payload"] = records[1]["payload"].replace('"till"', '"desk"')
    (tmp_path / "c.jsonl").write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
    result = scaffold(tmp_path / "c.jsonl")
    assert "tables of several connectors, by topic prefix: desk, till" in result.output
    assert scaffold(tmp_path / "c.jsonl", "--table", "shop.dbo.a").exit_code == 0
    assert "(did you mean `shop.dbo.a`?)" in scaffold(tmp_path / "c.jsonl", "--table", "shop.dbo.aa").output
