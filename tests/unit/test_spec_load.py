"""A conf folder becomes TableSpecs with every default filled in."""

import ast
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.support.conf_folder import CONNECTOR, one_faulty, one_table, write_conf

from cdc.errors import Condition, SpecError
from cdc.spec.load import SpecWarning, load_tables, read_conf
from cdc.spec.model import ColumnSpec, ConnectorSpec, SourceType, TableSpec

ROOT = Path(__file__).parents[2]
SMALLEST = """\
    table: shop.dbo.orders
    key: [id]
    columns: {id: int, customer: nvarchar(80), total: "decimal(18,2)", placed_at: datetime2(7)}
    """


def test_the_smallest_table_gets_every_default(tmp_path: Path) -> None:
    spec = one_table(tmp_path, SMALLEST)
    assert spec == TableSpec(
        source="shop.dbo.orders",
        name="orders",
        connector=ConnectorSpec(name="shop", topic_prefix="shopserver"),
        topic="shopserver.shop.dbo.orders",
        key=("id",),
        columns=(
            ColumnSpec("id", SourceType("int"), "id", nullable=False, on_missing="reject"),
            ColumnSpec("customer", SourceType("nvarchar", length=80), "customer"),
            ColumnSpec("total", SourceType("decimal", precision=18, scale=2), "total"),
            ColumnSpec("placed_at", SourceType("datetime2", precision=7), "placed_at"),
        ),
        defined_at=f"{tmp_path}/tables/shop/orders.yml:1",
    )


def test_every_field_of_a_table_is_read(tmp_path: Path) -> None:
    spec = one_table(
        tmp_path,
        """\
        table: shop.dbo.Orders
        name: sales_orders
        key: [Id]
        columns:
          Id: {type: bigint, rename: order_id, comment: the till's number}
          status: {type: nvarchar(20), nullable: false, on_missing: as_null}
          email: {type: nvarchar(120), rename: mail, mask: sha256}
          paid_at: {type: datetimeoffset(3), keep_offset: true}
          photo: {exclude: true}
        history: {track_except: [status]}
        expectations: {has_mail: mail IS NOT NULL}
        comment: Orders of the till
        cluster_by: [Id, status]
        gold: {table: current_orders, history: all_orders}
        topic: till.orders
        tombstone_retention: 1 week
        """,
    )
    assert (spec.name, spec.topic, spec.key) == ("sales_orders", "till.orders", ("order_id",))
    assert spec.columns == (
        ColumnSpec("Id", SourceType("bigint"), "order_id", False, comment="the till's number", on_missing="reject"),
        ColumnSpec("status", SourceType("nvarchar", length=20), "status", nullable=False, may_be_absent=True),
        ColumnSpec("email", SourceType("nvarchar", length=120), "mail", mask="sha2(`mail`, 256)"),
        ColumnSpec("paid_at", SourceType("datetimeoffset", precision=3), "paid_at", offset_target="paid_at_offset"),
    )
    assert spec.excluded == ("photo",)
    assert (spec.history, spec.track) == (True, ("order_id", "mail", "paid_at"))
    assert spec.expectations == {"has_mail": "mail IS NOT NULL"}
    assert (spec.comment, spec.cluster_by) == ("Orders of the till", ("order_id", "status"))
    assert (spec.gold, spec.gold_history) == ("current_orders", "all_orders")
    assert spec.tombstone_retention_seconds == 604_800


def test_rules_for_rows_are_read(tmp_path: Path) -> None:
    spec = one_table(
        tmp_path,
        """\
        table: shop.dbo.orders
        key: [id]
        columns: {id: int, total: {type: int, rename: amount}}
        filter: amount > 0
        computed: {net: amount - 1, Gross: amount + 1}
        deletes: soft
        cluster_by: [net, total]
        history: {track_except: [total, Gross]}
        expectations:
          a: amount > 1
          b: {condition: amount > 2}
          c: {condition: net > 3, action: quarantine}
        """,
    )
    assert (spec.filter, spec.deletes, spec.computed) == (
        "amount > 0",
        "soft",
        {"net": "amount - 1", "Gross": "amount + 1"},
    )
    assert (spec.cluster_by, spec.track) == (("net", "amount"), ("id", "net"))
    assert spec.expectations == {"a": "amount > 1", "b": "amount > 2", "c": "net > 3"}
    assert spec.actions == {"c": "quarantine"}
    assert (spec.has_partial_changes, spec.merges) == (True, False)


def test_every_field_of_a_connector_is_read(tmp_path: Path) -> None:
    connector = """\
        topic_prefix: till
        incarnation: 2
        restored_at: [2026-05-01T12:00:00Z]
        within_transaction: arrival
        time_precision_mode: isostring
        decimal_handling_mode: string
        binary_handling_mode: base64-url-safe
        decimal_format: numeric
        schemas: always
        shape: flattened
        flat_prefix: meta_
        placeholder: not there
        topic_pattern: "{prefix}.{schema}.{table}"
        topics: {schema_changes: true, transactions: true, heartbeat: true, notifications: n, signals: s}
        """
    spec = one_table(tmp_path, SMALLEST, connector=connector)
    assert spec.topic == "till.dbo.orders"
    assert spec.connector == ConnectorSpec(
        name="shop",
        topic_prefix="till",
        incarnation=2,
        restored_at=(datetime(2026, 5, 1, 12, tzinfo=UTC),),
        within_transaction="arrival",
        time_precision_mode="isostring",
        decimal_handling_mode="string",
        binary_handling_mode="base64-url-safe",
        decimal_format="numeric",
        schemas="always",
        shape="flattened",
        flat_prefix="meta_",
        placeholder="not there",
        topic_pattern="{prefix}.{schema}.{table}",
        schema_changes_topic="till",
        transactions_topic="till.transaction",
        heartbeat_topic="__debezium-heartbeat.till",
        notifications_topic="n",
        signals_topic="s",
    )


def test_the_nearest_policy_wins(tmp_path: Path) -> None:
    spec = one_table(
        tmp_path,
        """\
        table: shop.dbo.orders
        key: [id]
        columns:
          id: int
          by_default: {type: datetime2(3)}
          of_its_own: {type: datetime2(3), datetime_zone: none, overflow: reject, on_missing: as_null}
          note: nvarchar(max)
        unavailable: merge
        """,
        connector="{topic_prefix: s, unavailable: reject, overflow: keep, datetime_zone: Asia/Tokyo}",
        defaults="{overflow: repair, datetime_zone: UTC, large_nulls: unchanged, on_missing: reject}",
    )
    policies = {
        column.name: (
            column.unavailable,
            column.overflow,
            column.zone,
            column.null_is_unchanged,
            column.on_missing,
        )
        for column in spec.columns
    }
    assert policies == {
        "id": ("merge", "keep", None, False, "reject"),
        "by_default": ("merge", "keep", "Asia/Tokyo", False, "reject"),
        "of_its_own": ("merge", "reject", None, False, "as_null"),
        "note": ("merge", "keep", None, True, "reject"),
    }


@pytest.mark.parametrize(
    ("table", "defaults", "expected"),
    [
        ("", "", True),
        ("", "history: false", False),
        ("history: true", "history: false", True),
        ("history: false", "", False),
        ("history: {track: [id]}", "history: false", True),
    ],
    ids=["built in", "by defaults", "table over defaults", "by table", "tracking is history"],
)
def test_a_tables_own_history_wins(tmp_path: Path, table: str, defaults: str, expected: bool) -> None:
    text = f"table: shop.dbo.orders\nkey: [id]\ncolumns: {{id: int}}\n{table}\n"
    assert one_table(tmp_path, text, defaults=defaults or "{}").history is expected


def test_a_routed_topics_table_has_the_physical_table_in_its_key(tmp_path: Path) -> None:
    spec = one_table(
        tmp_path,
        "{table: shop.dbo.orders, key: [id], columns: {id: int}, topic: all_orders, physical_table: shard}",
    )
    assert spec.key == ("id", "shard")
    router = spec.columns[-1]
    assert (router.name, router.target) == ("__dbz__physicalTableIdentifier", "shard")
    assert (router.key_only, router.nullable) == (True, False)


def test_a_table_without_a_key_is_append_only_with_a_warning(tmp_path: Path) -> None:
    text = "{table: shop.dbo.log, append_only: true, columns: {what: nvarchar(80)}}"
    with pytest.warns(SpecWarning, match=r"NO_KEY .*table shop\.dbo\.log"):
        spec = one_table(tmp_path, text)
    assert (spec.append_only, spec.key, spec.history) == (True, (), False)


def test_columns_can_be_named_like_yaml_words(tmp_path: Path) -> None:
    spec = one_table(
        tmp_path,
        """\
        table: shop.dbo.orders
        key: [no]
        columns: {no: int, on: bit, yes: bit, null: bit, true: bit, 1: bit, 1e3: bit}
        """,
    )
    assert [column.name for column in spec.columns] == ["no", "on", "yes", "null", "true", "1", "1e3"]
    assert spec.key == ("no",)


def test_yaml_files_of_either_ending_are_read_and_no_others(tmp_path: Path) -> None:
    conf = write_conf(
        tmp_path,
        {
            "tables/shop/a.yaml": "{table: shop.dbo.a, key: [id], columns: {id: int}}",
            "tables/shop/b.yml": "{table: shop.dbo.b, key: [id], columns: {id: int}}",
            "tables/shop/notes.md": "# to do",
        },
    )
    assert [table.name for table in load_tables(conf)] == ["a", "b"]


def two_connectors(conf: Path) -> Path:
    table = "{{table: shop.dbo.{}, key: [id], columns: {{id: int}}, topic: {}}}"
    return write_conf(
        conf,
        {
            "connectors/south.yml": CONNECTOR,
            "connectors/north.yml": CONNECTOR,
            "tables/south/z.yml": table.format("b", "s.b"),
            "tables/south/y.yml": table.format("c", "s.c"),
            "tables/north/x.yml": table.format("d", "n.d"),
        },
    )


def test_tables_are_ordered_by_connector_and_name(tmp_path: Path) -> None:
    tables = load_tables(two_connectors(tmp_path))
    assert [(table.connector.name, table.name) for table in tables] == [
        ("north", "d"),
        ("south", "b"),
        ("south", "c"),
    ]


def test_one_connector_can_be_loaded_alone_even_if_others_have_faults(tmp_path: Path) -> None:
    conf = two_connectors(tmp_path)
    write_conf(conf, {"connectors/north.yml": "nonsense", "tables/east/x.yml": "{}"})
    assert [table.name for table in load_tables(conf, "south")] == ["b", "c"]
    assert len(read_conf(conf).faults) >= 2
    assert load_tables(two_connectors(tmp_path / "all"), "") == load_tables(tmp_path / "all")


def test_an_unknown_connector_is_reported_with_the_existing_ones(tmp_path: Path) -> None:
    with pytest.raises(
        SpecError,
        match=r"connectors/sooth\.yml does not exist; existing connectors: north, south \(did you mean `south`",
    ):
        load_tables(two_connectors(tmp_path), "sooth")


def test_a_missing_folder_is_one_fault(tmp_path: Path) -> None:
    (fault,) = read_conf(tmp_path / "cnof").faults
    assert fault.condition is Condition.MISSING_CONF
    assert str(tmp_path / "cnof") in fault.detail


def test_the_tables_of_a_faulty_connector_are_still_checked(tmp_path: Path) -> None:
    conf = one_faulty(tmp_path, "{table: shop.dbo.orders, key: [ident], columns: {id: int}}", connector="kind: oracle")
    assert [fault.condition.name for fault in conf.faults] == [
        "MISSING_FIELD",
        "BAD_VALUE",
        "UNKNOWN_KEY_COLUMN",
    ]
    assert conf.tables == ()


def test_a_spec_without_a_key_cannot_be_built() -> None:
    connector = ConnectorSpec("shop", "shopserver")
    with pytest.raises(ValueError, match=r"shop\.dbo\.orders has no key"):
        TableSpec("shop.dbo.orders", "orders", connector, "topic", key=(), columns=())
    with pytest.raises(ValueError, match=r"key columns not among its columns: \['id'\]"):
        TableSpec("shop.dbo.orders", "orders", connector, "topic", key=("id",), columns=())


def test_the_projects_own_conf_has_no_faults_and_four_tables() -> None:
    tables = load_tables(ROOT / "conf", "shop")
    assert [table.name for table in tables] == ["customers", "order_lines", "orders", "products"]
    assert {table.topic for table in tables} == {f"shopserver.shop.dbo.{table.name}" for table in tables}


def test_reading_specs_needs_neither_spark_nor_the_engine() -> None:
    files = [
        *(ROOT / "pipelines/cdc/spec").glob("*.py"),
        *(ROOT / f"pipelines/cdc/{each}.py" for each in ("errors", "names")),
    ]
    imported = {
        name
        for file in files
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in ([node.module or ""] if isinstance(node, ast.ImportFrom) else [each.name for each in node.names])
    }
    assert {name.partition(".")[0] for name in imported} & {"pyspark", "delta", "dlt", "dlt_local"} == set()
    assert "cdc.spec.model" in imported
