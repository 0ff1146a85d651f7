"""Filter, computed columns, soft deletes and expectations with an action, by the deployed pipeline.

ROW_RULES_SEED repeats a random history and its division into updates; a failure shows it.
"""

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

import pytest
from pyspark.sql import SparkSession
from tests.support.cdc_pipeline import CdcPipeline
from tests.support.records import Record, Topic

from dlt_local import UpdateFailed

SEED = int(os.environ.get("ROW_RULES_SEED") or time.time_ns() % 1_000_000_007)
_START = 1_772_366_400_000
_RULES = """\
key: [id]
columns: {id: int, total: int, region: nvarchar(2)}
filter: region = 'EU' AND half < 40
computed: {half: total div 2}
deletes: soft
"""
CONF = {
    "tables/shop/orders.yml": f"table: shop.dbo.orders\n{_RULES}",
    "tables/shop/stock.yml": f"table: shop.dbo.stock\nhistory: false\n{_RULES}",
}


@dataclass(frozen=True)
class Change:
    """One change of a key in the source."""

    number: int
    """Its position in the log, and its commit time in seconds."""
    op: str
    key: int
    total: int = 0
    region: str | None = None
    with_before: bool = True

    def record(self, topic: Topic) -> Record:
        """The change as the connector writes it."""
        row = {"id": self.key, "total": self.total, "region": self.region}
        made = {"c": topic.create, "u": topic.update, "d": topic.delete}[self.op](**row)
        made = made.at(f"30:{self.number:x}:1", ms=_START + 1000 * self.number)
        return made if self.with_before else made.with_value(before=None)


def histories(random: Random) -> Iterator[Change]:
    """The life of some keys, one change at a position; the topic may begin in the middle of it."""
    lives = {key: random.random() < 0.3 for key in range(12)}
    for number in range(1, 120):
        key = random.choice(list(lives))
        total, region = random.choice((2, 3, 10, 90)), random.choice(("EU", "EU", "EU", "US", None))
        op = random.choice("uuud") if lives[key] else "c"
        lives[key] = op != "d"
        yield Change(number, op, key, total, region, with_before=random.random() < 0.5)
    # One row at least ends as deleted.
    yield Change(120, "u" if lives[0] else "c", 0, 2, "EU")
    yield Change(121, "d", 0, 2, "EU", with_before=False)


def versions(changes: list[Change]) -> list[tuple[Any, ...]]:
    """The history that gold should have: key, total, region, half, deleted at, valid from and to, version."""
    found: list[list[Any]] = []
    for change in changes:
        mine = [version for version in found if version[0] == change.key]
        last = mine[-1] if mine and mine[-1][6] is None else None
        half = change.total // 2
        if change.op == "d":
            row = [*last[:4], change.number] if last else None
        else:
            is_inside = change.region == "EU" and half < 40
            row = [change.key, change.total, change.region, half, None] if is_inside else None
        if last and row == last[:5]:
            continue
        if last:
            last[6] = change.number
        if row:
            found.append([*row, change.number, None, len(mine) + 1])
    return sorted(map(tuple, found), key=repr)


@pytest.fixture(scope="module")
def changes() -> list[Change]:
    return list(histories(Random(SEED)))


@pytest.fixture(scope="module")
def pipeline(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory, changes: list[Change]) -> CdcPipeline:
    """After two updates; each change is in either of them, some are in both, in any order."""
    pipeline, random = CdcPipeline(tmp_path_factory.mktemp("rules"), spark, CONF), Random(SEED)
    arrived = [*changes, *random.sample(changes, 20)]
    random.shuffle(arrived)
    for batch in (arrived[:60], arrived[60:]):
        for name in ("orders", "stock"):
            topic = Topic(f"shopserver.shop.dbo.{name}")
            pipeline.deliver(change.record(topic) for change in batch)
        pipeline.update()
    return pipeline


def _seconds(column: str) -> str:
    return f"cast((unix_millis({column}) - {_START}) div 1000 AS int)"


_ROW = ("id", "total", "region", "cast(half AS int)", _seconds("deleted_at"))


def test_history_is_the_models_whatever_the_batches(pipeline: CdcPipeline, changes: list[Change]) -> None:
    columns = (*_ROW, _seconds("valid_from"), _seconds("valid_to"), "version")
    assert pipeline.rows("gold.orders_history", *columns) == versions(changes), f"ROW_RULES_SEED={SEED}"


def test_rows_are_the_last_versions_with_and_without_history(pipeline: CdcPipeline, changes: list[Change]) -> None:
    expected = [version[:5] for version in versions(changes) if version[6] is None]
    assert any(row[4] is not None for row in expected)
    for name in ("orders", "stock"):
        assert pipeline.rows(f"gold.{name}", *_ROW) == expected, f"ROW_RULES_SEED={SEED}: {name}"
    assert "_deleted_at" in pipeline.pipeline().table("silver.stock").columns


def test_all_changes_are_kept(pipeline: CdcPipeline, changes: list[Change]) -> None:
    assert pipeline.rows("silver.orders_changes", "count(*)", "count(distinct _commit_lsn)") == [(141, 121)]


ACTIONS = """
    table: shop.dbo.orders
    key: [id]
    columns: {id: int, total: int, region: nvarchar(2)}
    filter: region = 'EU'
    expectations:
      small: {condition: total < 50, action: quarantine}
      positive: {condition: total > 0, action: drop}
      known: {condition: total <> 13, action: fail}
      even: {condition: total % 2 = 0, action: warn}
"""
orders = Topic("shopserver.shop.dbo.orders")


def test_each_action_does_what_it_says(spark: SparkSession, tmp_path: Any) -> None:
    pipeline = CdcPipeline(tmp_path, spark, {"tables/shop/orders.yml": ACTIONS})
    by_id = [(1, 90), (2, -1), (3, 5), (4, 10)]
    pipeline.deliver(orders.create(id=number, total=10, region="EU").at(f"30:{number}:1") for number, _ in by_id)
    pipeline.deliver(orders.update(id=number, total=total, region="EU").at(f"31:{number}:1") for number, total in by_id)
    # A change that leaves the filter, and a delete, are not judged: their rows go.
    pipeline.deliver([orders.create(id=5, total=2, region="EU").at("30:5:1")])
    pipeline.deliver([orders.update(id=5, total=99, region="US").at("31:5:1"), orders.delete(id=4).at("31:6:1")])
    pipeline.update()
    assert pipeline.rows("gold.orders", "id", "total") == [(1, 10), (2, 10), (3, 5)]
    assert pipeline.rows("silver.orders_rejects", "reason", "message") == [
        ("QUARANTINED", "expectation small: `total < 50` is not met")
    ]
    assert pipeline.rows("silver.orders_changes", "count(*)") == [(9,)]

    # Without the quarantine its rejects become changes by a replay, at their place in the history.
    pipeline.configure({"tables/shop/orders.yml": ACTIONS.replace("quarantine", "warn")})
    pipeline.update(replay_rejects="without_quarantine")
    assert pipeline.rows("gold.orders", "id", "total") == [(1, 90), (2, 10), (3, 5)]

    pipeline.deliver([orders.update(id=3, total=13, region="EU").at("32:3:1")])
    with pytest.raises(UpdateFailed, match="expectation `known`"):
        pipeline.update(replay_rejects="without_quarantine")
    assert pipeline.rows("gold.orders", "id", "total") == [(1, 90), (2, 10), (3, 5)]
    pipeline.configure({"tables/shop/orders.yml": ACTIONS.replace("quarantine", "warn").replace("fail", "warn")})
    pipeline.update(replay_rejects="without_quarantine")
    assert pipeline.rows("gold.orders", "id", "total") == [(1, 90), (2, 10), (3, 13)]
