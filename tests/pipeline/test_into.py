"""Several sources into one target: it has the rows of all of them, whatever the order, kills and rebuilds."""

from pathlib import Path

import pytest
from click.testing import CliRunner
from pyspark.sql import SparkSession
from tests.support.cdc_pipeline import CdcPipeline
from tests.support.crash import die_at
from tests.support.records import Record, Topic

from cdc.__main__ import cdc

EU, US, EAST = (Topic(f"{name}.orders") for name in ("shopserver.shop.eu", "shopserver.shop.us", "east.shop.dbo"))
ALL = {"connector": ""}
"""Setting: the tables of all connectors."""


def spec(table: str, source: str) -> str:
    into = f"into: {{table: orders, source: {source}, column: region}}"
    return f"table: {table}\nkey: [id]\ncolumns: {{id: int, n: nvarchar(9)}}\n{into}\n"


CONF = {"tables/shop/eu.yml": spec("shop.eu.orders", "eu"), "tables/shop/us.yml": spec("shop.us.orders", "us")}
EAST_CONF = {
    "connectors/east.yml": "topic_prefix: east\n",
    "tables/east/orders.yml": spec("shop.dbo.orders", "east"),
}
# The positions of one source say nothing about those of another: us is always behind eu.
ROUNDS: list[list[Record]] = [
    [
        EU.create(id=1, n="a").at("50:1:1"),
        EU.update(id=1, n="b").at("50:2:1"),
        EU.create(id=2, n="x").at("50:3:1"),
        US.create(id=1, n="A").at("10:1:1"),
        US.delete(id=1, n="A").at("10:2:1"),
        US.create(id=3, n="Z").at("10:3:1"),
    ],
    [EU.delete(id=2, n="x").at("51:1:1"), US.create(id=1, n="B").at("11:1:1"), US.update(id=3, n="Y").at("11:3:1")],
    [EU.update(id=1, n="c").at("52:1:1"), US.update(id=3, n="late").at("11:2:1")],
    [US.delete(id=1, n="B").at("12:1:1")],
]
HISTORY = [
    ("eu", 1, "a", 1, False),
    ("eu", 1, "b", 2, False),
    ("eu", 1, "c", 3, True),
    ("eu", 2, "x", 1, False),
    ("us", 1, "A", 1, False),
    ("us", 1, "B", 2, False),
    ("us", 3, "Y", 3, True),
    ("us", 3, "Z", 1, False),
    ("us", 3, "late", 2, False),
]
ROWS = [("eu", 1, "c"), ("us", 3, "Y")]
OF_EAST = ("east", 1, "e", 1, True)


def history(pipeline: CdcPipeline) -> list[tuple[object, ...]]:
    return pipeline.rows("gold.orders_history", "region", "id", "n", "version", "is_current")


def rows(pipeline: CdcPipeline) -> list[tuple[object, ...]]:
    return pipeline.rows("gold.orders", "region", "id", "n")


def planned(pipeline: CdcPipeline) -> str:
    folder = pipeline.folder
    done = CliRunner().invoke(cdc, ["plan", str(folder / "conf"), "--storage", str(folder / "storage")])
    return done.output


@pytest.fixture(scope="module")
def killed(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> CdcPipeline:
    """All rounds, with one flow's batch interrupted, then the other's while the first has something new."""
    pipeline = CdcPipeline(tmp_path_factory.mktemp("into"), spark, CONF)
    pipeline.deliver(ROUNDS[0])
    pipeline.update()
    for records, fault in zip(ROUNDS[1:], ("cdc.between:2", "cdc.after", None), strict=True):
        pipeline.deliver(records)
        if fault:
            _kill(pipeline, fault)
    pipeline.update()
    return pipeline


def _kill(pipeline: CdcPipeline, fault: str) -> None:
    made = pipeline.pipeline()
    settings = [("--set", f"{name}={value}") for name, value in made.configuration.items()]
    sources = [("--source", source) for source in made.sources[1:]]
    arguments = [part for pair in (*sources, *settings, ("--root-path", str(made.root_path))) for part in pair]
    die_at(Path(made.sources[0]), made.storage.root, fault, tuple(arguments))


def test_killed_or_not_and_in_whatever_batches_the_target_has_the_versions_of_both(
    killed: CdcPipeline, spark: SparkSession, tmp_path: Path
) -> None:
    assert (history(killed), rows(killed)) == (HISTORY, ROWS)
    at_once = CdcPipeline(tmp_path, spark, CONF)
    at_once.deliver(record for records in ROUNDS for record in records)
    update = at_once.update()
    assert (history(at_once), rows(at_once)) == (HISTORY, ROWS)
    assert {"orders_eu_into_orders", "orders_us_into_orders"} == set(update["silver.orders"].flows)
    assert {each.name for each in update.datasets} >= {
        *("bronze.orders_eu", "silver.orders_eu_changes", "silver.orders_eu_rejects"),
        *("bronze.orders_us", "silver.orders_us_changes", "silver.orders_us_rejects"),
    }


def test_a_source_is_added_without_a_rebuild_and_removed_with_its_rows_kept(killed: CdcPipeline) -> None:
    assert planned(killed) == "orders_eu: unchanged\norders_us: unchanged\n"
    killed.configure(EAST_CONF)
    killed.deliver([EAST.create(id=1, n="e").at("1:1:1")])
    assert planned(killed) == "orders_east: new, or not built yet\norders_eu: unchanged\norders_us: unchanged\n"
    killed.update(**ALL)
    assert history(killed) == [OF_EAST, *HISTORY]

    (killed.folder / "conf" / "tables" / "shop" / "us.yml").unlink()
    assert planned(killed) == (
        "orders_east: unchanged\norders_eu: unchanged\n"
        "silver.orders: source us (shop.us.orders) has no spec any more\n"
        "    its rows stay as they are; a rebuild of orders removes them\n"
    )
    killed.deliver([EU.create(id=9, n="i").at("60:1:1"), US.create(id=9, n="i").at("60:1:1")])
    assert killed.update(**ALL).state == "COMPLETED"
    of_nine = ("eu", 9, "i", 1, True)
    assert history(killed) == sorted([OF_EAST, *HISTORY, of_nine], key=repr)

    killed.pipeline(**ALL).run(rebuild=["orders"])
    of_us = [row for row in HISTORY if row[0] == "us"]
    assert history(killed) == sorted({OF_EAST, *HISTORY, of_nine} - set(of_us), key=repr)
    killed.configure(CONF)
    killed.update(**ALL)
    assert history(killed) == sorted([OF_EAST, *HISTORY, of_nine, ("us", 9, "i", 1, True)], key=repr)
