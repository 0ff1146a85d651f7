"""A storage folder written by an earlier version of the engine opens, and updates continue in it."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.support.earlier_version import EVENTS, SNAPSHOTS, EarlierPipeline, event, unpack

# Maintenance depends on the time since the storage was written.
NO_MAINTENANCE = {"pipelines.autoOptimize.managed": "false"}
NEW_EVENTS = (
    event("upsert", 2, 105, "too late", 22),
    event("upsert", 4, 75, "dan", 41),
    event("upsert", 5, 90, "eve", 50),
    event("upsert", 5, 119, "eva"),
    event("delete", 1, 130),
    event("upsert", 5, 140, None, 52),
    event("upsert", 6, 150, "fay", 60),
)
"""Late below a delete, late below a truncate, a duplicate, late below an update, and three in order."""
NEW_SNAPSHOT = ({"id": 2, "name": "bob"}, {"id": 3, "name": "carl"})
TABLES = ("events", "changes", "ledger", "current", "patched", "versions", "snapshot_versions", "named")


def contents(storage: Path) -> dict[str, bytes]:
    """File -> content, of all that an idle update has no reason to write."""
    system = storage / "system"
    written_always = (system / "event_log", system / "report", system / "lock")
    return {
        str(file.relative_to(storage)): file.read_bytes()
        for file in storage.rglob("*")
        if file.is_file() and not any(file.is_relative_to(path) for path in written_always)
    }


@pytest.fixture(scope="module")
def earlier(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> EarlierPipeline:
    return EarlierPipeline(unpack(tmp_path_factory.mktemp("unpacked")), spark, **NO_MAINTENANCE)


def test_an_update_without_new_input_is_idle(earlier: EarlierPipeline) -> None:
    before, rows = contents(earlier.folder / "storage"), earlier.table("named")
    update = earlier.pipeline.run()
    # The view's fingerprint was not exact, so the view is computed again, once.
    assert {each.name: each.state for each in update.datasets} == {
        f"default.{name}": "COMPLETED" if name == "named" else "IDLE" for name in TABLES
    }
    # There would be a notice of each query whose fingerprint has changed.
    assert earlier.pipeline.event_log().where("level <> 'INFO'").collect() == []
    after = contents(earlier.folder / "storage")
    changed = {name for name in {*before, *after} if before.get(name) != after.get(name)}
    # The ledger's query has no fingerprint, so its flows run each time; what is noted of them has this version's form.
    assert {name for name in changed if not name.startswith("tables/default/named/")} == {
        "system/progress/default.named.json",
        "system/progress/default.ledger.json",
    }
    assert earlier.table("named") == rows
    assert {each.state for each in earlier.pipeline.run().datasets} == {"IDLE"}
    assert contents(earlier.folder / "storage") == after


def test_new_input_gives_the_tables_of_a_storage_that_this_version_made(
    earlier: EarlierPipeline, spark: SparkSession, tmp_path: Path
) -> None:
    earlier.deliver("events", 3, NEW_EVENTS)
    earlier.deliver("snapshots", 3, NEW_SNAPSHOT)
    earlier.pipeline.run()
    fresh = EarlierPipeline(tmp_path, spark, **NO_MAINTENANCE)
    for number, (events, snapshot) in enumerate(
        zip((*EVENTS, NEW_EVENTS), (*SNAPSHOTS, NEW_SNAPSHOT), strict=True), start=1
    ):
        fresh.deliver("events", number, events)
        fresh.deliver("snapshots", number, snapshot)
    fresh.pipeline.run()
    assert {name: earlier.table(name) for name in TABLES} == {name: fresh.table(name) for name in TABLES}
    assert earlier.table("current") == [(5, None, 52), (6, "fay", 60)]
    assert earlier.table("patched") == [(4, "dan", 41), (5, "eva", 52), (6, "fay", 60)]
    assert earlier.table("named") == earlier.table("patched")
    assert [row for row in earlier.table("versions") if row[0] in (1, 2)] == [
        (1, "ann", 10, 10, 50),
        (1, "ann", 12, 100, 130),
        (1, None, 11, 50, 100),
        (2, "bea", 21, 70, 105),
        (2, "bob", 20, 20, 70),
        (2, "too late", 22, 105, 110),
    ]
    assert earlier.table("snapshot_versions") == [
        (1, "ann", 1, 2),
        (1, "anna", 2, 3),
        (2, "bob", 1, 2),
        (2, "bob", 3, None),
        (3, "carl", 3, None),
        (3, "cid", 2, 3),
    ]
