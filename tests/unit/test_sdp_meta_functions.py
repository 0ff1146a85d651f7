"""The functions for sdp-meta's custom transforms: the same frames as `decode` and `changes`, on captured records."""

import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from tests.support.conf_folder import one_table, write_conf
from tests.support.records import Topic, frame

from cdc import changes, decode, expectations, load_tables
from cdc.interop.export import Wanted, export
from cdc.interop.sdp_meta import UnknownDataFlow, changes_in_silver, decode_bronze, flow_ids
from cdc.records import records_of_lines
from cdc.spec.load import read_conf
from cdc.spec.model import TableSpec

ROOT = Path(__file__).parents[2]
OF_SDP_META = ("to_date(timestamp) AS date", "hour(timestamp) AS hour", "minute(timestamp) AS minute")
"""Columns that it adds to the records."""
TABLE = """\
table: shop.dbo.orders
key: [id]
columns: {id: int, region: nvarchar(2), total: int, odd name: {type: int, rename: größe}}
filter: region = 'EU'
computed: {double: total * 2}
expectations:
  counted: total > 1
  dropped: {condition: total > 2, action: drop}
  quarantined: {condition: double > 6, action: quarantine}
  quarantined_too: {condition: total <> 9, action: quarantine}
  failed: {condition: total < 50, action: fail}
"""


def spec(flow: str) -> SimpleNamespace:
    return SimpleNamespace(dataFlowId=flow, sourceFormat="kafka")


def rows(found: DataFrame) -> list[str]:
    """Every row, whatever its types; maps can be neither compared nor sorted."""
    return sorted(row[0] for row in found.select(F.to_json(F.struct("*"))).collect())


@pytest.fixture(scope="module")
def captured(spark: SparkSession) -> DataFrame:
    return spark.read.text(str(ROOT / "demo/captures"), pathGlobFilter="*.jsonl").select("value", "_metadata.file_path")


@pytest.mark.parametrize("name", ["orders", "products"])
def test_on_captured_records_the_frames_are_those_of_decode_and_changes(captured: DataFrame, name: str) -> None:
    tables = load_tables(ROOT / "conf")
    table = next(each for each in tables if each.name == name)
    records = records_of_lines(captured, table.topic)
    bronze = decode_bronze(tables)(records.selectExpr("*", *OF_SDP_META), spec(f"shop_{name}"))
    decoded = decode(records, table)
    assert bronze.schema == decoded.schema
    outcomes = rows(decoded)
    assert len(outcomes) > 20
    assert rows(bronze) == outcomes
    silver, expected = changes_in_silver(tables)(bronze, spec(f"shop_{name}")), changes(decoded, table)
    assert silver.schema == expected.schema
    assert rows(silver) == rows(expected)


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> TableSpec:
    return one_table(tmp_path_factory.mktemp("conf"), TABLE)


@pytest.fixture(scope="module")
def decoded(spark: SparkSession, table: TableSpec) -> Iterator[DataFrame]:
    topic = Topic(table.topic)

    def row(id: int, total: int | None, region: str = "EU") -> dict[str, object]:
        return {"id": id, "region": region, "total": total, "odd name": 1}

    records = [
        *(topic.create(**row(number, number)) for number in range(11)),
        topic.create(**row(20, None)),
        topic.create(**row(21, 1, region="US")),
        topic.update(**row(22, 60)),
        topic.delete(**row(5, 1)),
        topic.tombstone(id=5),
        topic.create(**row(23, 5)).with_text("{"),
        topic.create(**{**row(24, 5), "total": "x"}),
    ]
    found = decode(frame(spark, records), table).cache()
    yield found
    found.unpersist()


def files(table: TableSpec, folder: Path) -> dict[str, object]:
    conf = read_conf(write_conf(folder, {"tables/shop/orders.yml": TABLE}))
    exported = export(conf, Wanted("dev", "there", "json", {}))
    assert [each.source for each in exported.tables] == [table.source]
    return {name: json.loads(text) for name, text in exported.files.items()}


def test_the_exported_transformation_selects_the_changes(tmp_path: Path, decoded: DataFrame, table: TableSpec) -> None:
    (entry,) = files(table, tmp_path)["silver_transformations.json"]  # type: ignore[misc, attr-defined]
    (where,) = entry["where_clause"]
    expected = rows(changes(decoded, table))
    assert rows(decoded.selectExpr(*entry["select_exp"]).where(where)) == expected
    assert rows(decoded.where(where).selectExpr(*entry["select_exp"])) == expected


def test_the_exported_rules_count_what_ours_count(tmp_path: Path, decoded: DataFrame, table: TableSpec) -> None:
    rules = files(table, tmp_path)["expectations/shop_orders.json"]
    assert isinstance(rules, dict)

    def violations(frame: DataFrame, conditions: dict[str, str]) -> dict[str, int]:
        counts = {name: F.count_if(~F.coalesce(F.expr(sql), F.lit(False))) for name, sql in conditions.items()}
        (found,) = frame.agg(*(count.alias(name) for name, count in counts.items())).collect()
        return dict(found.asDict())

    ours = changes(decoded, table)
    (no_reject,) = rules["expect"].keys() - table.expectations.keys()
    warned = violations(decoded, rules["expect"])
    assert warned.pop(no_reject) == decoded.where("_outcome = 'reject'").count() == 8
    assert warned == violations(ours, expectations(table, "warn")) == {"counted": 2}
    assert (
        violations(decoded, rules["expect_or_drop"]) == violations(ours, expectations(table, "drop")) == {"dropped": 0}
    )
    assert (
        violations(decoded, rules["expect_or_fail"]) == violations(ours, expectations(table, "fail")) == {"failed": 1}
    )
    # Of rules on bad rows sdp-meta keeps those that meet all: each is met by every quarantined change.
    bad = " AND ".join(f"({sql})" for sql in rules["expect_or_quarantine"].values())
    assert len(rules["expect_or_quarantine"]) == 2
    assert rows(decoded.where(bad)) == rows(decoded.where("_reason = 'QUARANTINED'"))
    assert decoded.where(bad).count() == 6


def test_flows_that_no_export_wrote_are_named(spark: SparkSession) -> None:
    tables = load_tables(ROOT / "conf")
    records = frame(spark, [])
    named = {"100": "shop.dbo.orders", "200": None}
    assert "order_id" in decode_bronze(tables, named)(records, spec("100")).columns
    assert decode_bronze(tables, named)(records, spec("200")) is records
    with pytest.raises(UnknownDataFlow, match="data_flow_id 300"):
        decode_bronze(tables, named)(records, spec("300"))
    with pytest.raises(UnknownDataFlow, match=r"did you mean `shop\.dbo\.orders`"):
        decode_bronze(tables, {"100": "shop.dbo.order"})


def test_every_table_has_an_id_of_its_own(tmp_path: Path) -> None:
    orders = "table: shop.{}.orders\nkey: [id]\ncolumns: {{id: int}}\n"
    there = "target_schemas: {bronze: b, silver: s, gold: g}\n"
    specs = {"tables/shop/a.yml": orders.format("dbo"), "tables/shop/b.yml": orders.format("eu") + there}
    assert list(flow_ids(load_tables(write_conf(tmp_path, specs)))) == ["shop_orders", "shop_s_orders"]
