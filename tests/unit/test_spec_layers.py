"""What defaults.yml, connector and table may set for each layer: schemas and table properties; the nearest wins."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.support.conf_folder import one_faulty, write_conf

from cdc import names, properties, retention
from cdc.__main__ import cdc
from cdc.spec.deployment import BadSchemaSetting, deployed_schemas
from cdc.spec.load import load_conf, read_conf
from cdc.spec.model import TableSpec
from cdc.spec.retention import Retention
from dlt_local.declarations.registry import Registry, registration
from dlt_local.declarations.tables import create_streaming_table
from dlt_local.errors import DeclarationError

TABLE = "table: shop.dbo.orders\nkey: [id]\ncolumns: {id: int}\n"
FILES = {
    "defaults.yml": "target_schemas: {bronze: raw, silver: cleansed, gold: marts}\n",
    "connectors/shop.yml": "topic_prefix: s\ntarget_schemas: {silver: shop_silver, gold: shop_gold}\n",
    "tables/shop/orders.yml": f"{TABLE}target_schemas: {{gold: sales.orders}}\n",
    "tables/shop/people.yml": TABLE.replace("orders", "people"),
}


def schemas(conf: Path, deployed: Mapping[str, str] | None = None) -> dict[str, str]:
    return {each.name: str(each.target_schemas) for each in load_conf(conf, deployed=deployed).tables}


def test_the_nearest_schema_wins_layer_by_layer(tmp_path: Path) -> None:
    assert schemas(write_conf(tmp_path, FILES)) == {
        "orders": "bronze: raw, silver: shop_silver, gold: sales.orders",
        "people": "bronze: raw, silver: shop_silver, gold: shop_gold",
    }


def test_a_deployment_wins_over_connector_and_defaults_and_a_table_over_it(tmp_path: Path) -> None:
    deployed = {"bronze": "dev_anna_bronze", "gold": "dev_anna_gold"}
    assert schemas(write_conf(tmp_path, FILES), deployed) == {
        "orders": "bronze: dev_anna_bronze, silver: shop_silver, gold: sales.orders",
        "people": "bronze: dev_anna_bronze, silver: shop_silver, gold: dev_anna_gold",
    }


def test_every_dataset_of_table_and_connector_follows(tmp_path: Path) -> None:
    conf = load_conf(write_conf(tmp_path, FILES), deployed={"bronze": "main.dev"})
    table, connector = conf.tables[0], conf.connectors[0]
    of_table = [
        getattr(names, name)(table) for name in vars(names) if name.endswith("_dataset") and _takes(name, TableSpec)
    ]
    assert {name.rpartition(".")[0] for name in of_table} == {"main.dev", "shop_silver", "sales.orders"}
    assert [
        names.event_records_dataset(connector, "heartbeats"),
        names.events_dataset(connector, "heartbeats"),
        names.event_view_dataset(connector, "liveness"),
        names.findings_dataset(connector),
        names.gaps_dataset(connector),
    ] == [
        "main.dev.shop_heartbeats",
        "shop_silver.shop_heartbeats",
        "shop_gold.shop_liveness",
        "shop_gold.shop_findings",
        "shop_gold.shop_gaps",
    ]


def _takes(function: str, of_type: type) -> bool:
    return of_type in getattr(names, function).__annotations__.values()


def test_tables_of_one_name_in_two_schemas_share_no_flow_or_view(tmp_path: Path) -> None:
    files = {
        **{f"connectors/{name}.yml": f"topic_prefix: {name}\ntarget_schemas: {_own(name)}\n" for name in ("eu", "us")},
        **{f"tables/{name}/orders.yml": TABLE for name in ("eu", "us")},
    }
    eu, us = load_conf(write_conf(tmp_path, files)).tables
    for name_of in (
        names.applied_changes_view,
        names.replayed_changes_flow,
        lambda table: names.replay_flow(table, "1"),
    ):
        assert name_of(eu) != name_of(us)


def _own(connector: str) -> str:
    return f"{{bronze: {connector}_raw, silver: {connector}_silver, gold: {connector}_gold}}"


def test_an_empty_setting_is_not_set_and_a_bad_one_is_refused() -> None:
    assert deployed_schemas({"cdc.schemas.gold": "", "cdc.schemas.bronze": None}) == {}
    with pytest.raises(BadSchemaSetting) as refused:
        deployed_schemas({"cdc.schemas.gold": "dev-anna"})
    assert str(refused.value) == (
        "BAD_SCHEMA_SETTING  cdc.schemas.gold\n  `dev-anna` is not the name of a schema\n"
        "  fix: write `schema` or `catalog.schema` in lower-case letters, digits and underscores; Spark reserves"
        " `live`, `global_temp` and `information_schema`."
    )


@pytest.mark.parametrize("schema", ["live", "main.live", "Gold", "a.b.c", "a-b", "2a", ""])
def test_what_is_no_schema_is_a_fault(tmp_path: Path, schema: str) -> None:
    (fault,) = one_faulty(tmp_path, f'{TABLE}target_schemas: {{gold: "{schema}"}}\n').faults
    assert (fault.condition.name, str(fault.location).rpartition("orders.yml:")[2]) == ("BAD_DATASET_NAME", "4:24")


def test_layers_in_one_schema_are_a_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_conf(Path("conf"), {"tables/shop/orders.yml": TABLE})
    (fault,) = read_conf("conf", deployed={"bronze": "dev", "silver": "dev"}).faults
    assert str(fault) == (
        "DUPLICATE_TABLE_NAME  conf/tables/shop/orders.yml:1:8   table shop.dbo.orders\n"
        "  `orders` would write dev.orders twice: its layers are in the schemas bronze: dev, silver: dev, gold: gold\n"
        "  fix: give each layer a schema of its own: in `target_schemas` of table, connector or defaults.yml, or in the"
        " pipeline's settings `cdc.schemas.<layer>`."
    )
    assert not read_conf("conf", deployed={"bronze": "dev", "silver": "dev_silver"}).faults


def test_show_says_where_each_schema_and_property_comes_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    more = "table_properties: {gold: {delta.logRetentionDuration: interval 9 days}, x: 1}\n"
    write_conf(
        Path("conf"),
        {
            **FILES,
            "tables/shop/orders.yml": FILES["tables/shop/orders.yml"] + more,
            "connectors/shop.yml": FILES["connectors/shop.yml"]
            + "table_properties: {x: 2, bronze: {y: true}}\nretention: {bronze: 2 weeks}\n",
        },
    )
    options = ["--format", "json", "--set", "cdc.schemas.silver=dev_silver"]
    found = json.loads(CliRunner().invoke(cdc, ["show", "orders", *options], catch_exceptions=False).output)
    shown = {
        each["field"]: (each["value"], each["origin"])
        for each in found
        if each["field"].startswith(("target_schemas", "table_properties", "retention"))
    }
    own, shop = "conf/tables/shop/orders.yml", "conf/connectors/shop.yml"
    assert shown == {
        "target_schemas.bronze": ("raw", "conf/defaults.yml:1:26"),
        "target_schemas.silver": ("dev_silver", "cdc.schemas.silver"),
        "target_schemas.gold": ("sales.orders", f"{own}:4:24"),
        "table_properties.bronze.x": ("1", f"{own}:5:76"),
        "table_properties.bronze.y": ("true", f"{shop}:3:38"),
        "table_properties.silver.x": ("1", f"{own}:5:76"),
        "table_properties.gold.x": ("1", f"{own}:5:76"),
        "table_properties.gold.delta.logRetentionDuration": ("interval 9 days", f"{own}:5:55"),
        "retention.bronze": ("2 weeks", f"{shop}:4:21"),
        "retention.changes": ("forever", "built-in default"),
    }


def test_retention_of_the_nearest_file_wins_one_by_one(tmp_path: Path) -> None:
    files = {
        "defaults.yml": "retention: {bronze: 30 days, changes: 1 week}\n",
        "connectors/shop.yml": "topic_prefix: p\nretention: {bronze: forever}\n",
        "tables/shop/orders.yml": f"{TABLE}retention: {{changes: 400 days}}\n",
    }
    (table,) = load_conf(write_conf(tmp_path, files)).tables
    assert (table.retention, table.connector.retention) == (Retention(None, 400), Retention(None, 7))
    assert retention.of_records(table) == {}
    assert retention.of_changes(table) == {
        "rows.expired": "_recorded_at < date_trunc('DAY', current_timestamp()) - INTERVAL 400 DAYS",
        "pipelines.reset.allowed": "false",
    }


def test_a_workspace_deletes_what_is_not_kept(tmp_path: Path) -> None:
    files = {
        "connectors/shop.yml": "topic_prefix: p\ntopics: {heartbeat: true}\nretention: {bronze: 1 week}\n",
        "tables/shop/orders.yml": f"{TABLE}target_schemas: {{bronze: main.raw}}\n",
    }
    conf = load_conf(write_conf(tmp_path, files))
    past = "date_trunc('DAY', current_timestamp()) - INTERVAL 7 DAYS"
    assert list(retention.deletions(conf.tables, conf.connectors)) == [
        f"DELETE FROM main.raw.orders WHERE timestamp < {past}",
        f"DELETE FROM bronze.shop_heartbeats WHERE timestamp < {past}",
    ]


@pytest.mark.parametrize("time", ["0 days", "90", "12 hours", "-1 days", "'90 days ago'"])
def test_what_is_no_number_of_days_is_a_fault(tmp_path: Path, time: str) -> None:
    (fault,) = one_faulty(tmp_path, f"{TABLE}retention: {{bronze: {time}}}\n").faults
    assert str(fault.location).rpartition("orders.yml:")[2] == "4:21"
    assert fault.condition.name in ("BAD_VALUE", "WRONG_KIND")


def test_only_settings_that_decide_names_are_options() -> None:
    done = CliRunner().invoke(cdc, ["show", "orders", "--set", "cdc.schema.gold=marts"])
    assert done.output == (
        "Error: BAD_SCHEMA_SETTING  --set cdc.schema.gold=marts\n"
        "  it does not name the schema of a layer (did you mean `cdc.schemas.gold`?)\n"
        "  fix: write NAME=VALUE; these settings decide names: cdc.schemas.bronze, cdc.schemas.silver,"
        " cdc.schemas.gold.\n"
    )


def test_properties_are_those_of_table_connector_and_defaults(tmp_path: Path) -> None:
    files = {
        "defaults.yml": "table_properties: {a: 1, b: 1, silver: {c: 1}}\n",
        "connectors/shop.yml": "topic_prefix: s\ntable_properties: {b: 2, bronze: {d: 2}}\n",
        "tables/shop/orders.yml": f"{TABLE}table_properties: {{gold: {{b: 3}}}}\n",
    }
    conf = load_conf(write_conf(tmp_path, files))
    (table,), (connector,) = conf.tables, conf.connectors
    origin = {"rows.origin": "rows of shop.dbo.orders by connector shop"}
    assert properties.of_dataset(table, "gold", "rows") == {"a": "1", "b": "3"} | origin
    assert table.table_properties.of("silver") == {"a": "1", "b": "2", "c": "1"}
    assert properties.of_connector(connector, "bronze") == {"a": "1", "b": "2", "d": "2"}


def test_tables_that_differ_only_in_the_catalog_are_refused_locally() -> None:
    registry = Registry("default", None)  # type: ignore[arg-type]
    with registration(registry):
        create_streaming_table("main.silver.orders")
        create_streaming_table("hr.people.orders")
        with pytest.raises(DeclarationError, match="CATALOGS_NOT_SEPARATE") as refused:
            create_streaming_table("hr.silver.orders")
    lines = str(refused.value).splitlines()
    assert lines[1].startswith("  hr.silver.orders and main.silver.orders would be one table (")
    assert lines[1].endswith("): here the storage folder is the only catalog")
    assert lines[2] == "  fix: give them different schemas, for this pipeline at least"
