"""`scaffold --diff` and `--update`: what source and spec differ in, and the spec edited in place."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from tests.support.conf_folder import write_conf

from cdc.__main__ import cdc
from cdc.spec.load import load_tables

# Written by hand: comments, spaces, a renamed and a masked column, an order of its own.
ORDERS = """\
# Orders of the till.
table: shop.dbo.orders   # the table
key: [id]
columns:
  id: int not null
  total:   decimal(9,2)  # gross

  customer: {type: nvarchar(80) not null, rename: client, mask: sha256}   # who
  note:
    type: 'varchar(20)'
    comment: free text
  old: int not null
  # the end of the columns
history: false
"""
AFTER = """\
# Orders of the till.
table: shop.dbo.orders   # the table
key: [id]
columns:
  id: int not null
  total:   decimal(18,2)  # gross

  customer: {type: nvarchar(80), rename: client, mask: sha256}   # who
  note:
    type: nvarchar(max)
    comment: free text
  old: {type: int not null, on_missing: as_null}
  added: {type: "decimal(5,1)", on_missing: as_null}
  flag: {type: bit not null, on_missing: as_null}
  place: {exclude: true} # geography: the connector omits it
  # the end of the columns
history: false
"""
COLUMNS = {
    "id": ("int", 10, 0, False),
    "total": ("decimal", 18, 2, True),
    "customer": ("nvarchar", 80, None, True),
    "note": ("nvarchar", 1073741823, None, True),
    "added": ("decimal", 5, 1, True),
    "flag": ("bit", 1, None, False),
    "place": ("geography", None, None, True),
}


def record(table: str, columns: dict[str, Any], key: tuple[str, ...] = ("id",), **more: Any) -> dict[str, Any]:
    """A schema-change record."""
    described = [
        {"name": name, "typeName": type_, "length": length, "scale": scale, "optional": optional}
        for name, (type_, length, scale, optional) in columns.items()
    ]
    table_id = ".".join(f'"{part}"' for part in table.split("."))
    change = {"id": table_id, "table": {"primaryKeyColumnNames": list(key), "columns": described}}
    value = {"source": {"name": "shopserver"}, "tableChanges": [{"type": "ALTER", **change, **more}]}
    return {"topic": "shopserver", "partition": 0, "offset": 0, "payload": json.dumps(value)}


@pytest.fixture
def orders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The hand-written spec; the working directory has its conf folder."""
    monkeypatch.chdir(tmp_path)
    write_conf(Path("conf"), {"tables/shop/orders.yml": ORDERS})
    return Path("conf/tables/shop/orders.yml")


def scaffold(*arguments: str, records: list[dict[str, Any]]) -> Result:
    Path("c.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in records), encoding="utf-8")
    words = ["scaffold", "--connector", "shop", "--capture", "c.jsonl", *arguments]
    return CliRunner().invoke(cdc, words, catch_exceptions=False)


@pytest.mark.usefixtures("orders")
def test_differences_are_listed_with_place_and_line() -> None:
    result = scaffold("--diff", records=[record("shop.dbo.orders", COLUMNS), record("shop.dbo.new", COLUMNS)])
    assert result.exit_code == 1
    assert result.output == (
        "NEW TABLE   table shop.dbo.new\n"
        "  the connector sends shop.dbo.new, which has no spec; its columns: id, total, customer, note, added, flag,"
        " place\n"
        "  spec: a new file; `--update` writes it.\n\n"
        "OTHER TYPE  conf/tables/shop/orders.yml:6:12   table shop.dbo.orders\n"
        "  column `total` is decimal(18,2) in the source and decimal(9,2) in the spec\n"
        "  spec: the type `decimal(18,2)`\n\n"
        "OTHER NULLABILITY  conf/tables/shop/orders.yml:8:20   table shop.dbo.orders\n"
        "  column `customer` may be null in the source and is `not null` in the spec: null is rejected\n"
        "  spec: the type `nvarchar(80)`\n\n"
        "OTHER TYPE  conf/tables/shop/orders.yml:10:11   table shop.dbo.orders\n"
        "  column `note` is nvarchar(max) in the source and varchar(20) in the spec\n"
        "  spec: the type `nvarchar(max)`\n\n"
        "COLUMN ADDED  conf/tables/shop/orders.yml:4:1   table shop.dbo.orders\n"
        "  column `added` (decimal(5,1)) is not in the spec\n"
        '  spec: `added: {type: "decimal(5,1)", on_missing: as_null}`\n\n'
        "COLUMN ADDED  conf/tables/shop/orders.yml:4:1   table shop.dbo.orders\n"
        "  column `flag` (bit not null) is not in the spec\n"
        "  spec: `flag: {type: bit not null, on_missing: as_null}`\n\n"
        "COLUMN ADDED  conf/tables/shop/orders.yml:4:1   table shop.dbo.orders\n"
        "  column `place` (geography) is not in the spec\n"
        "  spec: `place: {exclude: true} # geography: the connector omits it`\n\n"
        "COLUMN GONE  conf/tables/shop/orders.yml:12:3   table shop.dbo.orders\n"
        "  column `old` is no longer in the source; earlier records have it\n"
        "  spec: `on_missing: as_null` keeps it for earlier rows; remove the column only if they need not have it.\n\n"
        "8 differences between the source and conf\n"
    )


def test_an_update_edits_in_place_and_a_second_one_changes_nothing(orders: Path) -> None:
    records = [record("shop.dbo.orders", COLUMNS), record("shop.dbo.new", {"id": COLUMNS["id"]})]
    first = scaffold("--update", records=records)
    assert first.exit_code == 0
    assert first.output.splitlines() == [
        "updated conf/tables/shop/orders.yml: other type (total), other nullability (customer), other type (note),"
        " column added (added), column added (flag), column added (place), column gone (old)",
        "kept    conf/connectors/shop.yml",
        "written conf/tables/shop/new.yml",
    ]
    assert orders.read_text(encoding="utf-8") == AFTER
    assert [table.name for table in load_tables("conf")] == ["new", "orders"]
    before = orders.read_bytes()
    assert (scaffold("--update", records=records).exit_code, orders.read_bytes()) == (0, before)
    assert scaffold("--diff", records=records).output == "0 differences between the source and conf\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "{table: shop.dbo.orders, key: [id], columns: {id: int, total: money}} # short\n",
            '{table: shop.dbo.orders, key: [id], columns: {id: int, total: "decimal(18,2)",'
            " customer: {type: nvarchar(80), on_missing: as_null}}} # short\n",
        ),
        (
            "table: shop.dbo.orders\r\nkey: [id]\r\ncolumns:\r\n  id: int\r\n  total: {nullable: false, type: money}",
            "table: shop.dbo.orders\r\nkey: [id]\r\ncolumns:\r\n  id: int\r\n"
            '  total: {type: "decimal(18,2)"}\r\n  customer: {type: nvarchar(80), on_missing: as_null}\r\n',
        ),
        (
            "table: shop.dbo.orders\nkey: [id]\ncolumns:\n  id: int\n  total:\n    type: money\n    nullable: false\n"
            "    comment: |\n      gross,\n      in euros\n\ncluster_by: [id]\n",
            "table: shop.dbo.orders\nkey: [id]\ncolumns:\n  id: int\n  total:\n    type: decimal(18,2)\n"
            "    comment: |\n      gross,\n      in euros\n  customer: {type: nvarchar(80), on_missing: as_null}\n"
            "\ncluster_by: [id]\n",
        ),
        (
            "table: shop.dbo.orders\nkey: [id]\ncolumns:\n  id: int\n  total: &money money\n  gone: *money\n",
            "table: shop.dbo.orders\nkey: [id]\ncolumns:\n  id: int\n  total: &money decimal(18,2)\n  gone: int\n"
            "  customer: {type: nvarchar(80), on_missing: as_null}\n",
        ),
    ],
    ids=["in braces", "windows line ends", "blocks", "alias"],
)
def test_every_form_of_yaml_is_edited(orders: Path, before: str, after: str) -> None:
    columns = {name: COLUMNS[name] for name in ("id", "total", "customer")} | {"gone": ("int", 10, 0, True)}
    if "gone" not in before:
        del columns["gone"]
    orders.write_bytes(before.encode())
    records = [record("shop.dbo.orders", columns)]
    assert scaffold("--update", records=records).exit_code == 0
    assert orders.read_bytes().decode() == after
    assert scaffold("--diff", records=records).exit_code == 0


def test_a_changed_key_and_a_dropped_table_are_left_to_a_person(orders: Path) -> None:
    columns = {name: COLUMNS[name] for name in ("id", "total")}
    orders.write_text("{table: shop.dbo.orders, key: [id], columns: {id: int, total: 'decimal(18,2)'}}")
    write_conf(Path("conf"), {"tables/shop/log.yml": "{table: shop.dbo.log, key: [id], columns: {id: int}}"})
    before = orders.read_bytes()
    records = [record("shop.dbo.orders", columns, key=("id", "total")), record("shop.dbo.log", columns, type="DROP")]
    result = scaffold("--update", records=records)
    assert (result.exit_code, orders.read_bytes()) == (1, before)
    assert "the source has dropped shop.dbo.log" in result.output
    assert "the key is [id, total] in the source and [id] in the spec" in result.output
    assert result.output.endswith("2 differences left, to be decided by a person\n")


@pytest.mark.parametrize(
    ("spec", "source", "differs"),
    [
        ("bigint", ("int", 10, 0, True), False),
        ("int", ("bigint", 19, 0, True), True),
        ("nvarchar(max)", ("nvarchar", 80, None, True), False),
        ("nvarchar(80)", ("nvarchar", 81, None, True), True),
        ("nvarchar(80)", ("varchar", 80, None, True), True),
        ("decimal(20,2)", ("decimal", 18, 2, True), False),
        ("decimal(18,3)", ("decimal", 18, 2, True), True),
        ("datetime2(7)", ("datetime2", 23, 3, True), True),
        ("int", ("int", 10, 0, False), False),
    ],
    ids=str,
)
def test_a_spec_may_allow_more_than_the_source(orders: Path, spec: str, source: Any, differs: bool) -> None:
    orders.write_text(f"table: shop.dbo.orders\nkey: [id]\ncolumns:\n  id: int\n  value: {spec}\n")
    result = scaffold("--diff", records=[record("shop.dbo.orders", {"id": COLUMNS["id"], "value": source})])
    assert (result.exit_code == 1, "OTHER TYPE" in result.output) == (differs, differs)


def test_the_same_key_in_another_order_is_no_difference(orders: Path) -> None:
    orders.write_text("{table: shop.dbo.orders, key: [total, id], columns: {id: int, total: 'decimal(18,2)'}}")
    columns = {name: COLUMNS[name] for name in ("id", "total")}
    assert scaffold("--diff", records=[record("shop.dbo.orders", columns, key=("id", "total"))]).exit_code == 0


@pytest.mark.usefixtures("orders")
def test_what_cannot_be_compared_has_an_exit_status_of_its_own() -> None:
    assert scaffold("--diff", records=[]).exit_code == 2
    other = [record("shop.dbo.orders", COLUMNS)]
    Path("conf/connectors/shop.yml").write_text("topic_prefix: till")
    result = scaffold("--diff", records=other)
    assert result.exit_code == 2
    assert "has the topic prefix `till`; the captures have: shopserver" in result.output
    Path("conf/connectors/shop.yml").write_text("topic_prefx: till")
    assert "correct the specs first\n\nUNKNOWN_FIELD" in scaffold("--diff", records=other).output
