"""After a restore of the source, lower log sequence numbers win over higher ones of before, in a rebuild too."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.support.cdc_pipeline import CdcPipeline
from tests.support.records import Record, Topic
from tools import captures

from dlt_local import UpdateFailed

TABLE = "{table: shop.dbo.orders, key: [id], columns: {id: int not null, status: nvarchar(20)}}"
orders = Topic("shopserver.shop.dbo.orders", key=("id",))
RESTORED = datetime(2026, 5, 1, 12, tzinfo=UTC)


def recorded(record: Record, offset: int, at: datetime) -> captures.Record:
    return captures.Record(
        record.topic, 0, offset, int(at.timestamp() * 1000), (), record.key_bytes, record.value_bytes
    )


def statuses(pipeline: CdcPipeline) -> list[tuple[object, ...]]:
    return pipeline.rows("gold.orders", "id", "status")


def test_a_restore_that_is_noted_late_is_mended_by_a_rebuild(spark: SparkSession, tmp_path: Path) -> None:
    conf = {"connectors/shop.yml": "topic_prefix: shopserver\n", "tables/shop/orders.yml": TABLE}
    pipeline = CdcPipeline(tmp_path, spark, conf)
    before, after = RESTORED - timedelta(hours=1), RESTORED + timedelta(hours=1)
    pipeline.deliver(
        [
            recorded(orders.create(id=1, status="old").at("ff:0:1"), 0, before),
            recorded(orders.update(id=1, status="new").at("1:0:1"), 1, after),
        ]
    )
    pipeline.update()
    assert statuses(pipeline) == [(1, "old")]
    noted = conf | {"connectors/shop.yml": "topic_prefix: shopserver\nrestored_at: [2026-05-01T12:00:00Z]\n"}
    pipeline.configure(noted)
    with pytest.raises(UpdateFailed, match=r"restored at 2026-05-01T12:00:00Z: the next incarnation \(new\)"):
        pipeline.update()
    assert statuses(pipeline) == [(1, "old")]
    pipeline.pipeline().run(rebuild=["orders"])
    assert statuses(pipeline) == [(1, "new")]
    pipeline.deliver([recorded(orders.update(id=1, status="newest").at("2:0:1"), 2, after)])
    pipeline.update()
    assert statuses(pipeline) == [(1, "newest")]


def test_a_restore_that_is_noted_in_time_needs_no_rebuild(spark: SparkSession, tmp_path: Path) -> None:
    conf = {"connectors/shop.yml": "topic_prefix: shopserver\n", "tables/shop/orders.yml": TABLE}
    pipeline = CdcPipeline(tmp_path, spark, conf)
    pipeline.deliver([recorded(orders.create(id=1, status="old").at("ff:0:1"), 0, RESTORED - timedelta(seconds=1))])
    pipeline.update()
    pipeline.configure(
        conf | {"connectors/shop.yml": "topic_prefix: shopserver\nrestored_at: [2026-05-01T12:00:00Z]\n"}
    )
    pipeline.deliver([recorded(orders.update(id=1, status="new").at("1:0:1"), 1, RESTORED)])
    pipeline.update()
    assert statuses(pipeline) == [(1, "new")]
