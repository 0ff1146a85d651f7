"""The change planner: what each edit of a table spec does to its existing rows, without Spark."""

import json
import sqlite3
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.support.conf_folder import one_table, write_conf

from cdc import definition
from cdc.__main__ import cdc
from cdc.plan.edits import Effect, TablePlan, plan
from cdc.spec.model import TableSpec
from dlt_local.updates.row_definitions import edits

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
        ("decimal(9,2)", "decimal(18,2)", "total: decimal(9,2) -> decimal(18,2)"),
    ],
)
def test_applied_in_place(tmp_path: Path, old: str, new: str, text: str) -> None:
    (edit,) = planned(tmp_path, (old, new)).edits
    assert (edit.text, edit.effect) == (text, Effect.IN_PLACE)
    assert "rebuild" in edit.advice


@pytest.mark.parametrize(
    "more",
    [
        "    comment: Words\n",
        "    gold: {table: sales}\n",
        "    cluster_by: [email]\n",
        "    expectations: {a: total > 0, b: {condition: total < 9, action: fail}}\n",
    ],
)
def test_no_concern_of_existing_rows(tmp_path: Path, more: str) -> None:
    assert planned(tmp_path, more=more).effect is Effect.NONE


@pytest.mark.parametrize(
    ("old", "new", "text", "advice"),
    [
        ("decimal(9,2)", "decimal(18,4)", "total: decimal(9,2) -> decimal(18,4)", ""),
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
        ("key: [id]", "key: [id]\n    filter: id > 5", "row filter: id > 5 (new)", ""),
        ("key: [id]", "key: [id]\n    computed: {net: total - 1}", "computed column net: total - 1 (new)", ""),
        ("key: [id]", "key: [id]\n    deletes: soft", "deleted rows: kept with the time of their delete (new)", ""),
        (
            "key: [id]",
            "key: [id]\n    expectations: {small: {condition: total < 5, action: drop}}",
            "expectations that drop: small (total < 5) (new)",
            "",
        ),
        (
            "key: [id]",
            "key: [id]\n    expectations: {small: {condition: total < 5, action: quarantine}}",
            "expectations that quarantine: also small (total < 5)",
            "",
        ),
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


@pytest.mark.parametrize("order", ["auto", "total_order", "arrival"])
def test_another_order_within_a_transaction_needs_a_rebuild(tmp_path: Path, order: str) -> None:
    connector = "{{topic_prefix: shopserver, within_transaction: {}}}"
    before = stored(one_table(tmp_path / "old", SPEC, connector=connector.format("lsn")))
    now = one_table(tmp_path / "new", SPEC, connector=connector.format(order))
    (edit,) = plan(now, before).edits
    assert (edit.text, edit.effect) == (f"order within a transaction: lsn -> {order}", Effect.REBUILD)
    # A storage of before does not know its order, which is no edit.
    unknown = {part: value for part, value in before.items() if part != definition.ORDER}
    assert plan(now, unknown).effect is Effect.NONE


@pytest.mark.filterwarnings("ignore:NO_KEY")
def test_an_append_only_table_has_no_order(tmp_path: Path) -> None:
    log = SPEC.replace("key: [id]", "append_only: true")
    before = json.loads(definition.of_changes(one_table(tmp_path / "old", log))[definition.PROPERTY])
    connector = "{topic_prefix: shopserver, within_transaction: lsn}"
    assert plan(one_table(tmp_path / "new", log, connector=connector), before).effect is Effect.NONE


RULES = """
    filter: id > 5
    computed: {net: total - 1}
    deletes: soft
    expectations:
      small: {condition: total < 5, action: drop}
      known: {condition: total > 0, action: quarantine}
"""


def test_rules_removed_need_a_rebuild_and_a_quarantine_leaves_its_rejects(tmp_path: Path) -> None:
    before = stored(one_table(tmp_path / "old", SPEC + RULES))
    found = plan(one_table(tmp_path / "new", SPEC), before)
    assert {(edit.text, edit.effect) for edit in found.edits} == {
        ("row filter: id > 5 -> gone", Effect.REBUILD),
        ("computed column net: total - 1 -> gone", Effect.REBUILD),
        ("deleted rows: kept with the time of their delete -> gone", Effect.REBUILD),
        ("expectations that drop: small (total < 5) -> gone", Effect.REBUILD),
        ("expectations that quarantine: no longer known (total > 0)", Effect.IN_PLACE),
    }
    changed = plan(one_table(tmp_path / "again", SPEC + RULES.replace("id > 5", "id > 6")), before)
    assert [edit.text for edit in changed.edits] == ["row filter: id > 5 -> id > 6"]


def refused_by_the_engine(before: TableSpec, after: TableSpec) -> set[str]:
    """The edits for which the engine asks for a rebuild, its condition evaluated over one row."""
    database = sqlite3.connect(":memory:")
    database.create_function("map_contains_key", 2, lambda *_: None)
    database.create_function("startswith", 2, lambda text, start: text.startswith(start))
    found = set()
    for properties in (definition.of_changes, definition.of_versions):
        old, new = properties(before), properties(after)
        condition = new.get(definition.CONCERNED, "false")
        for edit in edits(json.loads(old[definition.PROPERTY]), json.loads(new[definition.PROPERTY])):
            concerned = condition.replace(":part", f"'{edit.concerns}'")
            row = database.execute(f"SELECT {concerned} FROM (SELECT null AS _unknown)").fetchone()
            if edit.concerns is None or row[0]:
                found.add(edit.text)
    return found


@pytest.mark.parametrize(
    ("before", "after"),
    [("", RULES), (RULES, ""), (RULES, RULES.replace("5", "6")), (RULES, RULES.replace("quarantine", "drop"))],
    ids=["added", "removed", "changed", "another action"],
)
def test_the_engine_refuses_what_the_plan_says(tmp_path: Path, before: str, after: str) -> None:
    old, new = one_table(tmp_path / "old", SPEC + before), one_table(tmp_path / "new", SPEC + after)
    planned = {edit.text for edit in plan(new, stored(old)).edits if edit.effect is Effect.REBUILD}
    assert planned and refused_by_the_engine(old, new) == planned


def test_a_table_without_rules_has_the_definition_of_earlier_versions(tmp_path: Path) -> None:
    plain = one_table(tmp_path, SPEC + "    expectations: {a: total > 0, b: {condition: total < 9, action: fail}}\n")
    assert definition.of_changes(plain)[definition.CONCERNED] == "coalesce(map_contains_key(_unknown, :part), false)"
    assert definition.of_versions(plain) == {
        definition.PROPERTY: '{"NOT NULL": ["total"], "email": "nvarchar(50)", "history": "every version", "id":'
        ' "bigint", "in every record": ["seen"], "key columns": "id", "order within a transaction": "auto", "seen":'
        ' "datetime2(7)", "total": "decimal(9,2)", "tracked columns": "all columns"}',
        definition.SAME: '{"email": ["*char([0-9]*)"], "total": ["*([1-9],2)"]}',
    }


def test_columns_may_be_called_like_the_parts_of_a_definition(tmp_path: Path) -> None:
    spec = "table: shop.dbo.t\nkey: [id]\ncolumns: {id: int, history: int, source: int}\n"
    before = stored(one_table(tmp_path / "old", spec))
    edited = spec.replace("history: int, source: int", "history: bigint, source: bigint") + "history: false\n"
    found = plan(one_table(tmp_path / "new", edited), before).edits
    assert sorted(edit.text for edit in found) == [
        "history of the rows: every version -> current rows",
        "history: int -> bigint",
        "source: int -> bigint",
    ]


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


def test_records_decoded_by_another_spec_than_the_changes_count_too(tmp_path: Path) -> None:
    old = one_table(tmp_path / "old", SPEC)
    wide = one_table(tmp_path / "wide", SPEC.replace("decimal(9,2)", "decimal(12,2)"))
    decoded = json.loads(definition.of_changes(wide)[definition.PROPERTY])
    assert [edit.text for edit in plan(old, stored(old), decoded).edits] == ["total: decimal(12,2) -> decimal(9,2)"]
    assert plan(wide, stored(old), decoded).effect is Effect.IN_PLACE
    assert plan(wide, None, decoded).effect is Effect.NEW
    log = tmp_path / "storage/system/private/silver/orders_decoded/_delta_log"
    log.mkdir(parents=True)
    configuration = {definition.PROPERTY: json.dumps(decoded)}
    (log / "00000000000000000000.json").write_text(json.dumps({"metaData": {"configuration": configuration}}))
    done = CliRunner().invoke(cdc, ["plan", str(tmp_path / "old"), "--storage", str(tmp_path / "storage")])
    assert done.exit_code == 2 and "total: decimal(12,2) -> decimal(9,2)" in done.output


def test_the_command_reads_the_logs_of_the_tables(tmp_path: Path) -> None:
    old = one_table(tmp_path / "old", SPEC)
    conf = write_conf(tmp_path / "conf", {"tables/shop/orders.yml": SPEC.replace("decimal(9,2)", "decimal(18,4)")})
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
    total: decimal(9,2) -> decimal(18,4)
    undo the edit, or run once with --rebuild orders
        builds silver.orders_decoded, silver.orders_changes, silver.orders_rejects, silver.orders, gold.orders, \
gold.orders_history anew
        from bronze.orders: 1,200 records since 2026-03-01 12:00
""",
    )


def test_a_filter_is_no_edit_until_versions_are_built(tmp_path: Path) -> None:
    filtered = one_table(tmp_path / "filtered", SPEC + "    filter: total > 1\n")
    changes: definition.Parts = json.loads(definition.of_changes(filtered)[definition.PROPERTY])
    assert plan(filtered, changes).effect is Effect.NONE
    assert plan(filtered, None, changes).effect is Effect.NEW
