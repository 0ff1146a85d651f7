"""`python -m cdc show`: the effective spec of a table, and where each value comes from."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from tests.support.conf_folder import write_conf

from cdc.__main__ import cdc
from cdc.spec.schema import schema

FILES = {
    "defaults.yml": "# for all\nhistory: false\nlarge_nulls: unchanged\n",
    "connectors/shop.yml": 'topic_prefix: till\ntopic_pattern: "{prefix}.{table}"\nunavailable: merge\n',
    "tables/shop/orders.yml": (
        "table: shop.dbo.Orders\nkey: [id]\ncolumns:\n  id: int\n  at: datetime2(3)\n"
        "  note: {type: nvarchar(max), rename: remark, large_nulls: as_null}\n  photo: {exclude: true}\n"
        "datetime_zone: Asia/Tokyo\n"
    ),
    "tables/shop/lines.yml": "{table: shop.dbo.lines, key: [id], columns: {id: int}}",
}


@pytest.fixture
def conf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_conf(tmp_path / "conf", FILES)
    monkeypatch.chdir(tmp_path)


def show(*arguments: str) -> Result:
    return CliRunner().invoke(cdc, ["show", *arguments], catch_exceptions=False)


def shown(table: str) -> dict[str, tuple[object, str]]:
    found = json.loads(show(table, "--format", "json").output)
    return {each["field"]: (each["value"], each["origin"]) for each in found}


@pytest.mark.usefixtures("conf")
def test_each_value_has_its_origin() -> None:
    settings = shown("shop.dbo.Orders")
    expected = {
        "table": ("shop.dbo.Orders", "conf/tables/shop/orders.yml:1:8"),
        "name": ("orders", "from `table`"),
        "topic": ("till.Orders", "by the connector's `topic_pattern`"),
        "history": (False, "conf/defaults.yml:2:10"),
        "gold": ({"table": "orders"}, "from `name`"),
        "unavailable": ("merge", "conf/connectors/shop.yml:3:14"),
        "shared_topic": (False, "built-in default"),
        "target_schemas.bronze": ("bronze", "built-in default"),
        "retention.bronze": ("forever", "built-in default"),
        "columns.id.nullable": (False, "from `key`"),
        "columns.id.on_missing": ("reject", "built-in default, not null"),
        "columns.at.type": ("datetime2(3)", "conf/tables/shop/orders.yml:5:7"),
        "columns.at.datetime_zone": ("Asia/Tokyo", "conf/tables/shop/orders.yml:8:16"),
        "columns.note.rename": ("remark", "conf/tables/shop/orders.yml:6:39"),
        "columns.note.large_nulls": ("as_null", "conf/tables/shop/orders.yml:6:60"),
        "columns.note.unavailable": ("merge", "conf/connectors/shop.yml:3:14"),
        "columns.photo.exclude": (True, "conf/tables/shop/orders.yml:7:10"),
        "connector.topic_prefix": ("till", "conf/connectors/shop.yml:1:15"),
        "connector.shape": ("auto", "built-in default"),
    }
    assert {field: settings[field] for field in expected} == expected
    assert {f"connector.{name}" for name in ("topics", "schemas", "within_transaction")} <= settings.keys()
    assert {name for name in schema("table")["properties"] if name not in settings} == {
        "columns",
        "comment",
        "document",
        "filter",
        "physical_table",
        "on_missing",
        "into",
        "target_schemas",
        "table_properties",
        "retention",
    }


@pytest.mark.usefixtures("conf")
def test_rules_for_rows_are_shown_as_written() -> None:
    rules = "filter: id > 5\ndeletes: soft\ncomputed: {next: id + 1}\n"
    rules += "expectations: {a: {condition: id > 1, action: drop}}\n"
    lines = "table: shop.dbo.lines\nkey: [id]\ncolumns: {id: int}\n"
    Path("conf/tables/shop/lines.yml").write_text(lines + rules)
    settings = shown("lines")
    assert settings["filter"] == ("id > 5", "conf/tables/shop/lines.yml:4:9")
    assert settings["deletes"] == ("soft", "conf/tables/shop/lines.yml:5:10")
    assert settings["computed"] == ({"next": "id + 1"}, "conf/tables/shop/lines.yml:6:11")
    assert settings["expectations"][0] == {"a": {"condition": "id > 1", "action": "drop"}}
    assert shown("orders")["deletes"] == ("hard", "built-in default")
    Path("conf/defaults.yml").write_text("history: false\ndeletes: soft\n")
    assert shown("orders")["deletes"] == ("soft", "conf/defaults.yml:2:10")


@pytest.mark.usefixtures("conf")
def test_a_table_is_found_by_its_name_in_the_lakehouse_and_printed_in_columns() -> None:
    lines = show("orders").output.splitlines()
    assert lines[0].split() == ["FIELD", "VALUE", "FROM"]
    assert lines[1].split() == ["table", "shop.dbo.Orders", "conf/tables/shop/orders.yml:1:8"]


@pytest.mark.usefixtures("conf")
def test_a_misspelt_table_has_a_near_match() -> None:
    assert show("ordres").output == "Error: no file describes table `ordres` (did you mean `orders`?)\n"
    assert show("payroll").output == "Error: no file describes table `payroll`; tables: lines, orders\n"


@pytest.mark.usefixtures("conf")
def test_a_faulty_table_shows_its_faults_instead() -> None:
    Path("conf/tables/shop/lines.yml").write_text("{table: shop.dbo.lines, key: [idd], columns: {id: int}}")
    result = show("lines")
    assert (result.exit_code, result.output.partition(" ")[0]) == (1, "UNKNOWN_KEY_COLUMN")
    assert show("orders").exit_code == 0


@pytest.mark.usefixtures("conf")
def test_tables_of_the_same_name_need_their_connector() -> None:
    orders = FILES["tables/shop/orders.yml"]
    write_conf(Path("conf"), {"connectors/old.yml": "topic_prefix: o", "tables/old/o.yml": orders})
    result = show("orders")
    assert "several files describe `orders`: conf/tables/old/o.yml, conf/tables/shop/orders.yml" in result.output
    assert show("orders", "--connector", "shop").exit_code == 0
