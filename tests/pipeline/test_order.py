"""Histories in which the log's order is not the server's, and connectors that stop in mid-transaction, end exactly."""

from collections.abc import Iterator
from itertools import groupby, pairwise
from pathlib import Path
from random import Random
from typing import Any

import pytest
from click.testing import CliRunner
from pyspark.sql import SparkSession
from tests.support.cdc_pipeline import CdcPipeline
from tests.support.records import Record, Topic

from cdc.__main__ import cdc
from dlt_local import LocalPipeline, UpdateFailed
from dlt_local.observability.progress import Silent

TABLE = """
    table: shop.dbo.orders
    key: [id]
    columns: {id: int, note: nvarchar(20)}
"""
orders = Topic("shopserver.shop.dbo.orders")
Change = tuple[int, str | None]
"""A key and its new note; None deletes the row."""


class Recorded(Silent):
    """Keeps the notices of an update."""

    def __init__(self) -> None:
        self.notices: list[str] = []

    def notice(self, text: str) -> None:
        self.notices.append(text)


def transactions(random: Random, count: int) -> list[list[Change]]:
    """Transactions of up to eight changes of five rows, as the server makes them."""
    exists: set[int] = set()
    made = []
    for transaction in range(count):
        changes: list[Change] = []
        for number in range(random.randint(1, 8)):
            key = random.randrange(5)
            deletes = key in exists and random.random() < 0.25
            exists = exists - {key} if deletes else exists | {key}
            changes.append((key, None if deletes else f"{transaction}.{number}"))
        made.append(changes)
    return made


def emitted(random: Random, number: int, changes: list[Change]) -> Iterator[Record]:
    """The records of one transaction: LSNs in any order; stopped, killed or neither in its middle."""
    lsns = random.sample(range(1, 100), len(changes))
    indexes = list(range(len(changes)))
    # What is emitted twice: from one index to another, both inclusive.
    start, end = sorted(random.choices(indexes, k=2))
    fate = random.choice(("no restart", "stopped", "killed"))
    order = indexes if fate == "no restart" else [*indexes[: end + 1], *indexes[start:]]
    for count, index in enumerate(order, 1):
        key, note = changes[index]
        row = orders.delete(id=key) if note is None else orders.update(id=key, note=note)
        # A connector that was killed counts again from where it had stored its position.
        total_order = index + 1 if fate == "killed" else count
        placed = row.at(f"{number + 16:x}:1:1", f"{number + 16:x}:{lsns[index]:x}:1", serial=1)
        yield placed.with_value(transaction={"id": str(number), "total_order": total_order})


def versions(made: list[list[Change]]) -> list[tuple[int, int, str, bool]]:
    """Key, number, note and whether it is current, of each version."""
    found = []
    changes = sorted((change for transaction in made for change in transaction), key=lambda change: change[0])
    for key, of_key in groupby(changes, key=lambda change: change[0]):
        notes = [note for _, note in of_key]
        upserts = [index for index, note in enumerate(notes) if note is not None]
        found += [
            (key, number, str(notes[index]), index == len(notes) - 1) for number, index in enumerate(upserts, start=1)
        ]
    return found


def history(pipeline: CdcPipeline) -> list[tuple[Any, ...]]:
    return sorted(pipeline.rows("gold.orders_history", "id", "version", "note", "is_current"))


@pytest.mark.parametrize("seed", [1])
def test_inversions_and_restarts_end_with_the_rows_and_versions_of_the_model(
    spark: SparkSession, tmp_path: Path, seed: int
) -> None:
    random = Random(seed)
    made = transactions(random, 60)
    records = [record for number, changes in enumerate(made) for record in emitted(random, number, changes)]
    cuts = [0, *sorted(random.sample(range(1, len(records)), 2)), len(records)]
    batches = [records[start:end] for start, end in pairwise(cuts)]
    pipeline = CdcPipeline(tmp_path, spark, {"tables/shop/orders.yml": TABLE})
    for batch in batches[:2]:
        pipeline.deliver(batch)
        pipeline.update()
    repaired = pipeline.pipeline(least_counts="true")
    repaired.run(full_refresh=["silver.orders"])
    repaired.run()
    # While the setting is on, a redelivery in a later update changes nothing either.
    pipeline.deliver(batches[2])
    pipeline.update(least_counts="true")
    expected = versions(made)
    assert history(pipeline) == expected
    # Without it the rows are right, and only versions repeat.
    plain = CdcPipeline(tmp_path / "plain", spark, {"tables/shop/orders.yml": TABLE})
    for batch in batches:
        plain.deliver(batch)
        plain.update(findings="true")
    assert plain.rows("gold.orders", "id", "note") == [(key, note) for key, _, note, is_last in expected if is_last]
    assert len(history(plain)) > len(expected)
    assert "renumbered" in [finding for (finding,) in plain.rows("gold.shop_findings", "finding", findings="true")]


@pytest.fixture(scope="module")
def accounted(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> tuple[CdcPipeline, Recorded, str]:
    """A storage built with `lsn`, what its first update said, and the error of one that allows no rejects."""
    folder = tmp_path_factory.mktemp("accounted")
    by_lsn = {"connectors/shop.yml": "{topic_prefix: shopserver, within_transaction: lsn}"}
    pipeline = CdcPipeline(folder, spark, {"tables/shop/orders.yml": TABLE, **by_lsn})
    pipeline.deliver(
        [
            orders.create(id=1, note="first").at("30:10:5", "30:10:4"),
            orders.update(id=1, note="second", added=1).at("30:10:5", "30:10:3"),
            orders.tombstone(id=2),
        ]
    )
    first: LocalPipeline = pipeline.pipeline()
    first.progress = recorded = Recorded()
    first.run(fail_on_rejects=0)
    pipeline.deliver([orders.create(id="one"), orders.create(id=3).with_text("{"), orders.create(id=4, note="n")])
    with pytest.raises(UpdateFailed) as failed:
        pipeline.pipeline().run(fail_on_rejects=1)
    return pipeline, recorded, str(failed.value)


def test_an_update_says_what_became_of_each_record(accounted: tuple[CdcPipeline, Recorded, str]) -> None:
    pipeline, recorded, _ = accounted
    compare = "; compare: python -m cdc scaffold --connector shop --capture <folder> --diff"
    first = "first shopserver.shop.dbo.orders[0]"
    said = [
        "silver.orders_decoded: 3 new rows = 2 change + 1 ignored (tombstone 1)",
        f"silver.orders_decoded: column added: added (1 new row, {first}@1){compare}",
        "silver.orders_changes: 1 new row arrived out of order",
        "silver.orders_changes: 1 new row does not meet `no field unknown to the spec`",
    ]
    assert sorted(recorded.notices) == sorted(said)
    events = pipeline.pipeline().event_log().where("event_type = 'row_counts'").collect()
    assert [event.message for event in events] == [
        *said[:3],
        "silver.orders_decoded: 3 new rows = 1 change + 2 reject (BROKEN_JSON 1, WRONG_TYPE 1)",
        "silver.orders_decoded: column gone: note (1 new row, "
        f"{first}@3), other type: id (1 new row, {first}@3){compare}",
    ]


def test_more_rejects_than_allowed_fail_an_update_whose_tables_are_complete(
    accounted: tuple[CdcPipeline, Recorded, str],
) -> None:
    pipeline, _, message = accounted
    assert message == (
        "TOO_MANY_REJECTS\n"
        "  this update added 2 rejects, and --fail-on-rejects allows 1:\n"
        "  silver.orders_decoded: 3 new rows = 1 change + 2 reject (BROKEN_JSON 1, WRONG_TYPE 1)\n"
        "  the tables have all other rows, and the next update counts its own rejects only\n"
        "  fix: correct what the reasons say, or allow this many with --fail-on-rejects=2"
    )
    assert pipeline.rows("gold.orders", "id", "note") == [(1, "first"), (4, "n")]
    # The way out, for the next two.
    pipeline.deliver([orders.create(id="two"), orders.create(id="three")])
    assert pipeline.pipeline().run(fail_on_rejects=2).state == "COMPLETED"


def test_a_storage_built_by_lsn_keeps_that_order_or_is_rebuilt(accounted: tuple[CdcPipeline, Recorded, str]) -> None:
    pipeline, _, _ = accounted
    pipeline.configure({"connectors/shop.yml": "topic_prefix: shopserver\n"})
    counted = {"id": "t", "total_order": 1}
    later = orders.update(id=1, note="third").at("31:10:5").with_value(transaction=counted)
    pipeline.deliver([later])
    conf, storage = (str(pipeline.folder / name) for name in ("conf", "storage"))
    planned = CliRunner().invoke(cdc, ["plan", conf, "--storage", storage])
    assert planned.exit_code == 2
    with pytest.raises(UpdateFailed, match="ROW_DEFINITION_CHANGED  ") as refused:
        pipeline.update()
    for said in (planned.output, str(refused.value)):
        assert "    order within a transaction: lsn -> auto\n" in said
        assert "--rebuild " in said
    assert pipeline.rows("gold.orders", "id", "note") == [(1, "first"), (4, "n")]
    pipeline.pipeline().run(rebuild=["orders"])
    assert pipeline.rows("gold.orders", "id", "note") == [(1, "third"), (4, "n")]
