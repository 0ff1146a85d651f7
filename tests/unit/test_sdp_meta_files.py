"""Files of sdp-meta, exported and imported, with everything that is said of what they cannot take.

A case is a file of sdp_meta/: why it matters, the command, the files that it reads, those that it writes, and what it
prints on stderr. `UPDATE_GOLDEN=1 pytest tests/unit/test_sdp_meta_files.py` rewrites the last two; review their diff.
"""

import json
import os
import re
import shlex
from pathlib import Path
from random import Random

import pytest
import yaml
from click.testing import CliRunner, Result
from tests.support.conf_folder import write_conf

from cdc.__main__ import cdc
from cdc.spec.load import read_conf

CASES = {path.stem: path for path in sorted((Path(__file__).parent / "sdp_meta").glob("*.txt"))}
WRITTEN, REPORTED = "=== written\n", "=== reported\n"
FILE = re.compile(r"^--- (\S+)\n(.*?)(?=^--- |\Z)", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^run: (.*) -> (\d)$", re.MULTILINE)
ORDERS = "table: shop.dbo.orders\nkey: [id]\ncolumns: {id: int, total: int}\n"


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(cdc, [str(each) for each in arguments], catch_exceptions=False)


@pytest.mark.parametrize("name", CASES)
def test_files_and_messages_word_for_word(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    case = CASES[name].read_text(encoding="utf-8")
    given, _, expected = case.partition(WRITTEN)
    command = COMMAND.search(given)
    assert command
    for path, text in FILE.findall(given):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    result = run(*shlex.split(command[1]))
    new = sorted(path for path in tmp_path.glob("out/**/*") if path.is_file())
    files = "".join(f"--- {path.relative_to(tmp_path)}\n{path.read_text(encoding='utf-8')}" for path in new)
    found = f"{files}{REPORTED}{result.stderr}"
    if os.environ.get("UPDATE_GOLDEN"):
        CASES[name].write_text(f"{given}{WRITTEN}{found}", encoding="utf-8")
        expected = found
    assert found == expected
    assert str(result.exit_code) == command[2]


def test_json_and_yaml_say_the_same(tmp_path: Path) -> None:
    quality = "expectations: {low: {condition: total < 9, action: quarantine}}\n"
    conf = write_conf(tmp_path / "conf", {"tables/shop/orders.yml": ORDERS + quality})
    for form in ("json", "yaml"):
        where = ("--write", tmp_path / form, "--read-from", "/Volumes/main/shop/sdp")
        assert run("export", "sdp-meta", conf, *where, "--format", form).exit_code == 0
    for name in ("onboarding", "expectations/shop_orders"):
        of_json = json.loads((tmp_path / f"json/{name}.json").read_text(encoding="utf-8"))
        of_yaml = yaml.safe_load((tmp_path / f"yaml/{name}.yml").read_text(encoding="utf-8"))
        assert json.dumps(of_json).replace(".json", ".yml") == json.dumps(of_yaml).replace(".json", ".yml")


@pytest.mark.parametrize(
    "setting",
    [
        'sasl.jaas.config=PlainLoginModule required username="u" password="hunter2";',
        "ssl.keystore.password=hunter2",
        "ssl.key.password=hunter2",
        "client.id=password=hunter2",
    ],
)
def test_an_export_writes_no_secret(tmp_path: Path, setting: str) -> None:
    conf = write_conf(tmp_path / "conf", {"tables/shop/orders.yml": ORDERS})
    result = run("export", "sdp-meta", conf, "--write", tmp_path / "out", "--kafka", setting)
    option = f"kafka.{setting.partition('=')[0]}"
    text = (tmp_path / "out/onboarding.json").read_text(encoding="utf-8")
    assert "hunter2" not in text + result.output + result.stderr
    assert json.loads(text)[0]["bronze_reader_options"][option] == f"<{option}>"
    assert f"SECRET_NOT_WRITTEN  --kafka {setting.partition('=')[0]}" in result.stderr


def test_secrets_that_sdp_meta_reads_itself_are_named_by_scope_and_key(tmp_path: Path) -> None:
    conf = write_conf(tmp_path / "conf", {"tables/shop/orders.yml": ORDERS})
    settings = {
        "bootstrap.servers": "{{secrets/kafka/servers}}",
        "security.protocol": "SSL",
        "ssl.truststore.location": "/Volumes/main/shop/trust.jks",
        "ssl.truststore.password": "{{secrets/kafka/trust}}",
        "ssl.truststore.type": "JKS",
    }
    options = [part for name, value in settings.items() for part in ("--kafka", f"{name}={value}")]
    result = run("export", "sdp-meta", conf, "--write", tmp_path / "out", *options)
    (row,) = json.loads((tmp_path / "out/onboarding.json").read_text(encoding="utf-8"))
    assert row["source_details"] == {
        "subscribe": "shopserver.shop.dbo.orders",
        "kafka_source_servers_secrets_scope_name": "kafka",
        "kafka_source_servers_secrets_scope_key": "servers",
        "kafka.ssl.truststore.location": "/Volumes/main/shop/trust.jks",
        "kafka.ssl.truststore.secrets.scope": "kafka",
        "kafka.ssl.truststore.secrets.key": "trust",
    }
    assert row["bronze_reader_options"].keys() == {
        *("startingOffsets", "failOnDataLoss", "kafka.security.protocol", "kafka.ssl.truststore.type"),
    }
    assert "SECRET_NOT_WRITTEN" not in result.stderr


def test_an_unknown_setting_for_kafka_is_refused(tmp_path: Path) -> None:
    conf = write_conf(tmp_path / "conf", {"tables/shop/orders.yml": ORDERS})
    result = run("export", "sdp-meta", conf, "--write", tmp_path / "out", "--kafka", "bootstrap.server=kafka:9092")
    assert result.exit_code == 1
    assert "(did you mean `cdc.kafka.bootstrap.servers`?)" in result.stderr
    assert not (tmp_path / "out").exists()


def test_a_faulty_conf_folder_is_not_exported(tmp_path: Path) -> None:
    conf = write_conf(tmp_path / "conf", {"tables/shop/orders.yml": ORDERS.replace("[id]", "[ident]")})
    result = run("export", "sdp-meta", conf, "--write", tmp_path / "out")
    assert (result.exit_code, (tmp_path / "out").exists()) == (1, False)
    assert "UNKNOWN_KEY_COLUMN" in result.stderr


def test_an_import_keeps_files_and_follows_the_connector_that_is_there(tmp_path: Path) -> None:
    conf = write_conf(tmp_path / "conf", {"tables/shop/orders.yml": ORDERS})
    assert run("export", "sdp-meta", conf, "--write", tmp_path / "out").exit_code == 0
    connector = "topic_prefix: shopserver\nwithin_transaction: lsn\n"
    there = write_conf(tmp_path / "there", {"connectors/shop.yml": connector})
    onboarding = tmp_path / "out/onboarding.json"
    first = run("import", "sdp-meta", onboarding, "--connector", "shop", "--conf", there)
    assert "its sequence is that of `within_transaction: auto`; the connector's is `lsn`" in first.stderr
    assert (there / "connectors/shop.yml").read_text(encoding="utf-8") == connector
    again = run("import", "sdp-meta", onboarding, "--connector", "shop", "--conf", there)
    assert [line.split()[0] for line in again.stdout.splitlines()] == ["kept", "next:"]


def flow(topic: str, **fields: object) -> dict[str, object]:
    """A data flow, in the forms of hand-written files."""
    name = topic.rpartition(".")[2]
    source = {"source_format": "kafka", "source_details": {"subscribe": topic}}
    return {"data_flow_id": name, **source, "bronze_database_dev": "bronze", "bronze_table": name, **fields}


def imported(folder: Path, flows: list[dict[str, object]], *options: str) -> tuple[Result, dict[str, str]]:
    """The result of an import, and the conf folder's files."""
    (folder / "onboarding.json").write_text(json.dumps(flows), encoding="utf-8")
    conf = folder / "conf"
    result = run("import", "sdp-meta", folder / "onboarding.json", "--connector", "shop", "--conf", conf, *options)
    return result, {path.stem: path.read_text(encoding="utf-8") for path in conf.rglob("*.yml")}


def test_tables_of_another_connector_are_left_out(tmp_path: Path) -> None:
    files = {
        "connectors/shop.yml": "topic_prefix: shopserver",
        "connectors/crm.yml": "topic_prefix: crmserver",
        "tables/shop/orders.yml": ORDERS,
        "tables/shop/lines.yml": ORDERS.replace("orders", "lines"),
        "tables/crm/people.yml": ORDERS.replace("orders", "people"),
    }
    assert run("export", "sdp-meta", write_conf(tmp_path / "both", files), "--write", tmp_path / "out").exit_code == 0
    onboarding, there = tmp_path / "out/onboarding.json", ("--conf", tmp_path / "conf")
    first = run("import", "sdp-meta", onboarding, "--connector", "shop", *there)
    assert first.exit_code == 1
    assert "left out: the topic `crmserver.shop.dbo.people` is not of the connector with the prefix `shopserver`" in (
        first.stderr
    )
    run("import", "sdp-meta", onboarding, "--connector", "crm", "--topic-prefix", "crmserver", *there)
    found = sorted(str(path.relative_to(tmp_path / "conf")) for path in (tmp_path / "conf").rglob("*.yml"))
    assert found == sorted(files)


def test_one_of_several_environments_is_imported(tmp_path: Path) -> None:
    both = flow("s.shop.dbo.orders", bronze_database_prod="lake")
    asked, _ = imported(tmp_path, [both])
    assert "which environment? the file has dev, prod\n  fix: name one of them: `--env dev`." in asked.stderr
    wrong, files = imported(tmp_path, [both], "--env", "prd")
    assert "there is no environment `prd`; the file has dev, prod (did you mean `prod`?)" in wrong.stderr
    assert files == {}
    right, files = imported(tmp_path, [both], "--env", "prod")
    assert (right.exit_code, right.stderr) == (0, "")
    assert "target_schemas: {bronze: lake}" in files["shop"]


def test_topics_of_1x_connectors_need_the_database(tmp_path: Path) -> None:
    asked, _ = imported(tmp_path, [flow("s.dbo.orders")])
    assert "the topic `s.dbo.orders` does not name the database\n  fix: add `--database NAME`." in asked.stderr
    _, files = imported(tmp_path, [flow("s.dbo.orders")], "--database", "shop")
    assert files["orders"].splitlines()[1] == "table: shop.dbo.orders"
    assert 'topic_pattern: "{prefix}.{schema}.{table}"' in files["shop"]


def test_a_file_that_is_copied_beside_the_other_is_found(tmp_path: Path) -> None:
    rules = flow("s.shop.dbo.orders", bronze_data_quality_expectations_json_dev="/Volumes/main/shop/dqe/orders.json")
    missing, files = imported(tmp_path, [rules])
    assert (missing.exit_code, files) == (1, {})
    (tmp_path / "orders.json").write_text('{"expect": {"paid": "total > 0"}}', encoding="utf-8")
    found, files = imported(tmp_path, [rules])
    assert (found.exit_code, "paid: total > 0" in files["orders"]) == (0, True)


def test_an_imported_folder_lacks_columns_only(tmp_path: Path) -> None:
    changes = {"keys": ["id"], "sequence_by": "ts_ms", "scd_type": "1", "apply_as_deletes": "op = 'd'"}
    imported(tmp_path, [flow("s.shop.dbo.orders", silver_cdc_apply_changes=changes), flow("s.shop.dbo.log")])
    checked = json.loads(run("check", tmp_path / "conf", "--format", "json").stdout)
    faults = [(each["condition"], each["detail"]) for each in checked["faults"] if each["severity"] == "error"]
    assert faults == [("BAD_VALUE", "`columns` is an empty mapping")] * 2


ODD = ["", "null", "7", "true", "[]", "{}", "[[1]]", '{"a": [1]}', '"', '"x"', "1e400", '"`"', "\t", "é", ",", "}"]


@pytest.mark.parametrize("seed", range(40))
def test_damaged_files_are_reported_and_never_raise(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    random = Random(seed)
    given = CASES[random.choice(["import_foreign", "import_faults"])].read_text(encoding="utf-8").partition(WRITTEN)[0]
    for path, text in FILE.findall(given):
        damaged = text
        for _ in range(random.choice([0, 1, 1, 4])):
            # A whole value, or any part of the text.
            values = [found.span(1) for found in re.finditer(r':\s*("[^"\n]*"|\[[^\]\n]*\]|\w+)', damaged)]
            start, end = random.choice([*values, (random.randrange(len(damaged)),) * 2])
            damaged = damaged[:start] + random.choice(ODD) + damaged[end + random.choice([0, 0, 3]) :]
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(damaged, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    (onboarding,) = Path("in").glob("onboarding.*")
    result = run("import", "sdp-meta", onboarding, "--connector", "shop", "--conf", "conf")
    written = sorted(Path("conf").rglob("*.yml"))
    assert written or result.exit_code == 1, f"seed={seed}"
    assert not (written and "nothing is written" in result.stderr), f"seed={seed}"
    # What an import writes can be read, whatever it was made of.
    conditions = {fault.condition.name for fault in read_conf("conf").faults} if written else set()
    assert not conditions & {"BROKEN_YAML", "UNKNOWN_FIELD", "WRONG_KIND", "DUPLICATE_YAML_KEY"}, f"seed={seed}"
