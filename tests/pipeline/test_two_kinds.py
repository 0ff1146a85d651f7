"""Two connectors of different kinds in one pipeline: the small shops of MariaDB and PostgreSQL, side by side.

The kind of one is found from its records (`kind: auto`), in the second update that of both.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import pytest
from demo import shop
from pyspark.sql import SparkSession
from tests.pipeline.test_small_shops import DAMAGED, Shown, captures, expected, shown
from tests.support.cdc_pipeline import CdcPipeline
from tools.captures import Record, read
from tools.small_shops.scenario import KEYS, versions

TABLE, KEY = "orders", KEYS["orders"]
AGAIN = 6
"""The last records of the second round, which arrive again before the third."""
SETTINGS = {"connector": "", "findings": "true"}


@dataclass(frozen=True)
class Side:
    """One connector of the pipeline: its name is its topic prefix, and its table is called after it."""

    name: str
    kind: str
    left_out: str = ""
    """A column that its spec lacks."""

    @property
    def table(self) -> str:
        """The name of the table's datasets: both connectors have a table `orders`."""
        return f"{self.name}_{TABLE}"

    def conf(self, kind: str) -> Mapping[str, str]:
        """Its files in the conf folder, with this as its kind."""
        spec = (shop.SHOPS[self.kind].conf / "tables" / shop.CONNECTOR / f"{TABLE}.yml").read_text(encoding="utf-8")
        lines = [line for line in spec.splitlines() if not (self.left_out and line.strip().startswith(self.left_out))]
        return {
            f"connectors/{self.name}.yml": f"topic_prefix: {self.name}\nkind: {kind}\n",
            f"tables/{self.name}/{TABLE}.yml": "\n".join([f"name: {self.table}", *lines]),
        }

    def rounds(self) -> tuple[list[Record], list[Record]]:
        """The records of its first and its second update, numbered as in a topic."""
        snapshot, second, third, damaged = ([*map(self._own, read(each))] for each in captures(self.kind))
        first = [each for each in [*snapshot, *second] if each.topic.endswith(f".{TABLE}")]
        rest = [each for each in [*third, *damaged] if each.topic.endswith(f".{TABLE}")]
        placed = [replace(each, offset=offset) for offset, each in enumerate([*first, *first[-AGAIN:], *rest])]
        return placed[: len(first)], placed[len(first) :]

    def _own(self, record: Record) -> Record:
        """The record as of a connector with this prefix."""
        old, new = (f'"name":"{name}"'.encode() for name in ("shopserver", self.name))
        value = record.value and record.value.replace(old, new)
        return replace(record, topic=record.topic.replace("shopserver", self.name), value=value)


TILL, WEB = Side("till", "mariadb"), Side("web", "postgresql", left_out="wishes")
SIDES = (TILL, WEB)


@pytest.fixture(scope="module")
def both(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> CdcPipeline:
    """The pipeline of both connectors after two updates."""
    pipeline = CdcPipeline(tmp_path_factory.mktemp("both"), spark, {**TILL.conf(TILL.kind), **WEB.conf("auto")})
    for number in range(2):
        for side in SIDES:
            pipeline.deliver(side.rounds()[number])
        pipeline.update(**SETTINGS)
        pipeline.configure({**TILL.conf("auto"), **WEB.conf("auto")})
    return pipeline


def history() -> Iterator[tuple[Any, ...]]:
    """Key, number and values of each version, and whether it is current: what the scenario makes of the orders."""
    states: dict[int, list[Shown]] = {}
    for row in versions(TABLE):
        states.setdefault(row[KEY], []).append(shown(row, TABLE))
    # Six updates are the last of this order's, and the first five of their records are damaged.
    del states[int(DAMAGED)][-6:-1]
    for key, of_row in states.items():
        for number, state in enumerate(of_row, 1):
            yield key, number, state, key in expected(TABLE) and number == len(of_row)


@pytest.mark.parametrize("side", SIDES, ids=lambda side: side.kind)
def test_rows_are_those_of_each_database(both: CdcPipeline, side: Side) -> None:
    found = both.pipeline(**SETTINGS).table(f"gold.{side.table}").collect()
    assert {row[KEY]: shown(row.asDict(), TABLE) for row in found} == expected(TABLE)
    assert len(found) == len(expected(TABLE))


@pytest.mark.parametrize("side", SIDES, ids=lambda side: side.kind)
def test_history_has_each_version_once(both: CdcPipeline, side: Side) -> None:
    rows = both.pipeline(**SETTINGS).table(f"gold.{side.table}_history").collect()
    found = [(row[KEY], row.version, shown(row.asDict(), TABLE), row.is_current) for row in rows]
    assert sorted(found) == sorted(history())
