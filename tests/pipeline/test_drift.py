"""Source drift: what the records and the specs differ in is listed, however they arrive, until the specs follow."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from pyspark.sql import SparkSession
from tests.support.cdc_pipeline import CdcPipeline
from tests.support.records import Record, Topic

from cdc.__main__ import cdc
from dlt_local import Update, UpdateFailed
from dlt_local.observability.progress import Silent

CONF = {
    "connectors/shop.yml": "{topic_prefix: shopserver, topics: {schema_changes: true}}",
    "tables/shop/orders.yml": """
        table: shop.dbo.orders
        key: [id]
        columns:
          id: int not null
          customer: {type: nvarchar(20) not null, mask: redacted}
          note: nvarchar(50)
          total: decimal(18,2)
    """,
}
orders = Topic("shopserver.shop.dbo.orders")
ROW = {"customer": "Ada", "note": None, "total": "AMg="}
COMPARE = "python -m cdc scaffold --connector shop --capture <folder>"


def schema_change(table: str, columns: dict[str, tuple[str, int, int, bool]], key: tuple[str, ...]) -> Record:
    described = [
        {"name": name, "typeName": type_, "length": length, "scale": scale, "optional": optional}
        for name, (type_, length, scale, optional) in columns.items()
    ]
    change = {"type": "ALTER", "id": f'"shop"."dbo"."{table}"'}
    described_table = {"primaryKeyColumnNames": list(key), "columns": described}
    value = {"source": {"name": "shopserver"}, "tableChanges": [{**change, "table": described_table}]}
    return Record("shopserver", {"databaseName": "shop"}, value)


ID, NAME = ("int identity", 10, 0, False), ("nvarchar", 20, 0, True)
FIRST = [
    orders.create(id=1, **ROW),
    orders.create(id=2, **ROW, discount="AJY="),
    orders.create(id=3, customer="Bob", total="AMg="),
]
SECOND = [
    orders.update(id=2, **ROW, discount="AJY="),
    orders.create(id=4, **{**ROW, "total": "12.50 EUR"}),
    orders.create(id=5, **{**ROW, "customer": None}),
    orders.create(id=6, **ROW).with_key({"id": 6, "region": "EU"}),
    schema_change("orders", {"id": ID, "customer": NAME, "total": ("decimal", 18, 4, True)}, ("id",)),
    schema_change("coupons", {"code": NAME, "rate": ("int", 10, 0, True)}, ("code",)),
    schema_change(
        "orders",
        {"id": ID, "customer": NAME, "total": ("decimal", 18, 4, True), "discount": ("decimal", 9, 2, True)},
        ("id",),
    ),
    # The connector restarts, and delivers two records again.
    *FIRST[1:],
]

LISTED = [
    ("shop.dbo.coupons", "new table", None, None, "[code, rate]", "[1]", "[1]", f"{COMPARE} --update"),
    *(
        ("shop.dbo.orders", *rest)
        for rest in [
            (
                *("column added", "discount", None, "decimal(9,2)", "[1]", "[7]"),
                'columns: {discount: {type: "decimal(9,2)", on_missing: as_null}}',
            ),
            (
                *("column gone", "note", "nvarchar(50)", None, "[2]", "[8]"),
                "columns: {note: {on_missing: as_null}}",
            ),
            ("key changed", None, "[id]", "[id, region]", "[6]", "[6]", "key: [id, region]"),
            (
                *("other nullability", "customer", "nvarchar(20) not null", "nvarchar(20)", "[5]", "[5]"),
                'columns: {customer: {type: "nvarchar(20)"}}',
            ),
            (
                *("other type", "total", "decimal(18,2)", "decimal(18,4)", "[4]", "[4]"),
                'columns: {total: {type: "decimal(18,4)"}}',
            ),
        ]
    ),
]
OFFSETS = ("first_record", "last_record")


class Recorded(Silent):
    """Keeps what an update has to say."""

    def __init__(self) -> None:
        self.notices: list[str] = []

    def notice(self, text: str) -> None:
        self.notices.append(text)


def listed(pipeline: CdcPipeline) -> list[tuple[Any, ...]]:
    """The rows of the table; records by their offset."""
    offset = [f"concat('[', split_part({name}, '@', 2), ']')" for name in OFFSETS]
    columns = ("table", "kind", "field", "expected", "found", *offset, "to_do")
    return pipeline.rows("gold.shop_drift", *columns, drift="true")


def updated(pipeline: CdcPipeline, *rebuild: str) -> tuple[Update, list[str]]:
    running = pipeline.pipeline(drift="true")
    running.progress = recorded = Recorded()
    return running.run(rebuild=list(rebuild)), recorded.notices


@pytest.fixture(scope="module")
def drifting(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> tuple[CdcPipeline, list[list[str]]]:
    """A pipeline after two updates, and what each said of drift."""
    pipeline = CdcPipeline(tmp_path_factory.mktemp("drift"), spark, CONF)
    said = []
    for batch in (FIRST, SECOND):
        pipeline.deliver(batch)
        said.append([notice for notice in updated(pipeline)[1] if "compare" in notice or "shop_drift" in notice])
    return pipeline, said


def test_each_kind_of_drift_is_listed_with_its_records_and_lines(
    drifting: tuple[CdcPipeline, list[list[str]]],
) -> None:
    assert listed(drifting[0]) == LISTED


def test_each_update_says_what_its_new_records_show(drifting: tuple[CdcPipeline, list[list[str]]]) -> None:
    topic = orders.name
    first, second = drifting[1]
    assert sorted(first) == [
        "gold.shop_drift: 2 new rows = 2 shop.dbo.orders (column added: discount 1, column gone: note 1)",
        f"silver.orders_decoded: column added: discount (1 new row, first {topic}[0]@1), column gone: note"
        f" (1 new row, first {topic}[0]@2); compare: {COMPARE} --diff",
    ]
    assert sorted(second) == [
        "gold.shop_drift: 4 new rows = 1 shop.dbo.coupons (new table 1) + 3 shop.dbo.orders (key changed 1,"
        " other nullability: customer 1, other type: total 1)",
        f"silver.orders_decoded: column added: discount (2 new rows, first {topic}[0]@1), column gone: note"
        f" (1 new row, first {topic}[0]@2), key changed (1 new row, first {topic}[0]@6), other nullability: customer"
        f" (1 new row, first {topic}[0]@5), other type: total (1 new row, first {topic}[0]@4);"
        f" compare: {COMPARE} --diff",
    ]


def test_the_same_records_in_one_update_give_the_same_rows(spark: SparkSession, tmp_path: Path) -> None:
    pipeline = CdcPipeline(tmp_path, spark, CONF)
    pipeline.deliver([*FIRST, *SECOND])
    updated(pipeline)
    assert listed(pipeline) == LISTED
    # Nothing of it costs an update without drift more than reading its new records.
    pipeline.deliver([orders.create(id=9, **ROW)])
    again, said = updated(pipeline)
    (of_drift,) = again["silver.orders_drift"].flows.values()
    assert of_drift.cdc is not None and of_drift.cdc.num_upserted_rows == 0
    assert [notice for notice in said if "compare" in notice] == []
    assert listed(pipeline) == LISTED


def test_specs_that_follow_the_source_and_a_rebuild_end_the_drift(
    drifting: tuple[CdcPipeline, list[list[str]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    pipeline, _ = drifting
    monkeypatch.chdir(pipeline.folder)
    words = COMPARE.replace("<folder>", str(pipeline.landing)).split()[3:]
    edited = cli(*words, "--update")
    assert edited.exit_code == 0, edited.output
    assert cli("check", "conf").exit_code == 0
    # The next run builds the new table, and names the one to rebuild.
    with pytest.raises(UpdateFailed, match=r"(?s)ROW_DEFINITION_CHANGED.*--rebuild"):
        updated(pipeline)
    updated(pipeline, "orders")
    # What no spec can say is left: records with another key, and a value that is no decimal.
    assert [row[1:3] for row in listed(pipeline)] == [("key changed", None), ("other type", "total")]
    values = pipeline.rows("gold.orders", "id", "discount", where="discount IS NOT NULL")
    assert [(key, str(discount)) for key, discount in values] == [(2, "1.50")]


def cli(*words: str) -> Result:
    return CliRunner().invoke(cdc, list(words))


def test_no_value_of_a_column_is_in_the_list(drifting: tuple[CdcPipeline, list[list[str]]]) -> None:
    pipeline, _ = drifting
    rows = pipeline.rows("silver.orders_drift", "to_json(struct(*))", drift="true")
    assert rows
    assert not [text for text in json.dumps(rows).split() if "EUR" in text or "Ada" in text or "Bob" in text]
