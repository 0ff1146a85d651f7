"""`scaffold --update` describes the columns of specs that have none yet, and adds to no others."""

from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner
from tests.support.conf_folder import write_conf
from tests.unit.test_spec_commands import capture

from cdc.__main__ import cdc
from cdc.spec.evidence import SourceTable
from cdc.spec.fill import filled
from cdc.spec.load import load_tables

COLUMNS = (
    ("id", "int", False),
    ("Order No", "int", True),
    ("total", "decimal(18,2)", True),
    ("shape", "geography", True),
)
ORDERS = SourceTable("shop.dbo.orders", "shopserver", ("id",), COLUMNS)
HEAD = "table: shop.dbo.orders\nkey: [id]\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            f"{HEAD}columns: {{}} # later\nhistory: false\n",
            f"{HEAD}columns: # later\n  id: int not null\n"
            '  "Order No": {type: int, rename: Order_No}\n  total: decimal(18,2)\n'
            "  shape: {exclude: true} # geography: the connector omits it\nhistory: false\n",
        ),
        (
            f"{HEAD}columns:\n  Order No: {{rename: order_no}}\n  total: {{exclude: true}}\n",
            f"{HEAD}columns:\n  Order No: {{type: int, rename: order_no}}\n  total: {{exclude: true}}\n"
            "  id: int not null\n  shape: {exclude: true} # geography: the connector omits it\n",
        ),
        (
            f"{HEAD}columns:\n    total:\n        rename: amount\n        comment: gross\n",
            f"{HEAD}columns:\n    total:\n        type: decimal(18,2)\n        rename: amount\n        comment: gross\n"
            '    id: int not null\n    "Order No": {type: int, rename: Order_No}\n'
            "    shape: {exclude: true} # geography: the connector omits it\n",
        ),
        (
            "{table: shop.dbo.orders, key: [id], columns: {}}",
            "{table: shop.dbo.orders, key: [id], columns: {id: int not null,"
            ' "Order No": {type: int, rename: Order_No}, total: "decimal(18,2)", shape: {exclude: true}}}',
        ),
    ],
    ids=["empty", "renamed and excluded", "in blocks", "in braces"],
)
def test_columns_are_filled_in(tmp_path: Path, before: str, after: str) -> None:
    assert filled(before, yaml.safe_load(before), ORDERS) == after
    (table,) = load_tables(write_conf(tmp_path, {"tables/shop/orders.yml": after}))
    assert {column.name for column in table.columns} | set(table.excluded) == {name for name, _, _ in COLUMNS}
    assert filled(after, yaml.safe_load(after), ORDERS) == after


@pytest.mark.parametrize("columns", ["{id: int}", "{id: int, total: {rename: x}}", "[]", "7", "~"])
def test_a_spec_that_describes_columns_is_left_to_the_comparison(columns: str) -> None:
    text = f"{HEAD}columns: {columns}\n"
    assert filled(text, yaml.safe_load(text), ORDERS) == text


def test_line_endings_stay(tmp_path: Path) -> None:
    conf = write_conf(tmp_path / "conf", {"connectors/shop.yml": "topic_prefix: shopserver\n"})
    file = conf / "tables/shop/orders.yml"
    file.parent.mkdir(parents=True)
    file.write_bytes(f"{HEAD}columns: {{}}\n".replace("\n", "\r\n").encode())
    records = capture(tmp_path / "c.jsonl", "shop.dbo.orders")
    arguments = ["scaffold", "--update", "--connector", "shop", "--capture", str(records), "--conf", str(conf)]
    result = CliRunner().invoke(cdc, arguments, catch_exceptions=False)
    assert (result.exit_code, result.stdout) == (0, f"updated {file}: the columns of shop.dbo.orders\n")
    assert file.read_bytes() == f"{HEAD}columns:\n  id: int not null\n".replace("\n", "\r\n").encode()
