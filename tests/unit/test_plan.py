"""The change planner: what each edit of a table spec does to its existing rows, without Spark."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.support.conf_folder import one_table, write_conf

from cdc import definition
from cdc.__main__ import cdc
from cdc.plan.edits import Effect, TablePlan, plan
from cdc.spec.model import TableSpec

SPEC = """
    table: shop.dbo.orders
    key: [id]
    columns:
      id: bigint
      email: nvarchar(50)
      total: decimal(9,2) not null
      seen: {type: datetime2(7), on_missing: reject}
"""
KEPT = "bronze.orders and silver.orders_rejects keep the records, clear values included"


def planned(folder: Path, *replacements: tuple[str, str], more: str = "") -> TablePlan:
    """The plan of an edit: texts of the spec and what replaces them."""
    edited = SPEC
    for old, new in replacements:
        assert old in edited
        edited = edited.replace(old, new)
    return plan(one_table(folder / "new", edited + more), stored(one_table(folder / "old", SPEC)))


def stored(table: TableSpec) -> definition.Parts:
    """What a run stores beside a table's rows."""
    parts: definition.Parts = json.loads(definition.of_versions(table)[definition.PROPERTY])
    return parts


def test_without_an_edit_a_table_is_unchanged(tmp_path: Path) -> None:
    assert planned(tmp_path).effect is Effect.NONE
    assert plan(one_table(tmp_path / "new", SPEC), None).effect is Effect.NEW


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        ("decimal(9,2) not null", "decimal(9,2)", "total: no longer NOT NULL"),
        ("email: nvarchar(50)", "email: nvarchar(50)\n      note: int", "note: int (new)"),
        (", on_missing: reject", "", "seen: no longer in every record"),
    ],
)
def test_applied_in_place(tmp_path: Path, old: str, new: str, text: str) -> None:
    (edit,) = planned(tmp_path, (old, new)).edits
    assert (edit.text, edit.effect) == (text, Effect.IN_PLACE)
    assert "rebuild" in edit.advice


@pytest.mark.parametrize("more", ["    comment: Words\n", "    gold: {table: sales}\n", "    cluster_by: [email]\n"])
def test_no_concern_of_existing_rows(tmp_path: Path, more: str) -> None:
    assert planned(tmp_path, more=more).effect is Effect.NONE


@pytest.mark.parametrize(
    ("old", "new", "text", "advice"),
    [
        ("decimal(9,2)", "decimal(18,2)", "total: decimal(9,2) -> decimal(18,2)", ""),
        ("decimal(9,2)", "decimal(7,2)", "total: decimal(9,2) -> decimal(7,2)", ""),
        (
            "email: nvarchar(50)",
            "email: {type: nvarchar(50), rename: mail}",
            "email: nvarchar(50) -> nvarchar(50) as mail",
            "",
        ),
        (
            "email: nvarchar(50)",
            'email: {type: nvarchar(50), mask: "sha2(email, 256)"}',
            "email: nvarchar(50) -> nvarchar(50) masked by sha2(email, 256)",
            KEPT,
        ),
        ("email: nvarchar(50)", "", "email: nvarchar(50) -> not in the spec", "keep it in the spec if the source only"),
        ("email: nvarchar(50)", "email: nvarchar(50) not null", "email: now NOT NULL", ""),
        ("key: [id]", "key: [id, total]", "key columns: id -> id, total", ""),
        ("key: [id]", "key: [id]\n    history: false", "history: every version -> current rows", ""),
        (
            "key: [id]",
            "key: [id]\n    history: {track: [total]}",
            "tracked columns: all columns -> total",
            "",
        ),
    ],
)
def test_needs_a_rebuild(tmp_path: Path, old: str, new: str, text: str, advice: str) -> None:
    edits = planned(tmp_path, (old, new)).edits
    (edit,) = [each for each in edits if each.text == text]
    assert edit.effect is Effect.REBUILD
    assert edit.advice.startswith(advice) if advice else edit.advice == ""


def test_a_new_not_null_column_is_refused_with_the_way_out(tmp_path: Path) -> None:
    found = planned(tmp_path, ("email: nvarchar(50)", "email: nvarchar(50)\n      note: int not null"))
    (edit,) = [each for each in found.edits if each.effect is Effect.REBUILD]
    assert edit.advice == "declare it nullable: earlier records lack it, and would be rejects"


def test_columns_of_a_composite_key_may_change_places(tmp_path: Path) -> None:
    both = SPEC.replace("[id]", "[id, total]")
    before = stored(one_table(tmp_path / "old", both))
    assert plan(one_table(tmp_path / "new", both.replace("[id, total]", "[total, id]")), before).effect is Effect.NONE


def test_an_excluded_column_stays_in_bronze(tmp_path: Path) -> None:
    found = planned(tmp_path, ("email: nvarchar(50)", "email: {type: nvarchar(50), exclude: true}"))
    (edit,) = found.edits
    assert (edit.text, edit.advice) == ("email: nvarchar(50) -> excluded", KEPT)


def test_tables_with_new_names_are_named(tmp_path: Path) -> None:
    old = one_table(tmp_path / "old", SPEC)
    conf = write_conf(tmp_path / "conf", {"tables/shop/orders.yml": SPEC + "    name: sales\n"})
    for rows, path in {"records": "bronze/orders", "changes": "silver/orders_changes", "rows": "gold/orders"}.items():
        log = tmp_path / "storage" / "tables" / path / "_delta_log"
        log.mkdir(parents=True)
        (log / "00000000000000000000.json").write_text(
            json.dumps({"metaData": {"configuration": definition.origin(old, rows)}})
        )
    command = ["plan", str(conf), "--storage", str(tmp_path / "storage")]
    done = CliRunner().invoke(cdc, command)
    anew = "built anew from bronze; {} stays as it is, and is not updated any more"
    assert (done.exit_code, done.output.splitlines()) == (
        2,
        [
            "sales: has new names, and its rows are stored under the old ones",
            "    bronze.orders -> bronze.sales",
            "        refused until you restore the name, or run once with --set dlt_local.accept_moves=bronze.sales: it"
            " reads again what the source still has",
            "    silver.orders_changes -> silver.sales_changes",
            f"        {anew.format('silver.orders_changes')}",
            "    gold.orders -> gold.sales",
            f"        {anew.format('gold.orders')}",
        ],
    )
    moved = CliRunner().invoke(cdc, [*command, "--set", "cdc.schemas.bronze=raw"])
    assert "    bronze.orders -> raw.sales\n" in moved.output


def test_the_command_reads_the_logs_of_the_tables(tmp_path: Path) -> None:
    old = one_table(tmp_path / "old", SPEC)
    conf = write_conf(tmp_path / "conf", {"tables/shop/orders.yml": SPEC.replace("decimal(9,2)", "decimal(18,2)")})
    configuration = {definition.PROPERTY: json.dumps(stored(old))}
    for path, checksum in {
        "silver/orders": {"metadata": {"configuration": configuration}},
        "bronze/orders": {
            "metadata": {},
            "allFiles": [
                {"stats": json.dumps({"numRecords": 1200, "minValues": {"timestamp": "2026-03-01T12:00:00.000Z"}})}
            ],
        },
    }.items():
        log = tmp_path / "storage" / "tables" / path / "_delta_log"
        log.mkdir(parents=True)
        (log / "00000000000000000003.json").write_text("{}")
        (log / "00000000000000000003.crc").write_text(json.dumps(checksum))
    done = CliRunner().invoke(cdc, ["plan", str(conf), "--storage", str(tmp_path / "storage")])
    assert (done.exit_code, done.output) == (
        2,
        """orders: needs a rebuild; until then its tables are not updated
    total: decimal(9,2) -> decimal(18,2)
    undo the edit, or run once with --rebuild orders
        builds silver.orders_decoded, silver.orders_changes, silver.orders_rejects, silver.orders, gold.orders, \
gold.orders_history anew
        from bronze.orders: 1,200 records since 2026-03-01 12:00
""",
    )
