"""`into:` of a table spec: several sources in one target, told apart by a column."""

import json
from pathlib import Path

import pytest
from tests.support.conf_folder import one_faulty, one_table, write_conf

from cdc import definition, names, targets
from cdc.debezium import columns
from cdc.plan.edits import Effect, plan
from cdc.plan.stored import stored_definition, stored_sources
from cdc.spec.load import load_tables
from cdc.spec.model import TableSpec

COLUMNS = "key: [id]\ncolumns: {id: int, n: nvarchar(9)}\n"
INTO = "into: {table: orders, source: EU-1, column: region}\n"
TABLE = f"table: shop.eu.orders\n{COLUMNS}{INTO}"


def test_a_source_keeps_its_own_records_and_shares_versions_and_rows(tmp_path: Path) -> None:
    table = one_table(tmp_path, TABLE)
    assert (table.name, table.key) == ("orders_eu_1", ("region", "id"))
    assert names.target_columns(table) == ("id", "n", "region")
    assert [
        names.records_dataset(table),
        names.changes_dataset(table),
        names.versions_dataset(table),
        names.versions_flow(table),
        names.rows_dataset(table),
        names.history_dataset(table),
    ] == [
        "bronze.orders_eu_1",
        "silver.orders_eu_1_changes",
        "silver.orders",
        "orders_eu_1_into_orders",
        "gold.orders",
        "gold.orders_history",
    ]


def test_no_record_is_asked_for_the_source(tmp_path: Path) -> None:
    table = one_table(tmp_path, TABLE)
    assert columns.row_fields(table) == ("id", "n")
    assert columns.required_fields(table) == ("id",)


def test_sources_are_one_target_and_others_their_own(tmp_path: Path) -> None:
    files = {
        "tables/shop/eu.yml": TABLE,
        "tables/shop/us.yml": TABLE.replace("shop.eu", "shop.us").replace("EU-1", "us"),
        "tables/shop/people.yml": f"table: shop.dbo.people\n{COLUMNS}",
        "tables/shop/log.yml": "table: shop.dbo.log\nappend_only: true\ncolumns: {id: int}\n",
    }
    with pytest.warns(UserWarning, match="append-only"):
        found = targets(load_tables(write_conf(tmp_path, files)))
    assert [[table.name for table in sources] for sources in found] == [["orders_eu_1", "orders_us"], ["people"]]
    eu, us = found[0]
    assert definition.of_versions(eu) == definition.of_versions(us)
    assert definition.of_changes(eu) != definition.of_changes(us)
    assert definition.of_sources(found[0]) == {"rows.sources": '{"EU-1": "shop.eu.orders", "us": "shop.us.orders"}'}
    assert definition.of_sources(found[1]) == {}


@pytest.mark.parametrize(
    ("column", "condition", "fix"),
    [
        ("n", "DUPLICATE_COLUMN", "choose another name: `column: n_2`."),
        ("_op", "RESERVED_COLUMN", "choose another name: `column: op`."),
        ("a b", "BAD_COLUMN_NAME", "choose another name: `column: a_b`."),
    ],
)
def test_the_column_is_one_of_the_target(tmp_path: Path, column: str, condition: str, fix: str) -> None:
    (fault,) = one_faulty(tmp_path, TABLE.replace("region", column)).faults
    assert (fault.condition.name, fault.location.line, fault.fix) == (condition, 4, fix)


def test_a_table_without_a_key_has_no_target_to_share(tmp_path: Path) -> None:
    faults = one_faulty(tmp_path, TABLE.replace("key: [id]", "append_only: true")).faults
    assert [(fault.condition.name, fault.location.line) for fault in faults] == [("MISPLACED_FIELD", 4)]


def test_a_target_is_not_written_by_a_table_of_its_own(tmp_path: Path) -> None:
    files = {"tables/shop/eu.yml": TABLE, "tables/shop/orders.yml": f"table: shop.dbo.orders\n{COLUMNS}"}
    with pytest.raises(Exception, match=r"`orders` would write silver\.orders, which `orders_eu_1` also writes"):
        load_tables(write_conf(tmp_path, files))


def test_another_source_for_stored_rows_needs_a_rebuild_and_a_new_source_none(tmp_path: Path) -> None:
    single = one_table(tmp_path / "single", TABLE.replace(INTO, ""))
    eu, west = (one_table(tmp_path / each, TABLE.replace("EU-1", each)) for each in ("eu", "west"))
    for stored in (single, eu):
        edits = {edit.text: edit.effect for edit in plan(west, _stored(stored)).edits}
        was = "none" if stored is single else "region = eu"
        assert edits[f"source of the rows: {was} -> region = west"] is Effect.REBUILD
        assert ("key columns: id -> id, region" in edits) == (stored is single)
    assert plan(eu, _stored(eu)).effect is Effect.NONE


def _stored(table: TableSpec) -> definition.Parts:
    return {**definition.definition(table), **definition.definition_of_versions(table)}


def test_the_plan_of_a_source_is_its_own(tmp_path: Path) -> None:
    eu, us = (one_table(tmp_path / each, TABLE.replace("EU-1", each)) for each in ("eu", "us"))
    for dataset, properties in {
        "orders_eu_changes": definition.of_changes(eu),
        "orders": {**definition.of_versions(eu), **definition.of_sources([eu])},
    }.items():
        log = tmp_path / "storage" / "tables" / "silver" / dataset / "_delta_log"
        log.mkdir(parents=True)
        (log / "00000000000000000000.json").write_text(json.dumps({"metaData": {"configuration": properties}}))
    assert plan(eu, stored_definition(tmp_path / "storage", eu)).effect is Effect.NONE
    assert plan(us, stored_definition(tmp_path / "storage", us)).effect is Effect.NEW
    assert stored_sources(tmp_path / "storage", "silver.orders") == {"eu": "shop.eu.orders"}
