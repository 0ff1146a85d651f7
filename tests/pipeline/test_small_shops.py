"""The small shops, one for each kind of connector but SQL Server's: specs, records, and the demo."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from demo import shop
from demo.__main__ import main
from demo.tables import folder, rows
from pyspark.sql import DataFrame, SparkSession
from tests.support.records import RECORDS
from tools.captures import Record, read
from tools.small_shops.scenario import KEYS, Row, final_rows, versions

from cdc import decode, sequence
from cdc.__main__ import cdc
from cdc.spec.kinds import KINDS

SMALL = sorted(set(shop.SHOPS) - {shop.SQLSERVER})
SHOWN = {
    "customers": ("customer_id", "name", "email"),
    "orders": ("order_id", "customer_id", "status", "total", "placed_at", "paid_at", "channel"),
}
"""Columns that every kind has."""
REASONS = ["BROKEN_JSON", "MISSING_POSITION", "NOT_AN_ENVELOPE", "UNKNOWN_OP", "WRONG_TYPE"]
DAMAGED = "1002"
"""The order whose records are damaged."""
Shown = tuple[str | None, ...]


def captures(kind: str) -> list[Path]:
    return [capture for each in shop.SHOPS[kind].rounds for capture in each.captures]


def expected(table: str) -> Mapping[int, Shown]:
    """The database's rows at the end, by key."""
    return {key: shown(row, table) for key, row in final_rows()[table].items()}


def shown(row: Row, table: str) -> Shown:
    return tuple(_text(row.get(name)) for name in SHOWN[table])


def _text(value: Any) -> str | None:
    """Numbers and moments as the scenario writes them."""
    if isinstance(value, datetime):
        return f"{value.astimezone(UTC) if value.tzinfo else value:%Y-%m-%d %H:%M:%S}"
    return None if value is None else str(value)


def test_every_kind_has_a_shop() -> None:
    assert set(shop.SHOPS) == set(KINDS)


@pytest.mark.parametrize("kind", SMALL)
def test_its_specs_are_without_faults(kind: str) -> None:
    records = captures(kind)[0].parent
    result = CliRunner().invoke(cdc, ["check", str(shop.SHOPS[kind].conf), "--records", str(records)])
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize("kind", ["mariadb", "mysql", "db2"])
def test_its_specs_are_what_the_connector_says_of_the_tables(kind: str) -> None:
    records, conf = captures(kind)[0].parent, shop.SHOPS[kind].conf
    arguments = ["scaffold", "--connector", "shop", "--capture", str(records), "--conf", str(conf), "--diff"]
    result = CliRunner().invoke(cdc, arguments)
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize("kind", SMALL)
def test_every_record_has_an_outcome_and_the_changes_end_in_the_databases_rows(spark: SparkSession, kind: str) -> None:
    records = [record for capture in captures(kind) for record in read(capture)]
    for table in shop.tables(shop.SHOPS[kind].conf):
        own = [record for record in records if record.topic == table.topic]
        decoded = decode(frame(spark, own), table)
        found = decoded.withColumn("sequence", sequence(table)).orderBy("sequence", "_offset").collect()
        assert len(found) == len(own)
        assert {row._outcome for row in found if row._reason == "tombstone"} == {"ignored"}
        rejects = sorted(row._reason for row in found if row._outcome == "reject")
        assert rejects == (REASONS if table.name == "orders" else [])
        changes = [row.asDict() for row in found if row._outcome == "change"]
        left, committed = applied(changes, table.name)
        assert left == expected(table.name)
        of_table = {shown(row, table.name) for row in versions(table.name)}
        assert {row for row in of_table ^ committed if row[0] != DAMAGED} == set()


def applied(changes: list[dict[str, Any]], table: str) -> tuple[Mapping[int, Shown], set[Shown]]:
    """The rows that ordered changes leave, and every state of a row on the way."""
    left: dict[int, Shown] = {}
    for change in changes:
        left.pop(change[KEYS[table]], None)
        if change["_op"] != "d":
            left[change[KEYS[table]]] = shown(change, table)
    return left, {shown(change, table) for change in changes if change["_op"] != "d"}


def frame(spark: SparkSession, records: list[Record]) -> DataFrame:
    return spark.createDataFrame(
        [(each.topic, 0, each.offset, None, 0, None, each.key, each.value) for each in records], RECORDS
    )


def test_the_demo_of_one_accounts_for_every_record(
    tmp_path: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    mysql = shop.SHOPS["mysql"]
    at_once = replace(mysql, rounds=(shop.Round(tuple(captures("mysql")), "everything at once, which saves time"),))
    monkeypatch.setattr(shop, "SHOPS", {**shop.SHOPS, "mysql": at_once})
    check_demo("mysql", tmp_path / "storage", spark, monkeypatch)


@pytest.mark.long
@pytest.mark.parametrize("kind", SMALL)
def test_the_demo_of_each_accounts_for_every_record(
    kind: str, tmp_path: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    check_demo(kind, tmp_path / "storage", spark, monkeypatch)


def check_demo(kind: str, storage: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the demo; every update's records add up, and gold has the database's rows at the end."""
    monkeypatch.setattr(shop, "pipeline", partial(shop.pipeline, spark=spark))
    result = CliRunner().invoke(main, ["--connector", kind, "--storage", str(storage)])
    assert result.exit_code == 0, result.output
    assert result.output.count(" holds") == 3 * len(shop.SHOPS[kind].rounds)
    assert "DOES NOT HOLD" not in result.output
    for table in KEYS:
        found = {row[KEYS[table]]: shown(row, table) for row in rows(folder(storage, f"gold.{table}"))}
        assert found == expected(table)
