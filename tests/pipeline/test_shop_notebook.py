"""The notebook, run locally on the shop's tables, cell by cell."""

import pytest
from demo import notebook, shop
from tests.support.shop_pipeline import StagedShop


def test_one_order_is_followed_to_its_records(staged_shop: StagedShop, capsys: pytest.CaptureFixture[str]) -> None:
    before = staged_shop.shop.versions()
    notebook.run(notebook.NOTEBOOK, staged_shop.shop.storage, staged_shop.shop.spark)
    assert staged_shop.shop.versions() == before
    shown = capsys.readouterr().out
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in shown.splitlines() if "|" in line]
    assert ["8", "closed"] in [[row[0], row[4]] for row in cells if len(row) == 7]
    assert ["orders", "121", "102", "9", "10", "true"] in cells
    assert "false" not in {row[-1] for row in cells if len(row) == 6}
    assert {"BROKEN_JSON", "MISSING_KEY", "WRONG_TYPE"} <= {row[0] for row in cells if len(row) == 4}


def test_a_workspace_recognizes_it_as_a_notebook() -> None:
    for file in (shop.CHECKOUT / "notebooks").iterdir():
        assert file.read_text().startswith("# Databricks notebook source\n"), file
