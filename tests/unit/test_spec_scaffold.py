"""Specs made from the schema-change records of a capture."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.support.conf_folder import one_table

from cdc.spec.evidence import SourceTable, source_tables
from cdc.spec.load import load_tables
from cdc.spec.scaffold import dataset_names, table_yaml

ROOT = Path(__file__).parents[2]


def column(name: str, type_name: str, length: int | None = None, scale: int | None = None, **more: Any) -> Any:
    return {"name": name, "typeName": type_name, "length": length, "scale": scale, "optional": True, **more}


def change(table: str, *columns: Any, key: tuple[str, ...] = ("id",), kind: str = "CREATE", offset: int = 0) -> Any:
    table_id = ".".join(f'"{part}"' for part in table.split("."))
    described = {"primaryKeyColumnNames": list(key), "columns": list(columns)}
    payload = {
        "source": {"name": "shopserver"},
        "ddl": None,
        "tableChanges": [{"type": kind, "id": table_id, "table": described}],
    }
    return {"topic": "shopserver", "offset": offset, "payload": json.dumps(payload)}


ID = column("id", "int", 10, 0, optional=False)


@pytest.mark.parametrize(
    ("described", "line"),
    [
        (column("a", "int identity", 10, 0, optional=False), "a: int not null"),
        (column("a", "decimal", 18, 2), "a: decimal(18,2)"),
        (column("a", "money", 19, 4), "a: money"),
        (column("a", "nvarchar", 1073741823), "a: nvarchar(max)"),
        (column("a", "varbinary", 2147483647), "a: varbinary(max)"),
        (column("a", "nchar", 3), "a: nchar(3)"),
        (column("a", "text", 2147483647), "a: text"),
        (column("a", "datetime2", 27, 7), "a: datetime2(7)"),
        (column("a", "time", 8, 0), "a: time(0)"),
        (column("a", "datetime", 23, 3), "a: datetime"),
        (column("a", "timestamp", 8, optional=False), "a: rowversion not null"),
        (column("a", "geography", 2147483647), "a: {exclude: true} # geography: the connector omits it"),
        (column("version", "int", 10, 0), "version: {type: int, rename: source_version}"),
        (column("Order No", "decimal", 9, 0), '"Order No": {type: "decimal(9,0)", rename: Order_No}'),
        (column("_op", "char", 1), "_op: {type: char(1), rename: op}"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_column_is_one_line(described: Any, line: str) -> None:
    (table,) = source_tables([change("shop.dbo.orders", described)])
    assert table_yaml(table, "orders").splitlines()[-1] == f"  {line}"


def test_the_last_description_of_a_table_wins() -> None:
    records = [
        change("shop.dbo.orders", ID, column("added", "bit"), kind="ALTER", offset=7),
        change("shop.dbo.orders", ID, offset=1),
        change("shop.dbo.gone", ID, offset=2),
        change("shop.dbo.gone", ID, kind="DROP", offset=8),
    ]
    (table,) = source_tables(records)
    assert table == SourceTable(
        "shop.dbo.orders", "shopserver", ("id",), (("id", "int", False), ("added", "bit", True))
    )


def test_records_that_are_not_schema_changes_are_ignored() -> None:
    others: list[dict[str, Any]] = [
        {"payload": None},
        {"payload": "{broken"},
        {"payload": '{"op": "c"}'},
        {"payload": "[1]"},
        {},
    ]
    assert source_tables(others) == ()


def test_a_schema_block_round_the_record_does_not_matter() -> None:
    plain = change("shop.dbo.orders", ID)
    wrapped = {**plain, "payload": json.dumps({"schema": {}, "payload": json.loads(plain["payload"])})}
    assert source_tables([wrapped]) == source_tables([plain])


def test_a_table_without_a_primary_key_becomes_append_only() -> None:
    (table,) = source_tables([change("shop.dbo.log", column("what", "text"), key=())])
    assert table_yaml(table, "log").splitlines()[2].startswith("append_only: true")


def test_tables_with_the_same_name_get_their_schema_as_a_prefix() -> None:
    names = ("shop.dbo.orders", "shop.archive.orders", "shop.dbo.Order Lines", "shop.dbo.2024")
    tables = source_tables(change(name, ID) for name in names)
    assert dataset_names(tables) == {
        "shop.dbo.orders": "dbo_orders",
        "shop.archive.orders": "archive_orders",
        "shop.dbo.Order Lines": "order_lines",
        "shop.dbo.2024": "t_2024",
    }
    assert "name: dbo_orders" in table_yaml(tables[-1], "dbo_orders")


def test_the_shops_specs_match_its_connectors_schema_changes(tmp_path: Path) -> None:
    lines = [line for file in (ROOT / "demo/captures").glob("[1-3]-*.jsonl") for line in file.open(encoding="utf-8")]
    shop = {table.source: table for table in source_tables(map(json.loads, lines))}
    for spec in load_tables(ROOT / "conf", "shop"):
        scaffolded = one_table(tmp_path / spec.name, table_yaml(shop[spec.source], spec.name))
        # Only a person knows that earlier records lack a column.
        columns = tuple(replace(column, may_be_absent=False) for column in spec.columns)
        assert (scaffolded.key, scaffolded.columns) == (spec.key, columns)
        assert scaffolded.topic.startswith(f"{shop[spec.source].topic_prefix}.")
