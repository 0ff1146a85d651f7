"""The notebooks, run locally on the shop's tables, cell by cell."""

import csv
import itertools
import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

import click
import pytest
from demo import notebook, shop
from demo.tables import Row
from tests.support.shop_model import COLUMNS, STAGES, golden
from tests.support.shop_pipeline import StagedShop

NOTEBOOKS = shop.CHECKOUT / "notebooks"
RECONCILE = NOTEBOOKS / "reconcile.py"
GUIDE = (shop.CHECKOUT / "docs/guides/migrate.md").read_text(encoding="utf-8")
TABLES = ("customers", "order_lines", "orders", "products")


def run(staged: StagedShop, name: str, **widgets: str) -> None:
    notebook.run(NOTEBOOKS / name, staged.shop.storage, staged.shop.spark, widgets)


def cells(shown: str) -> list[list[str]]:
    """The cells of all tables that were shown."""
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in shown.splitlines() if "|" in line]


def export(file: Path, table: str, rows: Sequence[Row]) -> Path:
    """An export of the source as the notebook wants it: a header, and null as a text that no value has."""
    with file.open("w", encoding="utf-8", newline="") as out:
        writer = csv.DictWriter(out, COLUMNS[table])
        writer.writeheader()
        writer.writerows({name: r"\N" if row[name] is None else row[name] for name in COLUMNS[table]} for row in rows)
    return file


def changed(rows: Sequence[Row], order_id: int, **values: object) -> list[Row]:
    return [{**row, **values} if row["order_id"] == order_id else row for row in rows]


def test_a_key_is_followed_to_its_records(staged_shop: StagedShop, capsys: pytest.CaptureFixture[str]) -> None:
    before = staged_shop.shop.versions()
    run(staged_shop, "one_key.py")
    assert staged_shop.shop.versions() == before
    shown = capsys.readouterr().out
    versions = [row for row in cells(shown) if len(row) == 13]
    assert [(row[0], row[6]) for row in versions[1:]][-1] == ("8", "closed")
    assert {row[4] for row in versions[1:]} == {"1007"}
    outcomes = [row[4] for row in cells(shown) if len(row) == 7]
    assert set(outcomes[1:]) == {"r", "u"}


def test_the_records_of_a_key_are_its_tombstones_and_rejects_too(
    staged_shop: StagedShop, capsys: pytest.CaptureFixture[str]
) -> None:
    run(staged_shop, "one_key.py", key="order_id IN (1004, 1008)")
    outcomes = {row[4] for row in cells(capsys.readouterr().out) if len(row) == 7}
    assert {"d", "tombstone"} <= outcomes
    assert any(outcome.startswith("reject: ") for outcome in outcomes)


@pytest.mark.parametrize("table", TABLES)
def test_every_record_in_bronze_is_accounted_for(
    staged_shop: StagedShop, capsys: pytest.CaptureFixture[str], table: str
) -> None:
    run(staged_shop, "explore_bronze.py", table=table)
    shown = cells(capsys.readouterr().out)
    counted = staged_shop.counts[STAGES[-1]][table]
    outcome = [counted.records, counted.changes, counted.rejects, counted.ignored["tombstone"], 0]
    assert [table, *map(str, outcome)] in shown
    assert [f"shopserver.shop.dbo.{table}", "0", str(counted.records), "0", str(counted.records - 1), "0"] in [
        row[:6] for row in shown
    ]


@pytest.mark.parametrize("table", TABLES)
def test_gold_has_the_rows_of_the_source(
    staged_shop: StagedShop, tmp_path: Path, capsys: pytest.CaptureFixture[str], table: str
) -> None:
    file = export(tmp_path / "export.csv", table, golden(STAGES[-1], table))
    run(staged_shop, "reconcile.py", table=table, format="csv", source=str(file))
    shown = capsys.readouterr().out
    assert f"compared: {', '.join(COLUMNS[table])}\nnot compared: none\n" in shown
    assert re.search(r"^0 of [1-9]\d* key ranges differ$", shown, re.MULTILINE)


def test_keys_that_differ_are_shown_with_the_reason(
    staged_shop: StagedShop, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the options that the guide has, on an export in which a row is missing, one is new and one differs."""
    rows = changed(golden(STAGES[-1], "orders"), 1007, status="lost", channel="?")[1:]
    new = {**rows[0], "order_id": 99}
    file = export(tmp_path / "orders.csv", "orders", [*rows, new])
    run(staged_shop, "reconcile.py", **(guide_options() | {"source": str(file)}))
    shown = capsys.readouterr().out
    reasons = {row[0]: row[1] for row in cells(shown) if len(row) == 2}
    missing = golden(STAGES[-1], "orders")[0]["order_id"]
    assert (
        reasons.items()
        >= {
            "missing in gold": "1",
            "missing in the source": "1",
            "differs in status, channel": "1",
        }.items()
    )
    assert re.findall(r"^ order_id +\| (\d+)", shown, re.MULTILINE) == ["99", str(missing), "1007"]


def guide_options() -> Mapping[str, str]:
    """The widgets that the migration guide's command sets."""
    (command,) = re.findall(r"^python -m demo\.notebook (notebooks/reconcile\.py .*)$", GUIDE, re.MULTILINE)
    words = shlex.split(command)
    assert words[0] == RECONCILE.relative_to(shop.CHECKOUT).as_posix()
    return dict(word.split("=", 1) for flag, word in itertools.pairwise(words) if flag == "--set")


def test_rows_of_an_earlier_moment_are_compared_with_the_history(
    staged_shop: StagedShop, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stage, moment = "2-round", "2026-03-04T00:00:00+00:00"
    file = export(tmp_path / "orders.csv", "orders", golden(stage, "orders"))
    run(staged_shop, "reconcile.py", format="csv", source=str(file), as_of=moment)
    assert "\n0 of 1 key ranges differ\n" in capsys.readouterr().out


def test_the_source_can_be_a_database_or_a_table(
    staged_shop: StagedShop, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    url, spark = f"jdbc:derby:{tmp_path}/shop;create=true", staged_shop.shop.spark
    rows = spark.read.format("delta").load(str(staged_shop.shop.storage / "tables/gold/orders"))
    rows = rows.where("order_id <> 1007").drop("paid_at", "placed_at")
    # Derby writes a log into the working directory otherwise.
    spark._jvm.java.lang.System.setProperty("derby.stream.error.file", str(tmp_path / "derby.log"))  # type: ignore[union-attr]
    rows.write.jdbc(url, "orders")
    run(staged_shop, "reconcile.py", format="jdbc", source=url, dbtable="orders", leave_out="paid_at, placed_at")
    shown = capsys.readouterr().out
    assert "not compared: placed_at, paid_at\n" in shown
    assert ["missing in the source", "1"] in cells(shown)
    run(staged_shop, "reconcile.py", format="table", source="gold.orders")
    assert "\n0 of 1 key ranges differ\n" in capsys.readouterr().out


def test_a_widget_that_a_notebook_does_not_have_is_refused(staged_shop: StagedShop) -> None:
    with pytest.raises(click.BadParameter, match=r"one_key\.py has no widget tabel; it has table, key, bronze"):
        run(staged_shop, "one_key.py", tabel="orders")
    with pytest.raises(click.BadParameter, match="the widget format is one of parquet, csv, table, jdbc, not `xls`"):
        run(staged_shop, "reconcile.py", format="xls")


def test_a_workspace_recognizes_them_as_notebooks() -> None:
    for file in NOTEBOOKS.iterdir():
        assert file.read_text(encoding="utf-8").startswith("# Databricks notebook source\n"), file


def test_they_install_the_packages_that_ship() -> None:
    lines = (shop.CHECKOUT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    ships = {line.split()[0] for line in lines if "# [ships]" in line}
    importing = [file.read_text(encoding="utf-8") for file in NOTEBOOKS.iterdir() if "from cdc" in file.read_text()]
    installed = [
        set(line.split()) for text in importing for line in re.findall(r"^# MAGIC %pip install (.*)$", text, re.M)
    ]
    assert installed == [ships] * len(importing) != []
