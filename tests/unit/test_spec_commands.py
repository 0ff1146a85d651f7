"""`python -m cdc check | scaffold | schemas | reference`."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result
from tests.support.conf_folder import write_conf

from cdc import definition
from cdc.__main__ import cdc
from cdc.spec.load import load_tables

ROOT = Path(__file__).parents[2]
TABLE = "{table: shop.dbo.orders, key: [id], columns: {id: int}}"


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(cdc, [str(each) for each in arguments], catch_exceptions=False)


def capture(path: Path, *names: str) -> Path:
    """A capture with one schema-change record for each table."""
    columns = [{"name": "id", "typeName": "int", "length": 10, "scale": 0, "optional": False}]
    with path.open("w", encoding="utf-8") as file:
        for offset, name in enumerate(names):
            table_id = ".".join(f'"{part}"' for part in name.split("."))
            table = {"primaryKeyColumnNames": ["id"], "columns": columns}
            change = {"type": "CREATE", "id": table_id, "table": table}
            payload = json.dumps({"source": {"name": "shopserver"}, "tableChanges": [change]})
            file.write(json.dumps({"topic": "shopserver", "offset": offset, "payload": payload}) + "\n")
    return path


def test_check_prints_what_a_sound_folder_declares(tmp_path: Path) -> None:
    log = "{table: shop.dbo.log, append_only: true, columns: {what: text}}"
    people = "{table: shop.dbo.people, key: [first, last], columns: {first: int, last: int}, history: false}"
    files = {"tables/shop/orders.yml": TABLE, "tables/shop/log.yml": log, "tables/shop/people.yml": people}
    result = run("check", write_conf(tmp_path, files))
    assert result.exit_code == 0
    assert result.output.startswith("NO_KEY  ")
    assert result.output.partition("CONNECTOR")[2].splitlines() == [
        "  TABLE            NAME    KEY          COLUMNS  KEEPS         TOPIC",
        "shop       shop.dbo.log     log     -            1        changes       shopserver.shop.dbo.log",
        "shop       shop.dbo.orders  orders  id           1        history       shopserver.shop.dbo.orders",
        "shop       shop.dbo.people  people  first, last  2        current rows  shopserver.shop.dbo.people",
        "",
        "3 tables of 1 connector, no faults",
    ]


def test_check_prints_all_faults_and_fails(tmp_path: Path) -> None:
    files = {"tables/shop/a.yml": TABLE.replace("[id]", "[ident]"), "tables/shop/b.yml": "histroy: true"}
    result = run("check", write_conf(tmp_path, files))
    assert result.exit_code == 1
    assert result.output.count("fix: ") == 5
    assert result.output.endswith(f"5 faults in {tmp_path}\n")


def test_check_can_be_limited_to_one_connector(tmp_path: Path) -> None:
    files = {
        "tables/shop/orders.yml": TABLE,
        "connectors/shop.yml": "topic_prefix: s",
        "connectors/bad.yml": "x: 1",
    }
    conf = write_conf(tmp_path, files)
    assert run("check", conf).exit_code == 1
    assert run("check", conf, "--connector", "shop").exit_code == 0


def test_scaffold_prints_specs(tmp_path: Path) -> None:
    result = run("scaffold", "--connector", "shop", "--capture", capture(tmp_path / "c.jsonl", "shop.dbo.orders"))
    assert result.output == (
        "# conf/connectors/shop.yml\n"
        "# yaml-language-server: $schema=../schema/connector.schema.json\n"
        "topic_prefix: shopserver\n"
        "topics:\n"
        "  schema_changes: true\n"
        "---\n"
        "# conf/tables/shop/orders.yml\n"
        "# yaml-language-server: $schema=../../schema/table.schema.json\n"
        "table: shop.dbo.orders\n"
        "key: [id]\n"
        "columns:\n"
        "  id: int not null\n"
    )


def test_scaffold_writes_a_folder_that_loads_and_keeps_existing_files(tmp_path: Path) -> None:
    write_conf(tmp_path / "conf", {"connectors/shop.yml": "topic_prefix: mine"})
    (tmp_path / "captures").mkdir()
    capture(tmp_path / "captures" / "a.jsonl", "shop.dbo.orders", "shop.dbo.lines")
    arguments = (
        "scaffold",
        "--connector",
        "shop",
        "--capture",
        tmp_path / "captures",
        "--write",
        tmp_path / "conf",
    )
    result = run(*arguments, "--table", "shop.dbo.orders")
    assert [line.split()[0] for line in result.output.splitlines()] == ["kept", "written"]
    run(*arguments)
    assert [table.topic for table in load_tables(tmp_path / "conf")] == [
        "mine.shop.dbo.lines",
        "mine.shop.dbo.orders",
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [("", "no schema-change record"), ("{}\n{not json\n", "c.jsonl:2\n  the line is not JSON")],
    ids=["nothing there", "no JSON"],
)
def test_scaffold_reports_why_it_has_nothing_to_write(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "c.jsonl").write_text(text, encoding="utf-8")
    result = run("scaffold", "--connector", "shop", "--capture", tmp_path / "c.jsonl")
    assert result.exit_code == 1
    assert message in result.output


def test_schemas_are_copied_into_a_conf_folder(tmp_path: Path) -> None:
    assert run("schemas", tmp_path).exit_code == 0
    names = sorted(path.name for path in (tmp_path / "schema").iterdir())
    assert names == ["connector.schema.json", "defaults.schema.json", "table.schema.json"]


FAULTY = {"tables/shop/orders.yml": TABLE.replace("[id]", "[idd]")}


def test_check_as_json(tmp_path: Path) -> None:
    result = run("check", write_conf(tmp_path, FAULTY), "--format", "json")
    (fault,) = json.loads(result.output)["faults"]
    assert result.exit_code == 1
    assert fault == {
        "condition": "UNKNOWN_KEY_COLUMN",
        "severity": "error",
        "file": f"{tmp_path}/tables/shop/orders.yml",
        "line": 1,
        "column": 32,
        "table": "shop.dbo.orders",
        "value": "idd",
        "near_match": "id",
        "detail": "key column `idd` is not one of the table's columns: id",
        "fix": "correct `key:` here, or add the column to `columns:`.",
    }
    sound = json.loads(run("check", write_conf(tmp_path, {"tables/shop/orders.yml": TABLE}), "--format", "json").output)
    assert sound["faults"] == []
    assert [table["topic"] for table in sound["tables"]] == ["shopserver.shop.dbo.orders"]


def test_check_as_annotations_of_github(tmp_path: Path) -> None:
    result = run("check", write_conf(tmp_path, FAULTY), "--format", "github")
    assert result.output.splitlines()[0] == (
        f"::error file={tmp_path}/tables/shop/orders.yml,line=1,col=32,title=UNKNOWN_KEY_COLUMN::key column `idd` is"
        " not one of the table's columns: id (did you mean `id`?)%0Afix: correct `key:` here, or add the column to"
        " `columns:`."
    )
    log = "{table: shop.dbo.log, append_only: true, columns: {what: text}}"
    warned = run("check", write_conf(tmp_path / "log", {"tables/shop/log.yml": log}), "--format", "github")
    assert (warned.exit_code, warned.output.partition(" ")[0]) == (0, "::warning")


def test_check_compares_with_captures_and_a_bundle(tmp_path: Path) -> None:
    conf = write_conf(tmp_path / "conf", {"tables/shop/orders.yml": TABLE})
    records = capture(tmp_path / "c.jsonl", "shop.dbo.orders")
    missing = run("check", conf, "--records", records)
    assert missing.exit_code == 1
    assert f"topic `shopserver.shop.dbo.orders` does not exist in {records}" in missing.output
    (tmp_path / "databricks.yml").write_text("configuration: {cdc.findngs: true}\n", encoding="utf-8")
    bundle = run("check", conf, "--bundle", tmp_path)
    assert (bundle.exit_code, "(did you mean `cdc.findings`?)" in bundle.output) == (1, True)


def test_check_says_that_a_broker_does_not_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cdc.spec.check_command._SECONDS", 1)
    result = run("check", write_conf(tmp_path, {"tables/shop/orders.yml": TABLE}), "--broker", "127.0.0.1:1")
    assert result.exit_code == 1
    assert "broker 127.0.0.1:1 does not answer within 1 seconds" in result.output
    assert "fix: check host and port" in result.output


def test_check_compares_with_the_topics_of_a_broker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cdc.spec.check_command._topics_of", lambda broker: {"shopserver.shop.dbo.Orders"})
    result = run("check", write_conf(tmp_path, {"tables/shop/orders.yml": TABLE}), "--broker", "kafka:9092")
    assert result.exit_code == 1
    assert "topic `shopserver.shop.dbo.orders` does not exist on broker kafka:9092 (did you mean" in result.output


def test_without_sqlglot_only_the_check_of_sql_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = "{table: shop.dbo.orders, key: [id], columns: {id: int}, expectations: {a: idd > 0}}"
    conf = write_conf(tmp_path, {"tables/shop/orders.yml": table})
    assert run("check", conf).exit_code == 1
    monkeypatch.setitem(sys.modules, "sqlglot", None)
    assert run("check", conf).exit_code == 0


def test_three_hundred_tables_are_checked_and_planned_in_seconds(tmp_path: Path) -> None:
    columns = "".join(f'  c{i}: {{type: "decimal(18,2)", rename: d{i}}}\n  e{i}: nvarchar(80)\n' for i in range(15))
    table = f"key: [id]\ncolumns:\n  id: int\n{columns}expectations: {{a: d1 > 0, b: e1 is not null}}\n"
    files = {f"tables/shop/t{i}.yml": f"table: shop.dbo.t{i}\n{table}" for i in range(300)}
    conf = write_conf(tmp_path, files)
    started = time.process_time()
    result = run("check", conf)
    assert result.output.endswith("300 tables of 1 connector, no faults\n")
    # A little over one second of one core; the rest is for slower machines.
    assert time.process_time() - started < 6
    for table in load_tables(conf):
        stored = {"metadata": {"configuration": definition.of_versions(table)}}
        log = tmp_path / "storage" / "tables" / "silver" / table.name / "_delta_log"
        log.mkdir(parents=True)
        (log / f"{0:020d}.json").write_text("{}", encoding="utf-8")
        (log / f"{0:020d}.crc").write_text(json.dumps(stored), encoding="utf-8")
    started = time.process_time()
    planned = run("plan", conf, "--storage", tmp_path / "storage")
    assert planned.output == "".join(f"{table.name}: unchanged\n" for table in load_tables(conf))
    # Two loads: one of the command, one of this test.
    assert time.process_time() - started < 6


def test_the_hook_for_other_repositories_checks_their_conf_folder() -> None:
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    _, *words = hook["entry"].split()
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "pipelines")}
    command = [sys.executable, *words, *hook["args"]]
    result = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.endswith("4 tables of 1 connector, no faults\n")
