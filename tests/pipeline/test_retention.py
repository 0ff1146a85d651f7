"""Retention: rows expire once they have been read, what was made from them stays, and is not built from the rest."""

import time
from collections.abc import Iterable
from pathlib import Path

import pytest
from click.testing import CliRunner
from delta.tables import DeltaTable
from demo import notebook
from demo import shop as shop_files
from pyspark.sql import SparkSession
from tests.support.cdc_pipeline import CdcPipeline
from tests.support.records import Record, Topic
from tests.support.small_pipeline import ROWS, SmallPipeline
from tools import captures

from cdc.__main__ import cdc
from dlt_local import UpdateFailed
from dlt_local.updates import expiry

ORDERS = Topic("p.shop.dbo.orders", key=("id",))
SPEC = "table: shop.dbo.orders\nkey: [id]\ncolumns: {id: int not null, total: int}\n"
KEPT = "retention: {bronze: 30 days, changes: 30 days}\n"
ACCEPTED = {"dlt_local.accept_expired": "bronze.orders"}
OLD = [ORDERS.create(id=1, total=1).at("2f:1:1"), ORDERS.create(id=2, total=2).at("2f:2:1")]
NEW = [ORDERS.update(id=1, total=10).at("30:1:1"), ORDERS.create(id=3, total=3).at("30:2:1")]
AGAIN = [ORDERS.read(id=key, total=total).at("31:1:1") for key, total in ((1, 10), (2, 2), (3, 3))]
"""All rows, by a new snapshot."""


class Shop(CdcPipeline):
    """The orders; records arrive with a timestamp of long ago, or of now."""

    def __init__(self, folder: Path, spark: SparkSession, spec: str) -> None:
        super().__init__(folder, spark, _conf(spec))

    def deliver_now(self, records: Iterable[Record]) -> None:
        """Let records arrive that were written just now."""
        now, first = int(time.time() * 1000), 100 * self._files
        self.deliver(
            captures.Record(r.topic, 0, first + n, now, (), r.key_bytes, r.value_bytes) for n, r in enumerate(records)
        )

    def specify(self, spec: str) -> None:
        self.configure(_conf(spec))

    def count(self, dataset: str) -> int:
        return self.pipeline().table(dataset).count()

    def outcomes(self) -> int:
        """The rows of the private table of outcomes."""
        folder = self.folder / "storage/system/private/silver/orders_decoded"
        return DeltaTable.forPath(self.spark, str(folder)).toDF().count()

    def gold(self) -> list[tuple[object, ...]]:
        return self.rows("gold.orders_history", "id", "total", "version", "is_current")


def _conf(spec: str) -> dict[str, str]:
    return {"connectors/shop.yml": "topic_prefix: p\n", "tables/shop/orders.yml": spec}


def test_expired_records_and_changes_are_gone_and_their_rows_stay(spark: SparkSession, tmp_path: Path) -> None:
    shop, other = Shop(tmp_path / "kept", spark, SPEC + KEPT), Shop(tmp_path / "all", spark, SPEC)
    for each in (shop, other):
        each.deliver(OLD)
        each.update()
        each.deliver_now(NEW)
        each.update()
    assert shop.gold() == other.gold() != []
    datasets = ("bronze.orders", "silver.orders_changes", "silver.orders")
    assert [[each.count(dataset) for dataset in datasets] for each in (shop, other)] == [[2, 2, 4], [4, 4, 4]]
    assert (shop.outcomes(), other.outcomes()) == (2, 4)

    # The streams pass over what was deleted when the setting is gone as well.
    shop.specify(SPEC)
    shop.deliver_now([ORDERS.delete(id=3).at("32:1:1")])
    shop.update()
    assert shop.rows("gold.orders", "id", "total") == [(1, 10), (2, 2)]


def test_a_table_is_not_built_from_what_is_left_unless_that_is_accepted(spark: SparkSession, tmp_path: Path) -> None:
    shop = Shop(tmp_path / "kept", spark, SPEC + KEPT)
    shop.deliver(OLD)
    shop.update()
    edited = SPEC.replace("total: int", "total: {type: int, rename: amount}")
    shop.specify(edited + KEPT)
    planned = CliRunner().invoke(cdc, ["plan", str(shop.folder / "conf"), "--storage", str(shop.folder / "storage")])
    assert "take `retention` out of its spec for that" in planned.output
    assert "then add --set dlt_local.accept_expired=bronze.orders" in planned.output
    for spec, refused in ((edited + KEPT, "RESET_NOT_ALLOWED"), (edited, "ROWS_EXPIRED")):
        shop.specify(spec)
        with pytest.raises(UpdateFailed, match=refused):
            shop.pipeline().run(rebuild=["orders"])
    assert shop.rows("gold.orders", "id", "total") == [(1, 1), (2, 2)]
    shop.deliver_now(AGAIN)
    accepting = shop.pipeline()
    accepting.configuration = {**accepting.configuration, **ACCEPTED}
    with pytest.raises(UpdateFailed, match="ROW_DEFINITION_CHANGED"):
        shop.update()
    accepting.run(rebuild=["orders"])
    assert shop.rows("gold.orders", "id", "amount") == [(1, 10), (2, 2), (3, 3)]


def test_a_dataset_that_is_new_is_not_built_from_what_is_left(spark: SparkSession, tmp_path: Path) -> None:
    shop = Shop(tmp_path / "kept", spark, SPEC + KEPT)
    shop.deliver(OLD)
    shop.update()
    with pytest.raises(
        UpdateFailed, match=r"ROWS_EXPIRED(.|\n)*silver\.orders_drift would be built from silver\.orders_dec"
    ):
        shop.update(drift="true")


def test_the_notebook_deletes_the_same_in_a_workspace(spark: SparkSession, tmp_path: Path) -> None:
    shop = Shop(tmp_path / "kept", spark, SPEC)
    shop.deliver(OLD)
    shop.deliver_now(NEW)
    shop.update()
    shop.specify(SPEC + KEPT)
    given = {"conf": str(shop.folder / "conf"), "schemas": "gold=marts"}
    notebook.run(shop_files.CHECKOUT / "notebooks/expire_rows.py", shop.folder / "storage", spark, given)
    datasets = ("bronze.orders", "silver.orders_changes", "silver.orders")
    assert [shop.count(dataset) for dataset in datasets] == [2, 2, 4]


SMALL = f"""
    import dlt

    @dlt.table(table_properties={{"rows.expired": "CONDITION", "pipelines.reset.allowed": "false"}})
    def raw():
        return {ROWS}

    @dlt.table
    def one():
        return spark.readStream.option("skipChangeCommits", "true").table("raw")

    @dlt.view
    def passing():
        return spark.readStream.option("skipChangeCommits", "true").table("raw")

    @dlt.table
    def two():
        return spark.readStream.table("passing")
"""


def test_rows_stay_until_everything_has_read_them(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(expiry, "_today", lambda now: {"expired_on": "2026-11-23"})
    small = SmallPipeline(tmp_path, spark, SMALL.replace("CONDITION", "id < 10"))
    small.drop({"id": 1, "name": "a"}, {"id": 10, "name": "b"})
    small.pipeline.run(refresh=["raw", "one"])
    assert len(small.table("raw")) == 2
    small.pipeline.run()
    assert [row["id"] for row in small.table("raw")] == [10]
    # Once a day.
    small.drop({"id": 2, "name": "c"})
    small.pipeline.run()
    assert [row["id"] for row in small.table("raw")] == [10, 2]
    assert [len(small.table(name)) for name in ("one", "two")] == [3, 3]


def test_a_condition_that_is_no_sql_keeps_all_rows(spark: SparkSession, tmp_path: Path) -> None:
    small = SmallPipeline(tmp_path, spark, SMALL.replace("CONDITION", "idd < 10"))
    small.drop({"id": 1, "name": "a"})
    small.pipeline.run()
    assert len(small.table("raw")) == 1
    (message,) = (
        row["message"] for row in small.pipeline.event_log().where("event_type = 'maintenance_progress'").collect()
    )
    assert "Maintenance of default.raw failed" in message
    assert "idd" in message
